import { mkdtemp, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { writeLocalState } from '../../../local/data-folder.ts';
import {
  type AddressService,
  startAddressService,
  testTables,
} from '../../support/address-service.ts';
import { folderForNow } from '../../support/folder-for-now.ts';
import { allAccounts, allPlans } from '../../support/list-all.ts';
import { run } from '../command-line.ts';

type Bench = { service: AddressService; local: string[] };

const folder = folderForNow('bag-adres-backup-');
/** A service with accounts, and the file that its export wrote. */
let from: Bench;
const file = join(folder, 'accounts.jsonl');
/** One for imports, and one that nothing is imported into. */
let to: Bench;
let untouched: Bench;
let key: string;

beforeAll(async () => {
  [from, to, untouched] = [await newService(), await newService(), await newService()];
  const { admin, instance } = from.service;
  await admin.plans.put({ code: 'standard', limits: { day: 100, month: null } });
  await admin.plans.put({ code: 'old', limits: { hour: 5 }, state: 'inactive' });
  await admin.accounts.create({ id: 'acme', plan: 'standard', limits: { day: 10 } });
  await admin.accounts.create({ id: 'spread', plan: 'standard' });
  await admin.accounts.create({ id: 'late', plan: 'old' });
  await admin.accounts.suspend('late');
  ({ key } = await admin.keys.create({ account: 'acme', label: 'webshop “één”' }));
  const nextYear = new Date(`${new Date().getUTCFullYear() + 1}-12-31T00:00:00Z`);
  await admin.keys.create({ account: 'acme', label: 'trial', expires: nextYear });
  const { keyId } = await admin.keys.create({ account: 'acme', label: 'old till' });
  await admin.keys.revoke({ account: 'acme', keyId });
  for (let lookups = 0; lookups < 4; lookups++) {
    expect((await instance.lookUp(key)).status).toBe(200);
  }
  // A window that the account's plan no longer has, and still counts.
  await admin.plans.put({ code: 'hourly', limits: { hour: 9 } });
  await admin.accounts.set({ id: 'acme', plan: 'hourly' });
  await admin.members.add({ account: 'acme', person: 'Jo@example.nl', role: 'admin' });
  expect(await run(['export', file, ...from.local])).toMatchObject({
    exit: 0,
    out: 'Exported 3 plans and 3 accounts with 1 member and 1 day of usage.',
  });
});
afterAll(async () => {
  for (const { service } of [from, to, untouched]) await service.stop();
});

async function newService(): Promise<Bench> {
  const service = await startAddressService();
  const data = await mkdtemp(join(folder, 'data-'));
  await writeLocalState(data, {
    pid: process.pid,
    baseUrl: 'http://127.0.0.1:1',
    endpoint: service.endpoint,
    addressesTable: testTables.addresses,
    accountsTable: testTables.accounts,
    storageFolder: data,
  });
  return { service, local: ['--local', '--data', data] };
}

const changed = async (name: string, change: (text: string) => string) => {
  const other = join(folder, name);
  await writeFile(other, change(await readFile(file, 'utf8')));
  return other;
};

describe('export and import', () => {
  it('create the same plans, accounts, usage, members and keys in another table, and say so in the audit', async () => {
    expect(await run(['import', file, ...to.local])).toMatchObject({
      exit: 0,
      out: 'Imported 3 plans and 3 accounts with 1 member and 1 day of usage; 0 already there.',
    });
    expect(await allAccounts(to.service.admin)).toEqual(await allAccounts(from.service.admin));
    expect(await allPlans(to.service.admin)).toEqual(await allPlans(from.service.admin));
    expect(await to.service.admin.members.accountsOf(['jo@example.nl'])).toEqual([
      { account: 'acme', role: 'admin' },
    ]);
    const [entry] = (await to.service.admin.accounts.audit('acme')).entries;
    expect(entry).toMatchObject({
      action: 'account import',
      outcome: 'done',
      actor: expect.stringMatching(/.@./),
    });
    const again = join(folder, 'again.jsonl');
    await run(['export', again, ...to.local]);
    expect(await readFile(again, 'utf8')).toBe(await readFile(file, 'utf8'));
  });

  it('keep the old keys valid, which continue their counts, also when the file is imported again', async () => {
    const { admin, instance } = to.service;
    const { status, headers } = await instance.lookUp(key);
    expect([status, headers.ratelimit]).toEqual([200, expect.stringMatching(/^"hour";r=8;/)]);
    const sum = async () =>
      (await admin.accounts.usage('acme')).days.reduce((total, { lookups }) => total + lookups, 0);
    expect(await sum()).toBe(5);
    expect((await run(['import', file, ...to.local])).out).toBe(
      'Imported 0 plans and 0 accounts with 0 members and 0 days of usage; 6 already there.',
    );
    expect(await sum()).toBe(5);
    // Back on the plan with the window, all five lookups count.
    const { windows } = await admin.accounts.set({ id: 'acme', plan: 'standard' });
    expect(windows.day).toMatchObject({ limit: 10, used: 5 });
  });
});

describe('export', () => {
  it('contains no key, and is readable by its owner only', async () => {
    const text = await readFile(file, 'utf8');
    expect(text).not.toContain(key);
    expect(text).not.toContain(key.slice(-30));
    expect((await stat(file)).mode & 0o777).toBe(0o600);
  });

  it('never overwrites a file', async () => {
    const { exit, err } = await run(['export', file, ...from.local]);
    expect([exit, err]).toEqual([
      1,
      expect.stringMatching(/accounts\.jsonl exists; name a new file\.$/),
    ]);
  });
});

describe('import', () => {
  it('with --check reports what it would import, and writes nothing', async () => {
    const { out } = await run(['import', file, '--check', ...untouched.local]);
    expect(out).toBe(
      'Would import 3 plans and 3 accounts with 1 member and 1 day of usage; 0 already there.',
    );
    expect(await allPlans(untouched.service.admin)).toEqual([]);
  });

  it.each<[string, (text: string) => string, RegExp]>([
    ['is empty', () => '', /is empty; it is no export/],
    [
      'has no header',
      (text) => text.split('\n').slice(1).join('\n'),
      /line 1 is no line of an export.*first line/,
    ],
    ['was cut off', (text) => text.slice(0, -40), /line 7 is no line of an export/],
    [
      'has a wrong member',
      (text) => text.replace('"acme"', '7'),
      /line 5 is no line of an export.*id/,
    ],
    [
      'has a damaged hash',
      (text) => text.replace(/"hash":"./, '"hash":"'),
      /line 5 is .*"hash" must be in base64/,
    ],
    [
      'has a line of another type',
      (text) => `${text}{"type":"key"}\n`,
      /line 8 is .*"type" must be plan or account/,
    ],
    [
      'has a wrong role',
      (text) => text.replace('"role":"admin"', '"role":"owner"'),
      /line 5 is no line of an export/,
    ],
    [
      'has an unknown member',
      (text) => text.replace('"state":"active","plan"', '"contct":"Jan","state":"active","plan"'),
      /line 5 is .*"contct" is unknown/,
    ],
    [
      'has an account twice',
      (text) => `${text}${text.split('\n')[4]}\n`,
      /Account "acme" is in the backup twice/,
    ],
    [
      'is another version',
      (text) => text.replace('"version":1', '"version":2'),
      /line 1 is no line of an export/,
    ],
  ])('refuses a file that %s, and writes nothing', async (_, change, message) => {
    const { exit, out, err } = await run([
      'import',
      await changed(`${Math.random()}.jsonl`, change),
      ...untouched.local,
    ]);
    expect([exit, out, err]).toEqual([1, '', expect.stringMatching(message)]);
    expect([
      await allPlans(untouched.service.admin),
      await allAccounts(untouched.service.admin),
    ]).toEqual([[], []]);
  });

  it("names the file that it can't read", async () => {
    const { exit, err } = await run(['import', join(folder, 'nothing'), ...from.local]);
    expect([exit, err]).toEqual([1, expect.stringMatching(/Can't read .*nothing: ENOENT/)]);
  });
});
