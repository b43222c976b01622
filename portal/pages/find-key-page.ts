import { html } from 'hono/html';
import { field } from '../../packages/ui/form-fields.ts';
import type { Html } from '../../packages/ui/table.ts';
import { may, type Page, type PageAnswer, serviceRoutes } from '../request/page-routes.ts';
import type { PortalRequest } from '../request/portal-request.ts';
import { attempt, faulty, postForm } from './page-form.ts';

/**
 * Finds a leaked key in the visitor's accounts. The pasted text may be a whole key: it is sent in a
 * form, so that no address or log contains it, and no page shows it.
 */
export const findKeyPages = serviceRoutes({
  'GET /keys': ['home', findPage],
  'POST /keys': ['home', find],
});

const findPath = '/keys';

/** The form, for any page; the pasted text never comes back. */
export function findKeyForm(request: PortalRequest): Html {
  const { fault, text } = request;
  const empty = {
    ...request,
    form: {},
    ...(fault?.field !== 'key' && { fault: { field: '', message: '' } }),
  };
  const key = field(empty, {
    name: 'key',
    label: text.keyOrId,
    hint: text.keyOrIdHint,
    required: true,
  });
  return html`<div class="card"><h2>${text.findKey}</h2>${postForm(request, findPath, key, { label: text.findIt })}</div>`;
}

function findPage(request: PortalRequest): Page {
  return { title: request.text.findKey, body: findKeyForm(request) };
}

async function find(request: PortalRequest): Promise<PageAnswer> {
  const { admin, form, person, text } = request;
  const of = { back: findPath, about: 'key', form: { show: findPage, field: 'key' } } as const;
  const scope = person.operator ? {} : { accounts: await ownAccounts(request) };
  const found = await attempt(request, of, () => admin.keys.find(form.key ?? '', scope));
  // Keys of two accounts share an id once in 200,000,000,000,000 pairs.
  const [key] = found.keys;
  if (!key)
    return faulty(request, { field: 'key', message: text.noKeyFound[found.given] }, findPage);
  return { goTo: `/accounts/${key.account}/keys/${key.keyId}?found=${found.given}` };
}

async function ownAccounts({ admin, people }: PortalRequest): Promise<string[]> {
  const accounts = await admin.members.accountsOf(people);
  return accounts.filter(({ role }) => may(role, 'account.view')).map(({ account }) => account);
}
