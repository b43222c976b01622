import { html } from 'hono/html';
import { field } from '../../packages/look/form-fields.ts';
import type { Html } from '../../packages/look/table.ts';
import { may, type Page, type PageAnswer, serviceRoutes } from '../visit/page-routes.ts';
import type { Visit } from '../visit/visit.ts';
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
export function findKeyForm(visit: Visit): Html {
  const { fault, text } = visit;
  const empty = {
    ...visit,
    form: {},
    ...(fault?.field !== 'key' && { fault: { field: '', message: '' } }),
  };
  const key = field(empty, {
    name: 'key',
    label: text.keyOrId,
    hint: text.keyOrIdHint,
    required: true,
  });
  return html`<div class="card"><h2>${text.findKey}</h2>${postForm(visit, findPath, key, { label: text.findIt })}</div>`;
}

function findPage(visit: Visit): Page {
  return { title: visit.text.findKey, body: findKeyForm(visit) };
}

async function find(visit: Visit): Promise<PageAnswer> {
  const { admin, form, person, text } = visit;
  const of = { back: findPath, about: 'key', form: { show: findPage, field: 'key' } } as const;
  const scope = person.operator ? {} : { accounts: await ownAccounts(visit) };
  const found = await attempt(visit, of, () => admin.keys.find(form.key ?? '', scope));
  // Keys of two accounts share an id once in 200,000,000,000,000 pairs.
  const [key] = found.keys;
  if (!key) return faulty(visit, { field: 'key', message: text.noKeyFound[found.given] }, findPage);
  return { goTo: `/accounts/${key.account}/keys/${key.keyId}?found=${found.given}` };
}

async function ownAccounts({ admin, people }: Visit): Promise<string[]> {
  const accounts = await admin.members.accountsOf(people);
  return accounts.filter(({ role }) => may(role, 'account.view')).map(({ account }) => account);
}
