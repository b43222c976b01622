import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, describe, expect, it } from '@jest/globals';
import { usageRecord } from '../../../core/accounts/usage-record.ts';
import { createAdmin } from '../../../packages/admin/admin.ts';
import { daysLater, periodStart } from '../../../packages/ui/periods.ts';
import { startAddressService, testTables } from '../../support/address-service.ts';
import { chargeAt } from '../../support/charge-at.ts';
import { createTestPortal } from '../../support/portal.ts';
import { fieldIn } from '../../support/portal-pages.ts';

const service = await startAddressService();
await service.admin.plans.put({ code: 'p', limits: { day: null, month: 500 } });
await service.admin.accounts.create({ id: 'keyed', plan: 'p' });
await service.admin.members.add({ account: 'keyed', person: 'viewer@own.nl', role: 'viewer' });
const now = Date.now() / 1000;
const revoked = await chargeAt(service, 'keyed', now, 1, 'old <b>');
const keyId = await chargeAt(service, 'keyed', now, 3, 'webshop');
await service.admin.keys.revoke({ account: 'keyed', keyId: revoked });
const portal = createTestPortal(service);
const member = await portal.signedIn({ subject: 'sub:v', email: 'viewer@own.nl' });
const dutch = await portal.signedIn({ subject: 'sub:v', email: 'viewer@own.nl' }, 'nl');
const stranger = await portal.signedIn({ subject: 'sub:s', email: 'stranger@own.nl' });
afterAll(() => service.stop());

const operator = () =>
  portal.signedIn({ subject: 'sub:o', email: 'olaf@operator.nl', operator: true });

describe('a range without data', () => {
  it.each(['', '.csv', '-by-key.csv'])(
    'is the form again with what is wrong, also at /usage%s',
    async (file) => {
      const yesterday = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10);
      for (const [query, field, message] of [
        ['to=x', 'to', 'Enter two days'],
        ['from=2026-02-30', 'from', 'Enter two days'],
        [`from=${yesterday}&to=2020-01-01`, 'from', 'Enter two days'],
        ['to=2020-12-31', 'from', 'There is nothing before'],
        ['from=2001-01-01&to=2001-01-31', 'from', 'There is nothing before'],
        ['to=2099-01-01', 'from', 'Enter two days'],
      ]) {
        const { status, body } = await member.get(`/accounts/keyed/usage${file}?${query}`);
        expect([query, status]).toEqual([query, 422]);
        expect(body).toMatch(new RegExp(`<a href="#${field}">${message}`));
        expect(body).toContain('action="/accounts/keyed/usage"');
      }
      expect(portal.logged).toEqual([]);
    },
  );
});

describe('the limit in a chart', () => {
  const day = 86_400_000;
  const adminAt = (daysAgo: number) =>
    createAdmin({
      client: service.client,
      table: testTables.accounts,
      actor: 'test',
      now: () => Date.now() - daysAgo * day,
    });
  /** Where the line begins, as a share of the width, and what the legend says of it. */
  async function lineOf(account: string, query = '') {
    const { body } = await (await operator()).get(`/accounts/${account}/usage${query}`);
    const [, from] = /<line class="limit" x1="([\d.]+)%"/.exec(body) ?? [];
    return [from && Number(from), /<li class="limit">([^<]*)</.exec(body)?.[1]] as const;
  }
  const barsFrom = (daysAgo: number) => Number((((29 - daysAgo) / 30) * 100).toFixed(2));

  it('begins on the day since which it is the limit, by a change of the account or of its plan', async () => {
    await adminAt(90).plans.put({ code: 'grows', limits: { day: 5 } });
    await adminAt(80).accounts.create({ id: 'grows', plan: 'grows' });
    await chargeAt(service, 'grows', Date.now() / 1000, 3);
    expect(await lineOf('grows')).toEqual([0, 'Limit per day: 5']);
    await adminAt(12).plans.put({ code: 'grows', limits: { day: 6, month: 900 } });
    expect(await lineOf('grows')).toEqual([
      barsFrom(12),
      expect.stringMatching(/^Limit per day: 6, since \d/),
    ]);
    await adminAt(9).plans.put({ code: 'grows', limits: { day: 6, month: 1_000 } });
    expect((await lineOf('grows'))[0]).toBe(barsFrom(12));
    await adminAt(4).accounts.set({ id: 'grows', limits: { day: 7 } });
    await adminAt(2).plans.put({ code: 'grows', limits: { day: 8, month: 1_000 } });
    expect((await lineOf('grows'))[0]).toBe(barsFrom(4));
    const to = new Date(Date.now() - 5 * day).toISOString().slice(0, 10);
    expect(await lineOf('grows', `?to=${to}`)).toEqual([undefined, undefined]);
  });
});

describe('a chart', () => {
  it('shows the days, weeks and months of the dates in its form, and no others', async () => {
    const from = new Date(Date.now() - 40 * 86_400_000).toISOString().slice(0, 10);
    await createAdmin({
      client: service.client,
      table: testTables.accounts,
      actor: 'test',
      now: () => Date.parse(from),
    }).accounts.create({ id: 'recent', plan: 'p' });
    await chargeAt(service, 'recent', now, 1);
    for (const by of ['day', 'week', 'month'] as const) {
      const { body } = await (await operator()).get(`/accounts/recent/usage?by=${by}`);
      const [first = '', last = ''] = ['from', 'to'].map((name) => fieldIn(body, name));
      const days = (Date.parse(last) - Date.parse(first)) / 86_400_000 + 1;
      const starts = Array.from({ length: days }, (_, i) => periodStart(by, daysLater(first, i)));
      expect([by, body.match(/class="reach"/g)?.length]).toEqual([by, new Set(starts).size]);
    }
  });
});

describe('the usage by key', () => {
  it('has a row for each key that was used, the most used one first, revoked ones too', async () => {
    const { body } = await member.get('/accounts/keyed/usage');
    const table = body.slice(body.indexOf('<caption>By key'));
    expect(table.indexOf('webshop')).toBeLessThan(table.indexOf('old &lt;b&gt;'));
    for (const shown of [keyId, '75%', '25%', 'tag off']) expect(table).toContain(shown);
    expect(table).not.toContain('Belongs to no key');
  });

  it('is a file of the chosen range, by day or month', async () => {
    const today = new Date().toISOString().slice(0, 10);
    for (const [by, period, limit] of [
      ['day', today, ''],
      ['month', today.slice(0, 7), '500'],
    ]) {
      const { body, headers } = await member.get(`/accounts/keyed/usage-by-key.csv?by=${by}`);
      expect(headers.get('content-disposition')).toBe('attachment; filename="keyed-by-key.csv"');
      expect(body.split('\r\n')[1]).toBe(`keyed,p,${keyId},webshop,${period},${limit},3,,,`);
    }
  });

  it('has what was refused in rows without a key, since no key is counted for a refusal', async () => {
    const refused = { [usageRecord.refused('quota')]: 2, [usageRecord.refused('input')]: 1 };
    const today = new Date().toISOString().slice(0, 10);
    const item = usageRecord.sortKey(today);
    await service.client.send(
      new PutCommand({
        TableName: testTables.accounts,
        Item: { account: 'keyed', item, ...refused },
      }),
    );
    const { body } = await member.get('/accounts/keyed/usage-by-key.csv');
    expect(body.trim().split('\r\n').at(-1)).toBe(`keyed,p,,,${today},,0,2,1,0`);
  });

  it('is also a file for Excel, with headings in the language of the page', async () => {
    const { body } = await dutch.get('/accounts/keyed/usage-by-key.csv?for=people');
    const [head, first] = body.split('\r\n');
    expect(head).toMatch(
      /^Account;Abonnement;Sleutel-id;Naam;Dag;Limiet;Zoekopdrachten;Geweigerd: limiet bereikt;/,
    );
    expect(first).toBe(`keyed;p;${keyId};webshop;${new Date().toISOString().slice(0, 10)};;3;;;`);
  });

  it('is for members of the account only', async () => {
    expect((await stranger.get('/accounts/keyed/usage-by-key.csv')).status).toBe(404);
  });
});
