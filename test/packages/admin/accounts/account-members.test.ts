import { beforeAll, describe, expect, it } from '@jest/globals';
import type { Admin } from '../../../../packages/admin/admin.ts';
import { inSweep } from '../../../support/in-sweep.ts';
import { startForTests } from '../../../support/start-for-tests.ts';
import { storedItems } from '../../../support/stored-items.ts';
import { startAdmin } from './admin-bench.ts';

const bench = startForTests(startAdmin);
let admin: Admin;
let accounts = 0;

beforeAll(async () => {
  ({ admin } = bench);
  await admin.plans.put({ code: 'small', limits: { day: 100 } });
});

async function newAccount(): Promise<string> {
  const id = `members-${++accounts}`;
  await admin.accounts.create({ id, plan: 'small' });
  return id;
}

describe('a member of an account', () => {
  it('is found from the account and from the person, however the e-mail address is written', async () => {
    const account = await newAccount();
    await admin.members.add({ account, person: 'Jo@Example.NL', role: 'viewer' });
    expect(await admin.members.list(account)).toEqual([
      { person: 'jo@example.nl', role: 'viewer', added: '2026-08-01T12:30:15Z' },
    ]);
    expect(await admin.members.accountsOf(['JO@example.nl'])).toEqual([
      { account, role: 'viewer' },
    ]);
    expect(await admin.members.roleIn(account, ['jo@example.nl'])).toBe('viewer');
  });

  it('has the highest of the roles of an e-mail address and a subject', async () => {
    const account = await newAccount();
    await admin.members.add({ account, person: 'kim@example.nl', role: 'viewer' });
    await admin.members.add({ account, person: 'sub:Kim-1', role: 'admin' });
    const kim = ['sub:Kim-1', 'kim@example.nl'];
    expect(await admin.members.roleIn(account, kim)).toBe('admin');
    expect(await admin.members.accountsOf(kim)).toEqual([{ account, role: 'admin' }]);
    expect(await admin.members.roleIn(account, ['sub:kim-1'])).toBe(null);
  });

  it('gets another role when added again', async () => {
    const account = await newAccount();
    await admin.members.add({ account, person: 'lee@example.nl', role: 'viewer' });
    await admin.members.add({ account, person: 'lee@example.nl', role: 'admin' });
    expect(await admin.members.list(account)).toMatchObject([
      { person: 'lee@example.nl', role: 'admin' },
    ]);
  });

  it('has no role in another account, nor after the removal', async () => {
    const account = await newAccount();
    const other = await newAccount();
    await admin.members.add({ account, person: 'sam@example.nl', role: 'viewer' });
    expect(await admin.members.roleIn(other, ['sam@example.nl'])).toBe(null);
    await admin.members.remove({ account, person: 'Sam@example.nl' });
    expect(await admin.members.roleIn(account, ['sam@example.nl'])).toBe(null);
    expect(await admin.members.accountsOf(['sam@example.nl'])).toEqual([]);
    expect(await storedItems(bench.client, bench.table, 'person#sam@example.nl')).toEqual([]);
    expect(await admin.members.list(account)).toEqual([]);
  });

  it('is recorded and found the same way after changes at the same time', async () => {
    const account = await newAccount();
    const person = 'busy@example.nl';
    await admin.members.add({ account, person: 'other@example.nl', role: 'admin' });
    const changes = Array.from({ length: 12 }, (_, i) =>
      i % 2 === 0
        ? admin.members.add({ account, person, role: i % 4 === 0 ? 'admin' : 'viewer' })
        : admin.members.remove({ account, person }).catch(() => undefined),
    );
    await Promise.all(changes);
    const role = await admin.members.roleIn(account, [person]);
    expect(await admin.members.accountsOf([person])).toEqual(role ? [{ account, role }] : []);
  });

  it('is in the audit of the account', async () => {
    const account = await newAccount();
    await admin.members.add({ account, person: 'ann@example.nl', role: 'viewer' });
    await admin.members.remove({ account, person: 'ann@example.nl' });
    const entries = (await admin.accounts.audit(account)).entries;
    const members = entries.filter(({ action }) => action.startsWith('member'));
    expect(members.map(({ action, detail, outcome }) => ({ action, detail, outcome }))).toEqual(
      expect.arrayContaining([
        {
          action: 'member add',
          detail: { person: 'ann@example.nl', role: 'viewer' },
          outcome: 'done',
        },
        { action: 'member remove', detail: { person: 'ann@example.nl' }, outcome: 'done' },
      ]),
    );
  });

  inSweep(
    'is one of at most 50, also when twelve are added at once to 45, and may then get another role',
    async () => {
      const account = await newAccount();
      const add = (name: string) =>
        admin.members.add({ account, person: `${name}@x.nl`, role: 'viewer' });
      for (let i = 0; i < 45; i++) await add(`first${i}`);
      const added = await Promise.allSettled(Array.from({ length: 12 }, (_, i) => add(`p${i}`)));
      const codes = added.map((outcome) =>
        outcome.status === 'fulfilled' ? 'added' : outcome.reason.code,
      );
      expect(codes.toSorted()).toEqual([
        ...Array(5).fill('added'),
        ...Array(7).fill('too_many_members'),
      ]);
      expect(await admin.members.list(account)).toHaveLength(50);
      await expect(add('more')).rejects.toMatchObject({
        message: expect.stringContaining('has 50 members'),
      });
      await admin.members.add({ account, person: 'first7@x.nl', role: 'admin' });
      expect(await admin.members.roleIn(account, ['first7@x.nl'])).toBe('admin');
    },
  );

  it('stays when it is the last administrator, also of two who remove or demote each other', async () => {
    const account = await newAccount();
    const ann = 'ann@example.nl';
    const bob = 'bob@example.nl';
    for (const remove of [true, false]) {
      for (const person of [ann, bob]) await admin.members.add({ account, person, role: 'admin' });
      const change = (person: string) =>
        remove
          ? admin.members.remove({ account, person })
          : admin.members.add({ account, person, role: 'viewer' });
      const outcomes = await Promise.allSettled([ann, bob].map(change));
      const refused = outcomes.flatMap((outcome) =>
        outcome.status === 'rejected' ? [outcome.reason.reason] : [],
      );
      expect(refused).toEqual(['last_admin']);
      const admins = (await admin.members.list(account)).filter(({ role }) => role === 'admin');
      expect(admins).toHaveLength(1);
      await expect(change(admins[0]?.person ?? '')).rejects.toMatchObject({
        code: 'invalid',
        reason: 'last_admin',
      });
    }
  });

  it('is not added to an unknown account', async () => {
    const refusal = admin.members.add({ account: 'nobody', person: 'a@b.nl', role: 'viewer' });
    await expect(refusal).rejects.toMatchObject({ code: 'not_found' });
  });

  it('is removed with a deleted account', async () => {
    const account = await newAccount();
    await admin.members.add({ account, person: 'gone@example.nl', role: 'admin' });
    await admin.accounts.suspend(account);
    await admin.accounts.delete(account);
    expect(await admin.members.accountsOf(['gone@example.nl'])).toEqual([]);
    expect(await storedItems(bench.client, bench.table, 'person#gone@example.nl')).toEqual([]);
    expect(await admin.members.roleIn(account, ['gone@example.nl'])).toBe(null);
  });

  it('that does not exist is not removed', async () => {
    const account = await newAccount();
    await expect(admin.members.remove({ account, person: 'a@b.nl' })).rejects.toMatchObject({
      code: 'not_found',
    });
  });
});

describe('a change based on an earlier read of an account', () => {
  it('is refused if the account has changed since, and otherwise takes effect', async () => {
    const account = await newAccount();
    const { plan, ownLimits } = await admin.accounts.show(account);
    await admin.accounts.set({ id: account, limits: { day: 5 } });
    const late = admin.accounts.set({ id: account, limits: { day: 7 }, seen: { plan, ownLimits } });
    await expect(late).rejects.toMatchObject({ code: 'conflict' });
    const current = await admin.accounts.show(account);
    expect(current.ownLimits).toEqual({ day: 5 });
    await admin.accounts.set({ id: account, limits: { day: 7 }, seen: current });
    expect((await admin.accounts.show(account)).ownLimits).toEqual({ day: 7 });
  });

  it.each([
    ['another plan', { plan: 'other', ownLimits: { day: 5 } }],
    ['another own limit', { plan: 'small', ownLimits: { day: 6 } }],
    ['no own limit', { plan: 'small', ownLimits: {} }],
    ['a further own limit', { plan: 'small', ownLimits: { day: 5, month: null } }],
  ])('is refused after it saw %s, and leaves no trace in the audit', async (_, seen) => {
    const account = await newAccount();
    await admin.accounts.set({ id: account, limits: { day: 5 } });
    const before = (await admin.accounts.audit(account)).entries;
    const late = admin.accounts.set({ id: account, limits: { day: 7 }, seen });
    await expect(late).rejects.toMatchObject({ code: 'conflict' });
    expect((await admin.accounts.audit(account)).entries).toEqual(before);
  });

  it('is refused if the account changes at the same moment', async () => {
    const account = await newAccount();
    const { plan, ownLimits } = await admin.accounts.show(account);
    const changes = [5, 7].map((day) =>
      admin.accounts.set({ id: account, limits: { day }, seen: { plan, ownLimits } }),
    );
    const outcomes = await Promise.allSettled(changes);
    const codes = outcomes.map((outcome) =>
      outcome.status === 'rejected' ? outcome.reason.code : 'done',
    );
    expect(codes.toSorted()).toEqual(['conflict', 'done']);
  });
});
