import { createHash } from 'node:crypto';
import { afterAll, describe, expect, it } from '@jest/globals';
import { folderStorage } from '../../../loader/storage/files.ts';
import { createAdminStore, getAccess } from '../../../packages/admin/accounts/admin-store.ts';
import { recordUsage } from '../../../packages/admin/accounts/usage.ts';
import { createAdmin } from '../../../packages/admin/admin.ts';
import { statementsOf } from '../../../packages/admin/monthly-statements.ts';
import { startAddressService, testTables } from '../../support/address-service.ts';
import { chargeAt } from '../../support/charge-at.ts';
import { folderForNow } from '../../support/folder-for-now.ts';
import { createTestPortal } from '../../support/portal.ts';

const october = Date.UTC(2026, 9, 10, 12);
const november = Date.UTC(2026, 10, 22, 12);

const service = await startAddressService();
const folder = folderForNow('statements-');
const past = createAdmin({
  client: service.client,
  table: testTables.accounts,
  now: () => october,
});
await past.plans.put({ code: 'standard', limits: { month: null } });
for (const id of ['mine', 'theirs']) {
  await past.accounts.create({ id, plan: 'standard' });
  await past.members.add({ account: id, person: `admin@${id}.nl`, role: 'viewer' });
}
await chargeAt(service, 'mine', october / 1000, 4);
await chargeAt(service, 'theirs', october / 1000, 7);
const store = createAdminStore(service.client, testTables.accounts, 'test', () => november);
const statements = statementsOf(store, folderStorage(folder));
await statements.close('2026-10');
const portal = createTestPortal(service, {
  statements: async () => statements,
  now: () => november,
});
const member = await portal.signedIn({ subject: 'sub:m', email: 'admin@mine.nl' });
const stranger = await portal.signedIn({ subject: 'sub:s', email: 'admin@theirs.nl' });
const operator = await portal.signedIn({
  subject: 'sub:o',
  email: 'olaf@operator.nl',
  operator: true,
});
afterAll(() => service.stop());

describe('the statements of an account', () => {
  it('are listed by month with their state, without what other accounts used', async () => {
    const { status, body } = await member.get('/accounts/mine/statements');
    expect(status).toBe(200);
    expect(body).toContain('/accounts/mine/statements/show?month=2026-10');
    expect(body).toContain('Open');
    expect(body).not.toMatch(/>(11|7)</);
  });

  it('show the days, the sum and the hash of the statement', async () => {
    const { sha256 } = await statements.show({ account: 'mine', month: '2026-10' });
    const { body } = await member.get('/accounts/mine/statements/show?month=2026-10');
    for (const shown of ['10 Oct', '31 Oct', 'standard', '<dd>4</dd>', sha256]) {
      expect(body).toContain(shown);
    }
    expect(body).toMatch(/href="\/accounts\/mine\/statements" aria-current="true"/);
  });

  it('are the same in the files, of which the JSON one verifies', async () => {
    const json = await member.get('/accounts/mine/statement.json?month=2026-10');
    expect(json.headers.get('content-disposition')).toBe(
      'attachment; filename="mine-2026-10.json"',
    );
    const { sha256, ...content } = JSON.parse(json.body);
    expect(createHash('sha256').update(JSON.stringify(content)).digest('hex')).toBe(sha256);
    const csv = await member.get('/accounts/mine/statement.csv?month=2026-10');
    expect(csv.body.split('\n')[1]).toMatch(
      new RegExp(`^mine,standard,2026-10,2026-10-10,2026-10-31,4,${sha256},0,0`),
    );
  });

  it('are not listed for months before the account, and such a month is refused with the first one', async () => {
    const { body } = await member.get('/accounts/mine/statements');
    expect(new Set(body.match(/20\d\d-\d\d/g))).toEqual(new Set(['2026-10']));
    expect(body).not.toContain('September');
    for (const path of ['statements/show', 'statement.csv', 'statement.json']) {
      const answer = await member.get(`/accounts/mine/${path}?month=2026-09`);
      expect([answer.status, answer.body]).toEqual([
        422,
        expect.stringContaining('nothing before October 2026'),
      ]);
    }
    const all = await operator.get('/operator/statements.csv?month=2026-09');
    expect([all.status, all.body]).toEqual([
      422,
      expect.stringContaining('nothing before October 2026'),
    ]);
    const open = await operator.get('/operator/usage.csv?month=2026-09');
    expect([open.status, open.body]).toEqual([
      422,
      expect.stringContaining('nothing before October 2026'),
    ]);
  });

  it.each([
    ['a month that is open', '2026-11'],
    ['a month of the future', '2027-01'],
    ['no month', ''],
    ['what is no month', '2026-13'],
  ])('are refused for %s, with a way back', async (_, month) => {
    for (const path of ['statements/show', 'statement.csv', 'statement.json']) {
      const answer = await member.get(`/accounts/mine/${path}?month=${month}`);
      expect([answer.status, answer.headers.get('content-type')]).toEqual([
        422,
        expect.stringContaining('text/html'),
      ]);
      expect(answer.body).toContain('href="/accounts/mine/statements"');
    }
  });

  it('are shown to members of the account and to operators only', async () => {
    for (const path of [
      'statements',
      'statements/show?month=2026-10',
      'statement.csv?month=2026-10',
      'statement.json?month=2026-10',
    ]) {
      expect((await stranger.get(`/accounts/mine/${path}`)).status).toBe(404);
      expect((await operator.get(`/accounts/mine/${path}`)).status).toBe(200);
    }
  });
});

describe('the statements of all accounts', () => {
  it('are listed with their sums, for operators only', async () => {
    const { body } = await operator.get('/operator/statements');
    expect(body).toContain('/operator/statements.csv?month=2026-10');
    expect(body).toContain('/operator/usage.csv?month=2026-11');
    expect(body).toContain('<div>11</div>');
    for (const path of ['/operator/statements', '/operator/statements.csv?month=2026-10']) {
      expect((await member.get(path)).status).toBe(404);
    }
  });

  it('are one file of a closed month, the same after more lookups were counted and recorded', async () => {
    const path = '/operator/statements.csv?month=2026-10';
    const { body } = await operator.get(path);
    expect(body.split('\n').map((line) => line.split(',').slice(0, 6).join())).toEqual([
      'account,plan,month,from,to,lookups',
      'mine,standard,2026-10,2026-10-10,2026-10-31,4',
      'theirs,standard,2026-10,2026-10-10,2026-10-31,7',
      '',
    ]);
    await chargeAt(service, 'mine', october / 1000, 1);
    const store = createAdminStore(service.client, testTables.accounts, 'test', () => november);
    await recordUsage(store, await getAccess(store, 'mine'), 25);
    expect((await operator.get(path)).body).toBe(body);
  });

  it('are replaced for an open month by its usage, in as many files as the accounts take', async () => {
    const path = '/operator/usage.csv?month=2026-11';
    const whole = await operator.get(path);
    const tools = { statements: async () => statements, now: () => november, accountsPerFile: 1 };
    const other = await createTestPortal(service, tools).signedIn({
      subject: 'sub:o',
      operator: true,
    });
    const { status, body } = await other.get(path);
    const links = [...body.matchAll(/href="(\/operator\/usage\.csv[^"]+)"/g)]
      .map(([, link = '']) => link)
      .filter((link) => !link.includes('people'));
    expect([status, links.length]).toEqual([200, 2]);
    const files = await Promise.all(links.map((link) => other.get(link.replaceAll('&amp;', '&'))));
    const lines = files.flatMap((file) => file.body.trimEnd().split('\r\n').slice(1));
    const [head] = whole.body.split('\r\n');
    expect([head, ...lines, ''].join('\r\n')).toBe(whole.body);
    expect(files.map((file) => file.headers.get('content-disposition'))).toEqual([
      'attachment; filename="usage-2026-11.csv"',
      'attachment; filename="usage-2026-11-after-mine.csv"',
    ]);
    expect((await member.get(path)).status).toBe(404);
  });

  it.each(['x', '2026-13', '2027-01', '2000-01', '2026-11&after=a%20b', ''])(
    'are refused for the month %j, with a way back',
    async (month) => {
      const { status, body } = await operator.get(`/operator/usage.csv?month=${month}`);
      expect([status, body.includes('href="/operator/statements"')]).toEqual([422, true]);
    },
  );

  it('are refused for a month that is not closed', async () => {
    expect((await operator.get('/operator/statements.csv?month=2026-11')).status).toBe(422);
  });
});

describe('a portal without the bucket of statements', () => {
  it('says so, and fails for no one', async () => {
    const portal = createTestPortal(service);
    const customer = await portal.signedIn({ subject: 'sub:m', email: 'admin@mine.nl' });
    expect((await customer.get('/accounts/mine/statements')).body).toContain(
      'not connected to the statements',
    );
    expect((await customer.get('/accounts/mine/statement.csv?month=2026-10')).status).toBe(404);
  });
});
