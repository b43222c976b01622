import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, describe, expect, it } from '@jest/globals';
import { usageRecord } from '../../../core/accounts/usage-record.ts';
import { localLoadRunner } from '../../../local/load/load-runner.ts';
import { createAdminStore } from '../../../packages/admin/accounts/admin-store.ts';
import { createAdmin } from '../../../packages/admin/admin.ts';
import { loadsOf } from '../../../packages/admin/load-approvals.ts';
import { testTables } from '../../support/address-service.ts';
import { chargeAt } from '../../support/charge-at.ts';
import { createTestPortal } from '../../support/portal.ts';
import { startPortalPages } from '../../support/portal-pages.ts';
import { sweep } from '../../support/sweep.ts';
import { createWaitingLoad } from '../../support/waiting-load.ts';

const { service, portal, admin, operator, newAccount } = await startPortalPages();
const register = await createWaitingLoad(service.client);
const runner = localLoadRunner({ storage: register.storageFolder, addresses: register.addresses });
afterAll(async () => {
  await register.stop();
  await service.stop();
});

/** The names of the stats of a page, with what they say. */
const statsIn = (html: string) =>
  Object.fromEntries(
    [...html.matchAll(/<dt>([^<]*)<\/dt><dd>(.*?)<\/dd>/gs)].map(([, name, value = '']) => [
      name,
      value.replaceAll(/<[^>]*>/g, '').trim(),
    ]),
  );

describe('the first page of an account', () => {
  it('asks an administrator for the first key, and a viewer to ask for one', async () => {
    const id = await newAccount();
    await service.admin.members.add({ account: id, person: 'v@own.nl', role: 'viewer' });
    const viewer = await portal.signedIn({ subject: 'sub:v', email: 'v@own.nl' });
    const first = await admin.get(`/accounts/${id}`);
    expect(first.body).toContain('Make your first key');
    expect(first.body).toContain(`<form method="post" action="/accounts/${id}/keys">`);
    expect(first.body).toContain('No address was looked up');
    const { body } = await viewer.get(`/accounts/${id}`);
    expect([body.includes('Ask an administrator'), body.includes('name="label"')]).toEqual([
      true,
      false,
    ]);
  });

  it('shows this month and today against their limits, 30 days, and each key with its last use', async () => {
    const id = await newAccount();
    await service.admin.plans.put({ code: 'monthly', limits: { day: 10, month: 1000 } });
    await service.admin.accounts.set({ id, plan: 'monthly' });
    const keyId = await chargeAt(service, id, Date.now() / 1000, 8, 'webshop');
    await service.admin.keys.create({ account: id, label: 'spare' });
    const { body } = await admin.get(`/accounts/${id}`);
    expect(statsIn(body)).toMatchObject({
      'This month': expect.stringMatching(
        /^8 of 1,000992 left; begins again on 1 \w+ \d{4}, 0[12]:00 CES?T$/,
      ),
      Today: expect.stringMatching(/^8 of 1080% used2 left; begins again on /),
    });
    expect(body.match(/class="reach"/g)).toHaveLength(30);
    const table = body.slice(body.indexOf('<caption>Keys'));
    expect(table.indexOf('webshop')).toBeLessThan(table.indexOf('spare'));
    for (const shown of [`/accounts/${id}/keys/${keyId}"`, '>8<', 'never']) {
      expect(table).toContain(shown);
    }
    expect(body).not.toContain('Make your first key');
    await chargeAt(service, id, Date.now() / 1000, 2);
    const reached = (await admin.get(`/accounts/${id}`)).body;
    expect(reached).toMatch(
      /<p class="note bad">The limit per day is reached. Requests are refused until <time/,
    );
  });
});

describe('the overview of an account', () => {
  const day = (ago: number) => new Date(Date.now() - ago * 86_400_000).toISOString().slice(0, 10);
  /** Records what was refused on a day: the counts by their reason or window. */
  const refuse = (account: string, ago: number, counts: Record<string, number>) =>
    service.client.send(
      new PutCommand({
        TableName: testTables.accounts,
        Item: {
          account,
          item: usageRecord.sortKey(day(ago)),
          ...Object.fromEntries(
            Object.entries(counts).map(([name, count]) => [
              usageRecord.refused(name as 'quota'),
              count,
            ]),
          ),
        },
      }),
    );
  const notesIn = (html: string) =>
    [...html.matchAll(/<p class="note[^>]*>(.*?)<\/p>/gs)].map(([, note = '']) =>
      note.replaceAll(/<[^>]*>/g, ''),
    );
  const older = async (id: string) => {
    const now = () => Date.now() - 60 * 86_400_000;
    const early = { client: service.client, table: testTables.accounts, actor: 'test', now };
    await createAdmin(early).accounts.create({ id, plan: 'small' });
  };

  it('says each thing once: no number of the usage stands elsewhere too', async () => {
    const id = await newAccount();
    await chargeAt(service, id, Date.now() / 1000, 7, 'webshop');
    const { body } = await admin.get(`/accounts/${id}`);
    const main = body.slice(body.indexOf('<main'), body.indexOf('<caption>Keys'));
    const shown = main.replaceAll(/<svg.*?<\/svg>/gs, '').replaceAll(/<[^>]*>/g, ' ');
    expect(shown.match(/\b7 +of 1,000/g)).toHaveLength(1);
    expect(shown.match(/\bsmall\b/g)).toHaveLength(1);
    expect(body.match(/<caption>/g)).toEqual(['<caption>']);
  });

  it('has one line for what was refused: by a limit before all else, the last day, with the way to all', async () => {
    await older('refused');
    await refuse('refused', 2, { input: 18 });
    const { body: input } = await operator.get('/accounts/refused');
    expect(notesIn(input)).toEqual([
      expect.stringMatching(/^Refused for invalid input on \d.*: at least 18 requests\. Why/),
    ]);
    await refuse('refused', 9, { quota: 620, minute: 600, hour: 20 });
    await refuse('refused', 12, { quota: 1, day: 1 });
    const { body } = await operator.get('/accounts/refused');
    expect(notesIn(body)).toEqual([
      expect.stringMatching(
        /^Refused by the limit per minute on \d+ \w+ \d{4}: at least 620 requests\. Why/,
      ),
    ]);
    expect(body).toContain('href="/accounts/refused/usage#refusals"');
    expect((await operator.get('/accounts/refused/usage')).body).toContain('id="refusals"');
    await service.admin.accounts.suspend('refused');
    expect(notesIn((await operator.get('/accounts/refused')).body)).toEqual([
      expect.stringMatching(/^This account is suspended/),
    ]);
  });

  it('has this month and today also for a plan that limits neither, and each other limit', async () => {
    await service.admin.plans.put({ code: 'hourly', limits: { hour: 50 } });
    const id = await newAccount();
    await service.admin.accounts.set({ id, plan: 'hourly' });
    await chargeAt(service, id, Date.now() / 1000, 3);
    const stats = statsIn((await admin.get(`/accounts/${id}`)).body);
    expect(stats).toEqual({
      'This month': '3',
      Today: '3',
      'This hour': expect.stringMatching(/^3 of 5047 left; begins again on /),
    });
  });
});

describe('the first page of an operator', () => {
  const store = (actor: string) =>
    createAdminStore(service.client, testTables.accounts, actor, Date.now);
  const loadsAs = async (actor: string) => loadsOf(store(actor), register.storage, runner);
  const olaf = { subject: 'sub:o', email: 'olaf@operator.nl', operator: true };

  it('shows the loads that wait with their objections, the last load, and refused sign-ins', async () => {
    await service.admin.sessions.refuse({ reason: 'test', identity: '-' });
    const person = await createTestPortal(service, { loadsAs }).signedIn(olaf);
    expect((await person.get('/')).location).toBe('/operator/home');
    const { body } = await person.get('/operator/home');
    const stats = statsIn(body);
    expect(stats).toMatchObject({
      'Waiting for approval': '1',
      'Refused sign-ins (24 hours)': '1',
    });
    expect(stats['Last load']).toMatch(/^\d minutes? ago Peildatum 8 Jan 2026$/);
    for (const shown of ['remove many addresses', `/operator/register/${register.waiting}"`]) {
      expect(body).toContain(shown);
    }
  });

  it('lists the accounts that have used much of a limit, and leads to all of them', async () => {
    const id = await newAccount();
    await service.admin.accounts.set({ id, limits: { day: 10 } });
    await chargeAt(service, id, Date.now() / 1000, 9);
    // What is remembered of a while ago is not what another instance reads.
    const { body } = await createTestPortal(service)
      .signedIn(olaf)
      .then((person) => person.get('/operator/home'));
    expect(body).toContain(`<a href="/accounts/${id}">`);
    expect(body).toContain('90% used');
    expect(body).toContain('href="/operator/accounts?only=near"');
  });

  it('does not wait for the count of accounts near a limit: it comes again, and then has it', async () => {
    let go = () => {};
    const counted = new Promise<void>((resolve) => {
      go = resolve;
    });
    const slow = (actor: string) => {
      const of = createAdmin({ client: service.client, table: testTables.accounts, actor });
      const list: typeof of.accounts.list = async (asked) => {
        await counted;
        return of.accounts.list(asked);
      };
      return { ...of, accounts: { ...of.accounts, list } };
    };
    const person = await createTestPortal(service, { adminAs: slow }).signedIn(olaf);
    const { body } = await person.get('/operator/home');
    expect(statsIn(body)['At 80% of a limit or more']).toBe('-');
    expect(body).toContain('data-comes-again');
    go();
    const again = (await person.get('/operator/home')).body;
    expect(statsIn(again)['At 80% of a limit or more']).toMatch(/^\d+$/);
    expect(again).not.toContain('data-comes-again');
  });

  it('counts the loads that wait in the menu of each page, for operators only', async () => {
    const openedBy: string[] = [];
    const counting = (actor: string) => {
      openedBy.push(actor);
      return loadsAs(actor);
    };
    const connected = createTestPortal(service, { loadsAs: counting });
    const member = await connected.signedIn({ subject: 'sub:a', email: 'admin@own.nl' });
    expect((await member.get('/help')).body).not.toContain('tag warn');
    expect(openedBy).toEqual([]);
    const person = await connected.signedIn(olaf, 'nl');
    const tab =
      'aria-label="Adresgegevens 1 update wacht op goedkeuring">Adresgegevens <span class="tag warn">1<';
    for (const path of ['/operator/plans', '/help']) {
      expect((await person.get(path)).body).toContain(tab);
    }
    expect(openedBy).toEqual(['portal']);
  });

  const broken: [how: string, loads: () => Promise<never>][] = [
    ['fails', () => Promise.reject(new Error('no storage'))],
    ['does not answer', () => new Promise(() => {})], // takes five seconds
  ];
  it.each(sweep(broken, 1))(
    'is shown, as every page is, while the storage of the loads %s',
    async (_, broken) => {
      const person = await createTestPortal(service, { loadsAs: broken }).signedIn(olaf);
      const { status, body } = await person.get('/operator/home');
      expect([status, statsIn(body)]).toMatchObject([
        200,
        { Register: 'can not be read right now' },
      ]);
      expect((await person.get('/operator/plans')).status).toBe(200);
    },
  );

  it('has no loads where the loader is not connected', async () => {
    expect(Object.keys(statsIn((await operator.get('/operator/home')).body))).toEqual([
      'At 80% of a limit or more',
      'Refused sign-ins (24 hours)',
    ]);
  });
});
