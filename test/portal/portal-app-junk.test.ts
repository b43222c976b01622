import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { folderStorage } from '../../loader/storage/files.ts';
import { localLoadRunner } from '../../local/load/load-runner.ts';
import { createAdminStore } from '../../packages/admin/accounts/admin-store.ts';
import { loadsOf } from '../../packages/admin/load-approvals.ts';
import { statementsOf } from '../../packages/admin/monthly-statements.ts';
import { isTryPath } from '../../portal/pages/try-page.ts';
import { pageRoutes } from '../../portal/portal-app.ts';
import { testTables } from '../support/address-service.ts';
import { folderForNow } from '../support/folder-for-now.ts';
import { createTestPortal } from '../support/portal.ts';
import { formsIn, type SentForm, startPortalPages } from '../support/portal-pages.ts';
import { sweep } from '../support/sweep.ts';
import { createWaitingLoad } from '../support/waiting-load.ts';

const { service, newAccount } = await startPortalPages();
const register = await createWaitingLoad(service.client);
const folder = folderForNow('statements-');
afterAll(async () => {
  await register.stop();
  await service.stop();
});

const account = await newAccount();
const { keyId } = await service.admin.keys.create({ account, label: 'webshop' });
for (const role of ['viewer', 'finance'] as const) {
  await service.admin.members.add({ account, person: `${role}@own.nl`, role });
}

const store = (actor: string) =>
  createAdminStore(service.client, testTables.accounts, actor, Date.now);
const runner = localLoadRunner({ storage: register.storageFolder, addresses: register.addresses });
const portal = createTestPortal(service, {
  deadlineMilliseconds: { page: 60_000, form: 60_000 }, // a busy machine is no fault of a page
  loadsAs: async (actor) => loadsOf(store(actor), register.storage, runner),
  statements: async () => statementsOf(store('test'), folderStorage(folder)),
});
const visitors = {
  admin: await portal.signedIn({ subject: 'sub:a', email: 'admin@own.nl' }),
  operator: await portal.signedIn({ subject: 'sub:o', email: 'olaf@operator.nl', operator: true }),
  viewer: await portal.signedIn({ subject: 'sub:v', email: 'viewer@own.nl' }),
  finance: await portal.signedIn({ subject: 'sub:f', email: 'finance@own.nl' }),
};
type Visitor = keyof typeof visitors;

/** Every parameter that a page reads of a query, as the source names it. */
const source = ['portal/pages', 'packages/ui'].flatMap((folder) => {
  const path = join(import.meta.dirname, '../..', folder);
  const files = readdirSync(path).filter((file) => file.endsWith('.ts'));
  return files.map((file) => readFileSync(join(path, file), 'utf8'));
});
const parameters = [
  ...new Set(
    source.flatMap((text) =>
      [...text.matchAll(/\bquery\.([a-z]+)|name: '(after|changes)'/g)].map(([, a, b]) => a ?? b),
    ),
  ),
] as string[];

const junk = [
  'x',
  '2026-13-45',
  '9999-99',
  '2026-02-30',
  '99999999999999999999',
  '-1e999',
  '__proto__',
  '\'"><b>',
  '\u0000\ud800',
  'é💥 ',
  'AAAA',
  'x'.repeat(3_000),
];

const paths = pageRoutes.filter(({ method }) => method === 'GET').map(({ path }) => path);
const place: Record<string, string> = {
  account,
  key: keyId,
  plan: 'small',
  load: register.waiting,
  file: '1',
};
const at = (path: string, places = place) =>
  path.replaceAll(/:([a-z]+)/g, (_, name) => places[name] ?? '');

const oneByOne = (Object.keys(visitors) as Visitor[]).flatMap((visitor) =>
  paths.flatMap((path) =>
    parameters.flatMap((name) =>
      junk.map((value) => [visitor, at(path), new URLSearchParams({ [name]: value })] as const),
    ),
  ),
);

describe('a page that is asked for with junk', () => {
  it('reads the parameters that are tried', () => {
    for (const name of [
      'from',
      'to',
      'by',
      'month',
      'after',
      'q',
      'who',
      'proposal',
      'person',
      'changes',
      'page',
    ]) {
      expect(parameters).toContain(name);
    }
  });

  it('says what is wrong, and never that the service is', async () => {
    const wrong: string[] = [];
    // Everything wrong at once, on every page, and then one parameter at a time.
    const all = (Object.keys(visitors) as Visitor[]).flatMap((visitor) =>
      paths.flatMap((path) =>
        ['x', '9999-99'].map(
          (value) =>
            [
              visitor,
              at(path),
              new URLSearchParams(Object.fromEntries(parameters.map((name) => [name, value]))),
            ] as const,
        ),
      ),
    );
    for (const [visitor, path, query] of [...sweep(all, 15), ...sweep(oneByOne, 15, 2500)]) {
      const { status, body } = await visitors[visitor].get(`${path}?${query}`);
      if (status >= 500) wrong.push(`${visitor}: ${path}?${query} is ${status}`);
      if (body.includes(`There is no account ${account}`)) {
        wrong.push(`${visitor}: ${path}?${query} has no account`);
      }
    }
    expect(wrong).toEqual([]);
    expect(portal.logged).toEqual([]);
  });

  it('also in its path', async () => {
    const wrong: string[] = [];
    for (const path of sweep(
      paths.filter((one) => one.includes(':')),
      2,
    )) {
      for (const [, name = ''] of path.matchAll(/:([a-z]+)/g)) {
        for (const value of junk.map(encodeURIComponentLoosely)) {
          const { status } = await visitors.operator.get(at(path, { ...place, [name]: value }));
          if (status >= 500) wrong.push(`${path} with ${value} is ${status}`);
        }
      }
    }
    expect(wrong).toEqual([]);
    expect(portal.logged).toEqual([]);
  });
});

type Sender = 'admin' | 'operator';
type SentByVisitor = SentForm & { visitor: Sender };

/** Every form of every page that its visitor sends, once. */
async function everyForm(): Promise<SentByVisitor[]> {
  const found = new Map<string, SentByVisitor>();
  const see = async (visitor: Sender, path: string) => {
    const { body } = await visitors[visitor].get(path);
    for (const form of formsIn(body)) {
      found.set(`${visitor} ${form.action} ${Object.keys(form.fields)}`, { visitor, ...form });
    }
    return body;
  };
  for (const visitor of ['admin', 'operator'] as const) {
    for (const path of paths) {
      const body = await see(
        visitor,
        at(path) + (path.endsWith('/rotate-keys') ? `?choose-${keyId}=yes` : ''),
      );
      // Pages that need to be told what they are about.
      for (const [, more = ''] of body.matchAll(/href="([^"]+\?(?:proposal|person)=[^"]+)"/g)) {
        await see(visitor, more);
      }
    }
  }
  return [...found.values()];
}

describe('a form', () => {
  const { admin } = service;
  let forms: SentByVisitor[] = [];
  beforeAll(async () => {
    forms = await everyForm();
  });

  /** Somebody else ends sessions: those of the visitors go on. */
  const send = async ({ visitor, action }: SentByVisitor, fields: Record<string, string>) => {
    const isEnd = ['/sign-out', '/sessions'].includes(action);
    const sender = isEnd ? await portal.signedIn({ subject: 'sub:z' }) : visitors[visitor];
    return sender.post(action, fields);
  };
  const stored = async () => [
    await admin.backup.export(),
    (await admin.sessions.list('all')).sessions.filter(({ person }) => person !== 'sub:z').length,
  ];

  it('is on a page for everything that can be sent', () => {
    const sent = forms.map(({ action }) => action);
    const isSent = (path: string) => sent.some((action) => at(path) === action);
    const routes = pageRoutes.filter(({ method }) => method === 'POST').map(({ path }) => path);
    // The form of a change of a plan that was interrupted.
    expect(routes.filter((path) => !isSent(path))).toEqual(['/operator/plans/:plan/change']);
  });

  it('changes nothing without its token, whatever it has', async () => {
    const before = await stored();
    for (const form of forms) {
      for (const token of sweep(
        [`${form.fields.token}x`, '', `${'x'.repeat(43)}.${'x'.repeat(43)}`],
        1,
      )) {
        expect([form.action, (await send(form, { ...form.fields, token })).status]).toEqual([
          form.action,
          400,
        ]);
      }
    }
    expect(await stored()).toEqual(before);
  });

  it('says what is wrong with junk, or without a field, and never that the service is', async () => {
    const wrong: string[] = [];
    const sends = forms.flatMap((form) => {
      const { token: _token, ...fields } = form.fields;
      const names = Object.keys(fields);
      const without = names.map((name) =>
        Object.fromEntries(Object.entries(fields).filter(([one]) => one !== name)),
      );
      const withJunk = junk.flatMap((value) => names.map((name) => ({ ...fields, [name]: value })));
      const onlyJunk = junk.map((value) => Object.fromEntries(names.map((name) => [name, value])));
      return [{}, ...without, ...withJunk, ...onlyJunk].map((values) => [form, values] as const);
    });
    for (const [form, values] of sweep(sends, 20, 2500)) {
      const { status, body } = await send(form, values as Record<string, string>);
      // There is no API at the address of the portal's settings to try a lookup at.
      const isFailure = status >= 500 && !isTryPath(form.action);
      if (isFailure || /\bat .*:\d+:\d+/.test(body)) {
        wrong.push(`${form.visitor}: ${form.action} with ${JSON.stringify(values)} is ${status}`);
      }
    }
    expect(wrong).toEqual([]);
    expect(portal.logged).toEqual([]);
  });
});

/** As a browser writes it; a lone surrogate becomes the replacement character. */
function encodeURIComponentLoosely(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}
