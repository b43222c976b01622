import { PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { keyCode } from '../../../../core/accounts/account.ts';
import { accessItem } from '../../../../core/accounts/account-item.ts';
import { keyIdOfToken, readApiKey } from '../../../../core/accounts/api-key.ts';
import {
  labelAfter,
  maxActiveKeys,
  maxKeysPerDay,
  viewKeys,
} from '../../../../packages/admin/accounts/keys.ts';
import { createAdmin } from '../../../../packages/admin/admin.ts';
import { accessOf } from '../../../support/access.ts';
import { testChecksumSecret } from '../../../support/dynamodb.ts';
import { allAccounts } from '../../../support/list-all.ts';
import { startForTests } from '../../../support/start-for-tests.ts';
import { writeItems } from '../../../support/stored-items.ts';
import { adminWith, benchStart, startAdmin } from './admin-bench.ts';

const bench = startForTests(startAdmin);
beforeAll(async () => {
  await bench.admin.plans.put({ code: 'basic', limits: { minute: null } });
  await bench.admin.plans.put({ code: 'keys', limits: { day: 1000 } });
  await bench.admin.accounts.create({ id: 'acme', plan: 'basic' });
  await bench.admin.accounts.create({ id: 'other', plan: 'basic' });
});
beforeEach(() => {
  bench.clock.now = benchStart;
});

/** What is listed of a key that was just made. */
const made = {
  created: '2026-08-01T12:30:15Z',
  expires: null,
  lastUsed: null,
  createdBy: 'unknown',
  replacedBy: null,
  limitPerDay: null,
  usedToday: 0,
};

describe('keys.create', () => {
  it('returns a key that the next request can use, and lists it by id and label', async () => {
    const { admin, request } = bench;
    const { key, keyId } = await admin.keys.create({ account: 'acme', label: 'webshop' });
    expect(await request(key)).toBe('charged');
    expect(readApiKey(key, [testChecksumSecret])).toMatchObject({ account: 'acme', keyId });
    expect(await admin.keys.list('acme')).toEqual([
      {
        ...made,
        keyId,
        label: 'webshop',
        state: 'active',
        revoked: null,
        lastUsed: '2026-08-01',
        usedToday: 1,
      },
    ]);
  });

  it('never lists or shows the secret or the hash, and stores no secret', async () => {
    const { admin, item } = bench;
    const { key, keyId } = await admin.keys.create({ account: 'acme', label: 'quiet' });
    const claim = readApiKey(key, [testChecksumSecret]);
    const stored = JSON.stringify([await item('acme'), await item('acme', `key#${keyId}`)]);
    expect(stored).toContain(keyId);
    expect(stored).not.toContain(key.slice(-20));
    const shown = JSON.stringify([await admin.keys.list('acme'), await allAccounts(admin)]);
    expect(shown).toContain(keyId);
    expect(shown).not.toContain(key.slice(-20));
    expect(shown).not.toContain(Buffer.from(claim?.hash ?? []).toString('base64'));
    expect(shown).not.toContain(JSON.stringify(claim?.hash));
  });

  it.each([
    ['an expiry in the past', { account: 'acme', label: 'k', expires: new Date(0) }, 'invalid'],
    ['an account that does not exist', { account: 'ghost', label: 'k' }, 'not_found'],
  ])('refuses %s and writes nothing', async (_, input, code) => {
    const before = await bench.admin.keys.list('acme');
    await expect(bench.admin.keys.create(input)).rejects.toMatchObject({
      name: 'AdminError',
      code,
    });
    expect(await bench.admin.keys.list('acme')).toEqual(before);
  });
});

describe('a key that expires', () => {
  const expires = new Date(benchStart + 20_000);

  it('works until the second before, and then is refused as unknown', async () => {
    const { admin, request, clock } = bench;
    const id = 'expiring';
    await admin.accounts.create({ id, plan: 'keys' });
    const { key, keyId } = await admin.keys.create({ account: id, label: 'k', expires });
    const lasting = await admin.keys.create({ account: id, label: 'lasting' });
    const stateOf = async () =>
      (await admin.keys.list(id)).find((listed) => listed.keyId === keyId);
    clock.now = expires.getTime() - 1;
    expect(await Promise.all(Array.from({ length: 6 }, () => request(key)))).toEqual(
      Array(6).fill('charged'),
    );
    expect(await stateOf()).toMatchObject({ state: 'active', expires: '2026-08-01T12:30:35Z' });
    clock.now = expires.getTime();
    expect(await Promise.all(Array.from({ length: 6 }, () => request(key)))).toEqual(
      Array(6).fill('unauthorized'),
    );
    expect(await request(lasting.key)).toBe('charged');
    expect(await stateOf()).toMatchObject({
      state: 'expired',
      expires: '2026-08-01T12:30:35Z',
      revoked: null,
    });
    expect((await admin.accounts.show(id)).windows.day?.used).toBe(7);
    const detail = { keyId, expires: '2026-08-01T12:30:35Z' };
    expect((await admin.accounts.audit(id)).entries).toContainEqual(
      expect.objectContaining({ action: 'key create', detail, outcome: 'done' }),
    );
  });

  it('makes space for one key even if it is the only one that has expired', async () => {
    const { admin, clock, request } = bench;
    await admin.accounts.create({ id: 'nearly', plan: 'keys' });
    const { keyId } = await admin.keys.create({ account: 'nearly', label: 'trial', expires });
    const others = [];
    for (let i = 1; i < maxActiveKeys; i++) {
      others.push(await admin.keys.create({ account: 'nearly', label: `${i}` }));
    }
    clock.now = expires.getTime() + 60_000;
    const made = await admin.keys.create({ account: 'nearly', label: 'new' });
    expect(await request(made.key)).toBe('charged');
    const states = (await admin.keys.list('nearly')).map((key) => [key.keyId, key.state]);
    expect(states).toContainEqual([keyId, 'revoked']);
    for (const other of others) expect(states).toContainEqual([other.keyId, 'active']);
  });

  it('is kept while there is space for another', async () => {
    const { admin, clock } = bench;
    await admin.accounts.create({ id: 'roomy', plan: 'keys' });
    for (let i = 1; i < maxActiveKeys; i++) {
      await admin.keys.create({ account: 'roomy', label: `${i}`, expires });
    }
    clock.now = expires.getTime() + 60_000;
    await admin.keys.create({ account: 'roomy', label: 'new' });
    const states = (await admin.keys.list('roomy')).map(({ state }) => state);
    expect(states.toSorted()).toEqual(['active', ...Array(maxActiveKeys - 1).fill('expired')]);
  });

  it('is replaced by a new key once it has been expired for a minute, and not earlier', async () => {
    const { admin, clock } = bench;
    await admin.accounts.create({ id: 'full', plan: 'keys' });
    for (let i = 0; i < maxActiveKeys; i++) {
      await admin.keys.create({ account: 'full', label: `${i}`, expires });
    }
    clock.now = expires.getTime() + 59_000;
    await expect(admin.keys.create({ account: 'full', label: 'new' })).rejects.toMatchObject({
      code: 'too_many_keys',
    });
    clock.now += 1_000;
    const { keyId } = await admin.keys.create({ account: 'full', label: 'new' });
    const active = (await admin.keys.list('full')).filter(({ state }) => state !== 'revoked');
    expect(active.map((key) => key.keyId)).toEqual([keyId]);
  });

  it.each([
    ['a Date with milliseconds', new Date(benchStart + 3_600_999)],
    [
      'an instant as the calls return it',
      new Date(benchStart + 3_600_000).toISOString().replace('.000Z', 'Z'),
    ],
  ])('expires on the second of %s', async (label, expires) => {
    const { admin } = bench;
    const { keyId } = await admin.keys.create({ account: 'acme', label, expires });
    const made = (await admin.keys.list('acme')).find((one) => one.keyId === keyId);
    expect(Date.parse(String(made?.expires))).toBe(benchStart + 3_600_000);
    await admin.keys.revoke({ account: 'acme', keyId });
  });
});

describe('keys.rename', () => {
  it('changes the label, in the state that the key is in, and nothing else', async () => {
    const { admin, request } = bench;
    await admin.accounts.create({ id: 'renaming', plan: 'keys' });
    const { key, keyId } = await admin.keys.create({ account: 'renaming', label: 'old' });
    const [before] = await admin.keys.list('renaming');
    expect(await admin.keys.rename({ account: 'renaming', keyId, label: 'new' })).toEqual({
      ...before,
      label: 'new',
    });
    expect(await request(key)).toBe('charged');
    await admin.keys.revoke({ account: 'renaming', keyId });
    const renamed = await admin.keys.rename({ account: 'renaming', keyId, label: 'gone' });
    expect(renamed).toMatchObject({ label: 'gone', state: 'revoked' });
    const entries = (await admin.accounts.audit('renaming')).entries.filter(
      ({ action }) => action === 'key rename',
    );
    expect(entries.map(({ detail }) => detail)).toEqual([{ keyId }, { keyId }]);
  });

  it.each(['nobody', 'acme'])('refuses a key that account %s does not have', async (account) => {
    const refusal = bench.admin.keys.rename({ account, keyId: 'AAAAAAAA', label: 'x' });
    await expect(refusal).rejects.toMatchObject({ code: 'not_found' });
  });
});

describe('keys.create with an idempotency token', () => {
  const token = '3b241101-e2bb-4255-8caf-4136c566a962';

  it('creates one key, however often it is called, and returns its id', async () => {
    const { admin, request } = bench;
    await admin.accounts.create({ id: 'once', plan: 'keys' });
    const create = () => admin.keys.create({ account: 'once', label: 'k', token });
    const calls = await Promise.allSettled(Array.from({ length: 5 }, create));
    const made = calls.flatMap((call) => (call.status === 'fulfilled' ? [call.value] : []));
    expect(made).toHaveLength(1);
    const [{ key, keyId }] = made as [{ key: string; keyId: string }];
    expect(await request(key)).toBe('charged');
    for (const call of calls) {
      if (call.status === 'rejected') {
        expect(call.reason).toMatchObject({ code: 'already_created', keyId });
      }
    }
    expect((await admin.keys.list('once')).map((listed) => listed.keyId)).toEqual([keyId]);
    await admin.keys.revoke({ account: 'once', keyId });
    await expect(create()).rejects.toMatchObject({ code: 'already_created' });
  });

  it('creates a different key for each account with the same token, whose secret the token does not reveal', async () => {
    const { admin } = bench;
    const keys = [];
    for (const id of ['token-a', 'token-b']) {
      await admin.accounts.create({ id, plan: 'keys' });
      keys.push((await admin.keys.create({ account: id, label: 'k', token })).key);
    }
    const [a, b] = keys.map((key) => key.slice(-35, -8));
    expect(a).not.toBe(b);
    await admin.accounts.create({ id: 'token-c', plan: 'keys' });
    const other = { admin: createAdmin({ client: bench.client, table: bench.table }) };
    const made = await other.admin.keys.create({ account: 'token-c', label: 'k', token });
    expect([a, b]).not.toContain(made.key.slice(-35, -8));
  });

  it('does not mistake its own write with a lost response for an earlier call', async () => {
    const { admin, request } = bench;
    await admin.accounts.create({ id: 'lost', plan: 'keys' });
    let lost = false;
    const retrying = adminWith(bench, async (command, send) => {
      const isRecord =
        command instanceof PutCommand && String(command.input.Item?.item).startsWith('key#');
      if (isRecord && !lost) {
        lost = true;
        await send(); // and the SDK sends it again
      }
      return send();
    });
    const { key } = await retrying.keys.create({ account: 'lost', label: 'k', token });
    expect(lost).toBe(true);
    expect(await request(key)).toBe('charged');
  });
});

describe('keys.revoke', () => {
  it('makes the next request fail permanently, and records the time', async () => {
    const { admin, request, clock } = bench;
    const { key, keyId } = await admin.keys.create({ account: 'acme', label: 'leaked' });
    const revoked = { ...made, keyId, label: 'leaked', state: 'revoked', revoked: made.created };
    expect(await admin.keys.revoke({ account: 'acme', keyId })).toEqual(revoked);
    expect(await request(key)).toBe('unauthorized');
    clock.now += 5_000;
    expect(await admin.keys.revoke({ account: 'acme', keyId })).toEqual(revoked);
    expect(await admin.keys.list('acme')).toContainEqual(revoked);
  });

  it.each(['other', 'ghost'])(
    'refuses a key that account %s does not have, and leaves it active',
    async (account) => {
      const { admin, request } = bench;
      const { key, keyId } = await admin.keys.create({ account: 'acme', label: 'mine' });
      await expect(admin.keys.revoke({ account, keyId })).rejects.toMatchObject({
        code: 'not_found',
      });
      expect(await request(key)).toBe('charged');
    },
  );

  it('refuses a whole key instead of its id, without repeating it', async () => {
    const { key } = await bench.admin.keys.create({ account: 'acme', label: 'pasted' });
    const refusal = await bench.admin.keys
      .revoke({ account: 'acme', keyId: key })
      .catch((error: Error) => error);
    expect(refusal).toMatchObject({ code: 'invalid' });
    expect((refusal as Error).message).not.toContain(key.slice(-20));
  });

  it('also revokes a key that was added to the item manually', async () => {
    const { admin, client, table, item } = bench;
    await writeItems(client, table, [
      { ...(await item('other')), keys: { byhand00: new Uint8Array(16) } },
    ]);
    expect(await admin.keys.list('other')).toContainEqual(
      expect.objectContaining({ keyId: 'byhand00', label: null, state: 'active' }),
    );
    expect(await admin.keys.revoke({ account: 'other', keyId: 'byhand00' })).toMatchObject({
      state: 'revoked',
    });
  });
});

describe('the limit of a key', () => {
  /** An account of its own, with a key. */
  async function limited(limitPerDay: number | null = 2) {
    const key = await newKey();
    const { account, keyId } = key;
    await bench.admin.keys.set({ account, keyId, limitPerDay });
    return key;
  }
  const show = async (account: string) =>
    (await bench.admin.keys.list(account)).map(({ limitPerDay, usedToday }) => [
      limitPerDay,
      usedToday,
    ]);

  it('is set with the key, and changed from the next request on', async () => {
    const { admin, request } = bench;
    const { account } = await newKey();
    bench.clock.now += 1000;
    const { key, keyId } = await admin.keys.create({ account, label: 'l', limitPerDay: 1 });
    bench.clock.now += 1000;
    expect([await request(key), await request(key)]).toEqual(['charged', 'quota-exceeded']);
    expect(await admin.keys.set({ account, keyId, limitPerDay: 2 })).toMatchObject({
      keyId,
      limitPerDay: 2,
      usedToday: 1,
    });
    expect([await request(key), await request(key)]).toEqual(['charged', 'quota-exceeded']);
    bench.clock.now += 1000;
    await admin.keys.set({ account, keyId, limitPerDay: null });
    expect(await request(key)).toBe('charged');
    const entries = (await admin.accounts.audit(account)).entries.slice(0, 3);
    expect(entries.map(({ action, detail }) => [action, detail])).toEqual([
      ['key set', { keyId, limits: { day: null } }],
      ['key set', { keyId, limits: { day: 2 } }],
      ['key create', { keyId, limits: { day: 1 } }],
    ]);
  });

  it('leaves the item as it was when the last one is removed', async () => {
    const before = await newKey();
    const item = await bench.item(before.account);
    const set = (limitPerDay: number | null) =>
      bench.admin.keys.set({ account: before.account, keyId: before.keyId, limitPerDay });
    await set(3);
    await set(null);
    expect(await bench.item(before.account)).toEqual(item);
  });

  it('passes to the key that replaces it, which has used none of it', async () => {
    const { admin, request } = bench;
    const { account, key, keyId } = await limited(1);
    expect(await request(key)).toBe('charged');
    bench.clock.now += 1000;
    const made = await admin.keys.rotate({ account, keyId });
    expect(await show(account)).toEqual([
      [1, 1],
      [1, 0],
    ]);
    expect([await request(key), await request(made.key), await request(made.key)]).toEqual([
      'quota-exceeded',
      'charged',
      'quota-exceeded',
    ]);
  });

  it('disappears with the key', async () => {
    const { account, keyId } = await limited();
    expect(await bench.admin.keys.revoke({ account, keyId })).toMatchObject({ limitPerDay: null });
    expect(await bench.item(account)).not.toHaveProperty(accessItem.keyLimits);
    const again = bench.admin.keys.set({ account, keyId, limitPerDay: 3 });
    await expect(again).rejects.toMatchObject({ code: 'not_found' });
    expect(await bench.item(account)).not.toHaveProperty(accessItem.keyLimits);
  });

  it('of each of two keys is kept when both are set at once, one of them as it is replaced', async () => {
    const { admin } = bench;
    const { account, keyId } = await limited(1);
    const { keyId: second } = await admin.keys.create({ account, label: 'b' });
    const [{ keyId: third }] = await Promise.all([
      admin.keys.rotate({ account, keyId }),
      admin.keys.set({ account, keyId: second, limitPerDay: 7 }),
    ]);
    expect((await bench.item(account))?.[accessItem.keyLimits]).toEqual({
      [keyCode(keyId)]: 1,
      [keyCode(second)]: 7,
      [keyCode(third)]: 1,
    });
  });

  it('is kept when that of another key is changed between the read and the write', async () => {
    const { account, keyId } = await limited(1);
    const { keyId: second } = await bench.admin.keys.create({ account, label: 'b' });
    let interrupted = false;
    const slow = adminWith(bench, async (command, send) => {
      const isChange = command instanceof UpdateCommand && command.input.Key?.item === 'access';
      if (isChange && !interrupted) {
        interrupted = true;
        await bench.admin.keys.set({ account, keyId: second, limitPerDay: 7 });
      }
      return send();
    });
    await slow.keys.set({ account, keyId, limitPerDay: 5 });
    expect(interrupted).toBe(true);
    expect((await bench.item(account))?.[accessItem.keyLimits]).toEqual({
      [keyCode(keyId)]: 5,
      [keyCode(second)]: 7,
    });
  });

  it('that somebody else changes between the read and the write is not overwritten by who saw the old one', async () => {
    const { account, keyId } = await limited(1);
    const seen = { limitPerDay: 1 };
    let interrupted = false;
    const slow = adminWith(bench, async (command, send) => {
      const isChange = command instanceof UpdateCommand && command.input.Key?.item === 'access';
      if (isChange && !interrupted) {
        interrupted = true;
        await bench.admin.keys.set({ account, keyId, limitPerDay: 7, seen });
      }
      return send();
    });
    await expect(slow.keys.set({ account, keyId, limitPerDay: 5, seen })).rejects.toMatchObject({
      code: 'conflict',
    });
    expect(interrupted).toBe(true);
    expect((await bench.item(account))?.[accessItem.keyLimits]).toEqual({ [keyCode(keyId)]: 7 });
  });

  it('that is set while the key is revoked, does not stay in the item', async () => {
    const { account, keyId } = await limited(null);
    let interrupted = false;
    const slow = adminWith(bench, async (command, send) => {
      const isRevocation =
        command instanceof UpdateCommand && command.input.UpdateExpression?.includes('REMOVE');
      if (isRevocation && !interrupted) {
        interrupted = true;
        await bench.admin.keys.set({ account, keyId, limitPerDay: 3 });
      }
      return send();
    });
    await slow.keys.revoke({ account, keyId });
    expect(interrupted).toBe(true);
    expect(await bench.item(account)).not.toHaveProperty(accessItem.keyLimits);
  });

  it.each([-1, 1.5, 1e13, Number.NaN])('refuses %s', async (limitPerDay) => {
    const { account, keyId } = await newKey();
    for (const call of [
      bench.admin.keys.set({ account, keyId, limitPerDay }),
      bench.admin.keys.create({ account, label: 'k', limitPerDay }),
    ]) {
      await expect(call).rejects.toMatchObject({ code: 'invalid' });
    }
  });

  it('is of one key alone: a code that was used today is not given again', async () => {
    const { admin, client, table, item } = bench;
    const { account } = await newKey();
    const token = 'a-token-of-the-portal';
    const code = keyCode(keyIdOfToken(account, token));
    const used = { ...(await item(account)), [accessItem.byKey]: { [code]: 1 } };
    await writeItems(client, table, [used]);
    const create = admin.keys.create({ account, label: 'k', token });
    await expect(create).rejects.toMatchObject({ code: 'conflict' });
    expect(await admin.keys.list(account)).toHaveLength(1);
  });
});

describe('keys.list', () => {
  it('refuses an account that does not exist', async () => {
    await expect(bench.admin.keys.list('ghost')).rejects.toMatchObject({ code: 'not_found' });
  });
});

describe('the view of the keys of an account', () => {
  const noon = Date.UTC(2026, 7, 15, 12) / 1000;
  const hash = new Uint8Array(16);
  const recordOf = (keyId: string, created: number | null, revoked: number | null = null) => ({
    keyId,
    label: 'k',
    created,
    revoked,
    lastUsed: null,
    createdBy: null,
    replaces: null,
  });

  it('is in the order in which they were created, then of their ids, after those without a record', () => {
    const records = [
      recordOf('d', noon),
      recordOf('a', noon + 1),
      recordOf('c', noon - 1),
      recordOf('b', noon),
    ];
    const views = viewKeys(accessOf({ keys: { z: hash, a: hash, y: hash } }), records, noon);
    expect(views.map(({ keyId }) => keyId)).toEqual(['y', 'z', 'c', 'b', 'd', 'a']);
  });

  it('shows when a key was revoked only if requests with it are refused', () => {
    const records = [recordOf('a', noon - 60, noon - 30)];
    expect(viewKeys(accessOf({ keys: {} }), records, noon)).toMatchObject([
      { state: 'revoked', revoked: '2026-08-15T11:59:30Z', expires: null },
    ]);
    expect(viewKeys(accessOf({ keys: { a: hash } }), records, noon)).toMatchObject([
      { state: 'active', revoked: null },
    ]);
    const halfMade = [recordOf('a', noon - 60)];
    expect(viewKeys(accessOf({ keys: {} }), halfMade, noon)).toMatchObject([
      { state: 'revoked', revoked: null },
    ]);
  });
});

let accounts = 0;
async function newKey(input: { expires?: Date } = {}) {
  const account = `rotate-${++accounts}`;
  await bench.admin.accounts.create({ id: account, plan: 'basic' });
  return {
    account,
    ...(await bench.admin.keys.create({ account, label: 'webshop', expires: input.expires })),
  };
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
    expect(await admin.keys.list(account)).toMatchObject([
      { state: 'expired' },
      { state: 'active' },
    ]);
    expect((await admin.accounts.audit(account, { limit: 1 })).entries[0]).toMatchObject({
      action: 'key rotate',
      detail: { keyId: made.keyId, replaces: keyId, ends: iso(ends) },
    });
  });

  it('ends the old key a day later unless told otherwise, and never later than it would have ended', async () => {
    const { admin } = bench;
    const one = await newKey();
    const dayLater = iso(new Date(bench.clock.now + 86_400_000));
    expect(
      (await admin.keys.rotate({ account: one.account, keyId: one.keyId })).replaced.ends,
    ).toBe(dayLater);
    const expires = hourLater();
    const two = await newKey({ expires });
    expect(
      (await admin.keys.rotate({ account: two.account, keyId: two.keyId })).replaced.ends,
    ).toBe(iso(expires));
  });

  it('works when every place is taken, for one key at a time', async () => {
    const { admin, request } = bench;
    const { account, key, keyId } = await newKey();
    const others: string[] = [];
    for (let i = 1; i < maxActiveKeys; i++) {
      others.push((await admin.keys.create({ account, label: `${i}` })).keyId);
    }
    const made = await admin.keys.rotate({ account, keyId, ends: hourLater() });
    expect([await request(key), await request(made.key)]).toEqual(['charged', 'charged']);
    const [other = ''] = others;
    await expect(admin.keys.rotate({ account, keyId: other })).rejects.toMatchObject({
      code: 'too_many_keys',
    });
    await expect(admin.keys.create({ account, label: 'one more' })).rejects.toMatchObject({
      code: 'too_many_keys',
    });
    bench.clock.now += (3600 + 60) * 1000;
    expect((await admin.keys.rotate({ account, keyId: other })).replaced.keyId).toBe(other);
  });

  it('gives one key for one token, and lets only one of two at once take the last place', async () => {
    const { admin } = bench;
    const { account, keyId } = await newKey();
    const token = 'a token of the portal';
    const input = { account, keyId, token: token.replaceAll(' ', '-') };
    const outcomes = await Promise.allSettled([1, 2, 3].map(() => admin.keys.rotate(input)));
    const codes = outcomes.map((outcome) =>
      outcome.status === 'fulfilled' ? 'made' : outcome.reason.code,
    );
    expect(codes.toSorted()).toEqual(['already_created', 'already_created', 'made']);
    expect(await admin.keys.list(account)).toHaveLength(2);
  });

  it('replaces a key once, whatever the tokens of calls at one time, and again after its key is revoked', async () => {
    const { admin, request } = bench;
    const { account, keyId } = await newKey();
    const outcomes = await Promise.allSettled(
      [1, 2, 3, 4].map((i) =>
        admin.keys.rotate({ account, keyId, token: `${i}-a-token-of-a-tab` }),
      ),
    );
    const made = outcomes.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
    expect(made).toHaveLength(1);
    const [first = { key: '', keyId: '' }] = made;
    for (const outcome of outcomes) {
      if (outcome.status === 'fulfilled') continue;
      expect(outcome.reason).toMatchObject({ code: 'already_replaced', keyId: first.keyId });
    }
    const ids = (await admin.keys.list(account)).map((one) => one.keyId);
    expect(ids.toSorted()).toEqual([keyId, first.keyId].toSorted());
    await admin.keys.revoke({ account, keyId: first.keyId });
    expect(await admin.keys.list(account)).toMatchObject(
      ids.map((id) => ({ replacedBy: null, state: id === keyId ? 'active' : 'revoked' })),
    );
    const again = await admin.keys.rotate({ account, keyId });
    expect([await request(first.key), await request(again.key)]).toEqual([
      'unauthorized',
      'charged',
    ]);
  });

  it('replaces a key once, also if another call has replaced it just before the claim', async () => {
    const { admin } = bench;
    const { account, keyId } = await newKey();
    const others: string[] = [];
    const late = adminWith(bench, async (command, send) => {
      const isClaim = JSON.stringify(command).includes('replaced_by');
      if (isClaim && others.length === 0) {
        others.push((await admin.keys.rotate({ account, keyId })).keyId);
      }
      return send();
    });
    const refusal = await late.keys.rotate({ account, keyId }).catch((error: unknown) => error);
    expect(refusal).toMatchObject({ code: 'already_replaced', keyId: others[0] });
    expect(await admin.keys.list(account)).toHaveLength(2);
  });

  it('replaces a key whose first replacement was refused, because another took the last place', async () => {
    const { admin } = bench;
    const { account, keyId } = await newKey();
    const others: string[] = [];
    for (let i = 1; i < maxActiveKeys; i++) {
      others.push((await admin.keys.create({ account, label: `${i}` })).keyId);
    }
    const [one = '', other = ''] = others;
    const late = adminWith(bench, async (command, send) => {
      const isClaim = JSON.stringify(command).includes('replaced_by');
      const answer = await send();
      if (isClaim) await admin.keys.rotate({ account, keyId: one });
      return answer;
    });
    await expect(late.keys.rotate({ account, keyId })).rejects.toMatchObject({
      code: 'too_many_keys',
    });
    await admin.keys.revoke({ account, keyId: other });
    expect((await admin.keys.rotate({ account, keyId })).replaced.keyId).toBe(keyId);
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
    await expect(bench.admin.keys.rotate({ account, keyId, ...over })).rejects.toMatchObject({
      code,
    });
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
    const refused = outcomes.flatMap((outcome) =>
      outcome.status === 'rejected' ? [outcome.reason] : [],
    );
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
