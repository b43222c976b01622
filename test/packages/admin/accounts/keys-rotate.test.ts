import { beforeAll, describe, expect, it } from '@jest/globals';
import { labelAfter, maxActiveKeys, maxKeysPerDay } from '../../../../packages/admin/accounts/keys.ts';
import { startForTests } from '../../../support/start-for-tests.ts';
import { startAdmin } from './admin-bench.ts';

const bench = startForTests(startAdmin);
beforeAll(async () => {
  await bench.admin.plans.put({ code: 'basic', limits: { day: 1000 } });
});

let accounts = 0;
async function newKey(input: { expires?: Date } = {}) {
  const account = `rotate-${++accounts}`;
  await bench.admin.accounts.create({ id: account, plan: 'basic' });
  return { account, ...(await bench.admin.keys.create({ account, label: 'webshop', expires: input.expires })) };
}

const hourLater = () => new Date(bench.clock.now + 3_600_000);
const iso = (date: Date) => date.toISOString().replace('.000', '');

describe('keys.rotate', () => {
  it('gives a key that works at once, and lets the old one end at its time', async () => {
    const { admin, request } = bench;
    const { account, key, keyId } = await newKey();
    const ends = hourLater();
    bench.clock.now += 1000;
    const made = await admin.keys.rotate({ account, keyId, ends });
    expect(made.replaced).toEqual({ keyId, ends: iso(ends) });
    expect([await request(key), await request(made.key)]).toEqual(['charged', 'charged']);
    expect(await admin.keys.list(account)).toMatchObject([
      { keyId, label: 'webshop', state: 'active', expires: iso(ends), replacedBy: made.keyId },
      { keyId: made.keyId, label: 'webshop 2', state: 'active', expires: null, replacedBy: null },
    ]);
    bench.clock.now += 3600 * 1000;
    expect([await request(key), await request(made.key)]).toEqual(['unauthorized', 'charged']);
    expect(await admin.keys.list(account)).toMatchObject([{ state: 'expired' }, { state: 'active' }]);
    expect((await admin.accounts.audit(account, { limit: 1 })).entries[0]).toMatchObject({
      action: 'key rotate',
      detail: { keyId: made.keyId, replaces: keyId, ends: iso(ends) },
    });
  });

  it('ends the old key a day later unless told otherwise, and never later than it would have ended', async () => {
    const { admin } = bench;
    const one = await newKey();
    const dayLater = iso(new Date(bench.clock.now + 86_400_000));
    expect((await admin.keys.rotate({ account: one.account, keyId: one.keyId })).replaced.ends).toBe(dayLater);
    const expires = hourLater();
    const two = await newKey({ expires });
    expect((await admin.keys.rotate({ account: two.account, keyId: two.keyId })).replaced.ends).toBe(iso(expires));
  });

  it('works when every place is taken, for one key at a time', async () => {
    const { admin, request } = bench;
    const { account, key, keyId } = await newKey();
    const others: string[] = [];
    for (let i = 1; i < maxActiveKeys; i++) others.push((await admin.keys.create({ account, label: `${i}` })).keyId);
    const made = await admin.keys.rotate({ account, keyId, ends: hourLater() });
    expect([await request(key), await request(made.key)]).toEqual(['charged', 'charged']);
    const [other = ''] = others;
    await expect(admin.keys.rotate({ account, keyId: other })).rejects.toMatchObject({ code: 'too_many_keys' });
    await expect(admin.keys.create({ account, label: 'one more' })).rejects.toMatchObject({ code: 'too_many_keys' });
    bench.clock.now += (3600 + 60) * 1000;
    expect((await admin.keys.rotate({ account, keyId: other })).replaced.keyId).toBe(other);
  });

  it('gives one key for one token, and lets only one of two at once take the last place', async () => {
    const { admin } = bench;
    const { account, keyId } = await newKey();
    const token = 'a token of the portal';
    const input = { account, keyId, token: token.replaceAll(' ', '-') };
    const outcomes = await Promise.allSettled([1, 2, 3].map(() => admin.keys.rotate(input)));
    const codes = outcomes.map((outcome) => (outcome.status === 'fulfilled' ? 'made' : outcome.reason.code));
    expect(codes.toSorted()).toEqual(['already_created', 'already_created', 'made']);
    expect(await admin.keys.list(account)).toHaveLength(2);
  });

  it.each<[string, (made: { account: string; keyId: string }) => unknown]>([
    ['a revoked key', (made) => bench.admin.keys.revoke(made)],
    ['an expired key', () => (bench.clock.now += 7_200_000)],
  ])('refuses %s, and leaves nothing', async (_, end) => {
    const { account, keyId } = await newKey({ expires: hourLater() });
    await end({ account, keyId });
    const refusal = bench.admin.keys.rotate({ account, keyId });
    await expect(refusal).rejects.toMatchObject({ code: 'not_found', subject: 'key' });
    expect(await bench.admin.keys.list(account)).toHaveLength(1);
  });

  it.each([
    ['a time that has passed', { ends: new Date(0) }, 'invalid'],
    ['an unknown key', { keyId: '00000000' }, 'not_found'],
  ])('refuses %s', async (_, over, code) => {
    const { account, keyId } = await newKey();
    await expect(bench.admin.keys.rotate({ account, keyId, ...over })).rejects.toMatchObject({ code });
  });
});

describe('the keys of an account', () => {
  it(`are created ${maxKeysPerDay} times a day at most, also at once, and again the next day`, async () => {
    const { admin } = bench;
    const { account, keyId } = await newKey();
    await admin.keys.revoke({ account, keyId });
    const create = async (i: number) => {
      const made = await admin.keys.create({ account, label: `${i}` });
      await admin.keys.revoke({ account, keyId: made.keyId });
    };
    for (let i = 0; i < maxKeysPerDay - 4; i++) await create(i);
    const outcomes = await Promise.allSettled([1, 2, 3, 4].map(create));
    const refused = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []));
    expect(refused).toMatchObject([{ code: 'too_many_keys', reason: 'day' }]);
    bench.clock.now += 86_400 * 1000;
    await create(0);
  });

  it('stay on record for 400 days after they were revoked', async () => {
    const { account, keyId } = await newKey();
    await bench.admin.keys.revoke({ account, keyId });
    const record = await bench.item(account, `key#${keyId}`);
    expect(record?.expires).toBe(bench.clock.now / 1000 + 400 * 86_400);
    await bench.admin.keys.revoke({ account, keyId });
    expect(await bench.item(account, `key#${keyId}`)).toEqual(record);
  });
});

describe('the label of a new key', () => {
  it.each([
    ['webshop', 'webshop 2'],
    ['webshop 2', 'webshop 3'],
    ['webshop 9', 'webshop 10'],
    ['2026', '2026 2'],
    ['x'.repeat(64), `${'x'.repeat(62)} 2`],
  ])('that replaces %s is %s', (label, next) => {
    expect(labelAfter(label)).toBe(next);
  });
});
