import { beforeAll, describe, expect, it } from '@jest/globals';
import { type Admin, createAdmin } from '../../../../packages/admin/admin.ts';
import { startAddressService, testTables } from '../../../support/address-service.ts';
import { inSweep } from '../../../support/in-sweep.ts';
import { startForTests } from '../../../support/start-for-tests.ts';
import { storedItems } from '../../../support/stored-items.ts';

const service = startForTests(startAddressService);
let admin: Admin;
let now = Date.parse('2026-11-21T12:00:00Z');

beforeAll(() => {
  admin = createAdmin({
    client: service.client,
    table: testTables.accounts,
    actor: 'portal',
    now: () => now,
  });
});

const idsOf = async (scope: Parameters<Admin['sessions']['list']>[0]) =>
  (await admin.sessions.list(scope)).sessions.map(({ id }) => id);

describe('a session', () => {
  it('holds who signed in, since when, with what, and what their rights rest on', async () => {
    const details = {
      people: ['Jo@Example.nl'],
      name: 'Jo',
      browser: 'Firefox',
      claims: { operator: 'groups=ops' },
    };
    const id = await admin.sessions.start('sub:jo', 60, details);
    const started = '2026-11-21T12:00:00Z';
    expect(await admin.sessions.find(id)).toEqual({
      ...details,
      id,
      person: 'sub:jo',
      people: ['sub:jo', 'jo@example.nl'],
      started,
      confirmed: started,
      seen: started,
      expires: '2026-11-21T12:01:00Z',
    });
    expect(id).toMatch(/^[\w-]{32}$/);
  });

  it('is open until it is ended, for its person only', async () => {
    const id = await admin.sessions.start('sub:1', 60);
    await admin.sessions.end('sub:2', id);
    expect(await admin.sessions.find(id)).toMatchObject({ person: 'sub:1' });
    await admin.sessions.end('sub:1', id);
    expect(await admin.sessions.find(id)).toBe(null);
    expect(await storedItems(service.client, testTables.accounts, 'person#sub:1')).toEqual([]);
  });

  it.each(['', 'x', '#', 'a'.repeat(99), '../../'])('is not found by %j', async (id) => {
    expect(await admin.sessions.find(id)).toBe(null);
  });

  it('shows to the minute when it was last used', async () => {
    const id = await admin.sessions.start('sub:seen', 600);
    const began = now;
    now += 59_000;
    expect((await admin.sessions.find(id))?.seen).toBe(
      new Date(began).toISOString().replace('.000', ''),
    );
    now += 1000;
    await admin.sessions.find(id);
    const [listed] = (await admin.sessions.list({ person: 'sub:seen' })).sessions;
    expect(listed?.seen).toBe(new Date(now).toISOString().replace('.000', ''));
  });

  it('is not made again by a request at the moment of its end', async () => {
    const id = await admin.sessions.start('sub:race', 600);
    now += 61_000;
    await Promise.all([admin.sessions.endAll({ person: 'sub:race' }), admin.sessions.find(id)]);
    expect(await admin.sessions.find(id)).toBe(null);
  });

  it('ends by itself after its time, which DynamoDB is told', async () => {
    const id = await admin.sessions.start('sub:3', 60);
    now += 60_000;
    expect(await admin.sessions.find(id)).toBe(null);
    expect(await idsOf({ person: 'sub:3' })).toEqual([]);
  });

  it('is confirmed by its own person, whose claims it then has, and by nobody else', async () => {
    const id = await admin.sessions.start('sub:c', 3600, {
      people: ['c@x.nl'],
      claims: { operator: 'groups=ops' },
    });
    now += 300_000;
    expect(await admin.sessions.confirm(id, 'sub:other', { people: ['c@x.nl'] })).toBe(false);
    expect(await admin.sessions.confirm(id, 'sub:c', { people: ['d@x.nl'] })).toBe(false);
    expect(await admin.sessions.confirm(id, 'sub:c', { people: ['c@x.nl'] })).toBe(true);
    const session = await admin.sessions.find(id);
    expect([session?.claims, Date.parse(session?.confirmed ?? '')]).toEqual([{}, now]);
    await admin.sessions.end('sub:c', id);
    expect(await admin.sessions.confirm(id, 'sub:c', { people: ['c@x.nl'] })).toBe(false);
    expect(await admin.sessions.find(id)).toBe(null);
  });

  it('ends when the same person starts more than the maximum number of sessions', async () => {
    const ids: string[] = [];
    for (let i = 0; i <= 10; i++) {
      now += 1000;
      ids.push(await admin.sessions.start('sub:4', 600));
    }
    const open = await Promise.all(ids.map(async (id) => (await admin.sessions.find(id)) !== null));
    expect(open).toEqual([false, ...Array(10).fill(true)]);
  });
});

describe('sessions', () => {
  it('are listed and ended by person, by account and all', async () => {
    await admin.plans.put({ code: 'small', limits: { day: 100 } });
    await admin.accounts.create({ id: 'acme', plan: 'small' });
    await admin.members.add({ account: 'acme', person: 'ann@acme.nl', role: 'viewer' });
    const ann = await admin.sessions.start('sub:ann', 600, { people: ['ann@acme.nl'] });
    const bob = [
      await admin.sessions.start('sub:bob', 600),
      await admin.sessions.start('sub:bob', 600),
    ];
    expect(await idsOf({ account: 'acme' })).toEqual([ann]);
    expect(await idsOf({ person: 'ANN@acme.nl' })).toEqual([ann]);
    expect((await idsOf({ person: 'sub:bob' })).toSorted()).toEqual(bob.toSorted());
    expect(await idsOf('all')).toEqual(expect.arrayContaining([ann, ...bob]));

    expect(await admin.sessions.endAll({ person: 'sub:bob' })).toBe(2);
    expect(await admin.sessions.find(bob[0] ?? '')).toBe(null);
    expect(await admin.sessions.endAll({ account: 'acme' })).toBe(1);
    expect(await admin.sessions.find(ann)).toBe(null);
    await expect(admin.sessions.list({ account: 'nobody' })).rejects.toMatchObject({
      code: 'not_found',
    });
    await expect(admin.sessions.list({ person: 'nobody' })).rejects.toMatchObject({
      code: 'invalid',
    });
  });

  inSweep(
    'of everybody are listed by full page, whatever has ended, and ended to the last one',
    async () => {
      const ids: string[] = [];
      for (let i = 0; i < 120; i++) await admin.sessions.start(`sub:ended-${i}`, 60);
      now += 60_000;
      for (let i = 0; i < 120; i++) ids.push(await admin.sessions.start(`sub:page-${i}`, 600));
      const first = await admin.sessions.list('all');
      expect(first.sessions).toHaveLength(100);
      const second = await admin.sessions.list('all', { cursor: first.cursor ?? '' });
      const all = [...first.sessions, ...second.sessions].map(({ id }) => id);
      expect(all).toEqual(expect.arrayContaining(ids));
      expect(await admin.sessions.endAll('all')).toBe(all.length);
      expect(await admin.sessions.list('all')).toEqual({ sessions: [], cursor: null });
      await expect(admin.sessions.list('all', { cursor: '#' })).rejects.toMatchObject({
        code: 'invalid',
      });
    },
  );

  it('are in an audit: who signed in, was refused and was signed out, which is kept for 400 days', async () => {
    now += 1000;
    const id = await admin.sessions.start('sub:audit', 600, { people: ['audit@x.nl'] });
    now += 1000;
    await admin.sessions.refuse({ reason: 'UnusableIdentity', identity: 'x'.repeat(999) });
    now += 1000;
    await admin.sessions.end('sub:audit', id);
    now += 1000;
    await admin.sessions.endAll({ person: 'sub:audit' });
    const who = { person: 'sub:audit', email: 'audit@x.nl' };
    expect(
      (await admin.sessions.audit({ limit: 4 })).entries.map(({ action, detail, actor }) => ({
        action,
        detail,
        actor,
      })),
    ).toEqual([
      { actor: 'portal', action: 'session end-all', detail: { person: 'sub:audit', ended: 0 } },
      { actor: 'portal', action: 'session end', detail: who },
      {
        actor: 'portal',
        action: 'session refuse',
        detail: { reason: 'UnusableIdentity', identity: 'x'.repeat(300) },
      },
      { actor: 'portal', action: 'session start', detail: who },
    ]);
    const items = await storedItems(service.client, testTables.accounts, 'sign-in#');
    expect(items.at(-1)?.expires).toBe(now / 1000 + 400 * 86_400);
  });
});
