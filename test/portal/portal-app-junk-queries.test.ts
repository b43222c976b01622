import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { localLoadRunner } from '../../local/load/load-runner.ts';
import { statementFolder } from '../../local/statement-folder.ts';
import { createAdminStore } from '../../packages/admin/accounts/admin-store.ts';
import { statementsOf } from '../../packages/admin/accounts/monthly-statements.ts';
import { loadsOf } from '../../packages/admin/load-approvals.ts';
import { pageRoutes } from '../../portal/portal-app.ts';
import { testTables } from '../support/address-service.ts';
import { createTestPortal } from '../support/portal.ts';
import { startPortalPages } from '../support/portal-pages.ts';
import { sweep } from '../support/sweep.ts';
import { createWaitingLoad } from '../support/waiting-load.ts';

const { service, newAccount } = await startPortalPages();
const register = await createWaitingLoad(service.client);
const folder = await mkdtemp(join(tmpdir(), 'statements-'));
afterAll(async () => {
  await rm(folder, { recursive: true });
  await register.remove();
  await service.stop();
});

const account = await newAccount();
const { keyId } = await service.admin.keys.create({ account, label: 'webshop' });
for (const role of ['viewer', 'finance'] as const)
  await service.admin.members.add({ account, person: `${role}@own.nl`, role });

const store = (actor: string) => createAdminStore(service.client, testTables.accounts, actor, Date.now);
const runner = localLoadRunner({ storage: register.storageFolder, addresses: register.addresses });
const portal = createTestPortal(service, {
  loadsAs: async (actor) => loadsOf(store(actor), register.storage, runner),
  statements: async () => statementsOf(store('test'), statementFolder(folder)),
});
const visitors = {
  admin: await portal.signedIn({ subject: 'sub:a', email: 'admin@own.nl' }),
  operator: await portal.signedIn({ subject: 'sub:o', email: 'olaf@operator.nl', operator: true }),
  viewer: await portal.signedIn({ subject: 'sub:v', email: 'viewer@own.nl' }),
  finance: await portal.signedIn({ subject: 'sub:f', email: 'finance@own.nl' }),
};
type Visitor = keyof typeof visitors;

/** Every parameter that a page reads of a query, as the source names it. */
const source = ['portal/pages', 'packages/look'].flatMap((folder) => {
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
const place: Record<string, string> = { account, key: keyId, plan: 'small', load: register.waiting, file: '1' };
const at = (path: string, places = place) => path.replaceAll(/:([a-z]+)/g, (_, name) => places[name] ?? '');

const oneByOne = (Object.keys(visitors) as Visitor[]).flatMap((visitor) =>
  paths.flatMap((path) =>
    parameters.flatMap((name) =>
      junk.map((value) => [visitor, at(path), new URLSearchParams({ [name]: value })] as const),
    ),
  ),
);

describe('a page that is asked for with junk', () => {
  it('reads the parameters that are tried', () => {
    for (const name of ['from', 'to', 'by', 'month', 'after', 'q', 'who', 'proposal', 'person', 'changes', 'page'])
      expect(parameters).toContain(name);
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
    for (const [visitor, path, query] of [...sweep(all, 60), ...sweep(oneByOne, 60, 2500)]) {
      const { status, body } = await visitors[visitor].get(`${path}?${query}`);
      if (status >= 500) wrong.push(`${visitor}: ${path}?${query} is ${status}`);
      if (body.includes(`There is no account ${account}`)) wrong.push(`${visitor}: ${path}?${query} has no account`);
    }
    expect(wrong).toEqual([]);
    expect(portal.logged).toEqual([]);
  });

  it('also in its path', async () => {
    const wrong: string[] = [];
    for (const path of sweep(paths, 8))
      for (const [, name = ''] of path.matchAll(/:([a-z]+)/g))
        for (const value of junk.map(encodeURIComponentLoosely)) {
          const { status } = await visitors.operator.get(at(path, { ...place, [name]: value }));
          if (status >= 500) wrong.push(`${path} with ${value} is ${status}`);
        }
    expect(wrong).toEqual([]);
    expect(portal.logged).toEqual([]);
  });
});

/** As a browser writes it; a lone surrogate becomes the replacement character. */
function encodeURIComponentLoosely(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}
