import { describe, expect, it } from '@jest/globals';
import type { Access } from '../../../../core/accounts/account.ts';
import { storedKey } from '../../../../core/accounts/api-key.ts';
import {
  type AccessStore,
  type ChargeAttempt,
  type ChargeResult,
  charge,
} from '../../../../core/accounts/charge/charge.ts';
import { StoreUnavailable } from '../../../../core/dynamodb.ts';
import { accessOf } from '../../../support/access.ts';

const noon = Date.UTC(2026, 7, 15, 12) / 1000;
const claim = { account: 'a', keyId: 'k', hash: new Uint8Array(16) };
const now = noon + 1;

/** An item of the account, with quota left and today as its day. */
function itemOf(parts: Partial<Access> = {}): Access {
  return accessOf({
    keys: { k: claim.hash },
    quota: { hour: { start: noon, used: 1, limit: 10 } },
    usage: { total: 1, date: '2026-08-15', mark: 0, days: {}, byKey: {}, daysByKey: {} },
    ...parts,
  });
}

type Answers = Parameters<typeof scripted>[0];

/** A store that answers the writes in turn, the last answer for all that follow, and notes them. */
function scripted(answers: (Access | 'gone' | { charged: Access | undefined })[], shards: Access[] = []) {
  const attempts: ChargeAttempt[] = [];
  const recorded: Access[] = [];
  const store: Pick<AccessStore, 'charge' | 'recordDays' | 'readShards'> = {
    charge: (attempt) => {
      attempts.push(attempt);
      const answer = answers[Math.min(attempts.length, answers.length) - 1] ?? 'gone';
      const shard = attempt.shard ?? 1;
      const write = (result: ChargeResult) => ({
        shard,
        answer: Promise.resolve(result),
        unanswered: new Promise<never>(() => undefined),
        abandon: () => undefined,
      });
      if (answer === 'gone') return write({ charged: false, access: undefined, shard });
      if ('charged' in answer) return write({ charged: true, access: answer.charged });
      return write({ charged: false, access: answer, shard: answer.shard });
    },
    recordDays: async (seen) => void recorded.push(seen),
    readShards: async () => shards,
  };
  const attempt = (signal = AbortSignal.timeout(5_000)) => charge(store as AccessStore, claim, () => now, signal);
  return { attempt, attempts, recorded };
}

describe('a charge of an account that something else keeps changing', () => {
  const contended = [itemOf()];

  it('is given up after eight writes', async () => {
    const { attempt, attempts } = scripted(contended);
    await expect(attempt()).rejects.toThrow(StoreUnavailable);
    expect(attempts).toHaveLength(8);
  });

  it('is given up after a hundred writes when other callers get the last units of several shards', async () => {
    const hour = { start: noon, used: 5, limit: 5, total: 10 };
    const exhausted = itemOf({ shards: 2, quota: { hour } });
    const other = itemOf({ shard: 1, shards: 2, quota: { hour: { ...hour, used: 4 } } });
    const { attempt, attempts } = scripted([exhausted], [exhausted, other]);
    await expect(attempt()).rejects.toThrow(StoreUnavailable);
    expect(attempts).toHaveLength(100);
  });

  it('is given up without another write when the time for the request is over', async () => {
    const { attempt, attempts } = scripted(contended);
    await expect(attempt(AbortSignal.abort())).rejects.toThrow(StoreUnavailable);
    expect(attempts).toHaveLength(0);
  });
});

describe('a charge that the store reports as done', () => {
  const hour = (used: number, limit: number | null, start = noon) => ({ quota: { hour: { start, used, limit } } });

  it.each<[string, Partial<Access>]>([
    ['the last unit of the limit', hour(10, 10)],
    ['a unit without a limit', hour(1_000, null)],
    ['a unit of a window that a faster clock began', hour(1, 10, noon + 3600)],
    ['a unit of the last second of its key', { keys: { k: storedKey(claim.hash, now + 1) } }],
  ])('is served when its item shows %s', async (_, parts) => {
    const item = itemOf(parts);
    expect(await scripted([{ charged: item }]).attempt()).toMatchObject({ access: item, charged: { units: 1 } });
  });

  it.each<[string, Partial<Access> | undefined]>([
    ['is missing', undefined],
    ['lacks the key', { keys: {} }],
    ['has another hash for the key', { keys: { k: new Uint8Array(16).fill(1) } }],
    ['has a key that has expired', { keys: { k: storedKey(claim.hash, now) } }],
    ['is suspended', { state: 'suspended' }],
    ['has an inactive plan', { planState: 'inactive' }],
    ['is a shard that takes no requests', { shard: 2, shards: 2 }],
    ['has no window', { quota: {} }],
    ['is of an earlier window', hour(1, 10, noon - 3600)],
    ['has no unit used', hour(0, 10)],
    ['has more used than the limit', hour(11, 10)],
  ])('is not served when the returned item %s', async (_, parts) => {
    const { attempt, attempts } = scripted([{ charged: parts && itemOf(parts) }]);
    await expect(attempt()).rejects.toThrow(StoreUnavailable);
    expect(attempts).toHaveLength(1);
  });
});

describe('a shard other than the first', () => {
  it.each<[string, Answers[number]]>([
    ['is gone', 'gone'],
    ['lacks the key', itemOf({ shard: 1, shards: 2, keys: {} })],
    ['is suspended', itemOf({ shard: 1, shards: 2, state: 'suspended' })],
    ['is closing', itemOf({ shard: 1, shards: 2, state: 'closing' })],
    ['has an inactive plan', itemOf({ shard: 1, shards: 2, planState: 'inactive' })],
    ['takes no requests any more', itemOf({ shard: 1, shards: 1 })],
  ])('that %s refuses no one: the request is charged to the first', async (_, answer) => {
    const { attempt, attempts } = scripted([answer, { charged: itemOf() }]);
    expect(await attempt()).toMatchObject({ account: 'a', keyId: 'k' });
    expect(attempts.map(({ shard }) => shard)).toEqual([undefined, 0]);
  });
});

describe('a charge whose item holds earlier days', () => {
  const twoDays = { '2026-08-12': 4, '2026-08-13': 5 };

  it.each([
    ['begins a day for which the item has space', '2026-08-14', { '2026-08-12': 4 }, 0],
    ['begins a day for which the item has no space', '2026-08-14', twoDays, 1],
    ['begins no day', '2026-08-15', twoDays, 0],
  ])('that %s on %s with %j records them first %i times', async (_, date, days, times) => {
    const seen = itemOf({ usage: { total: 3, date, mark: 1, days, byKey: {}, daysByKey: {} } });
    const { attempt, attempts, recorded } = scripted([seen, { charged: itemOf() }]);
    await attempt();
    expect(recorded).toEqual(Array(times).fill(seen));
    expect(attempts[1]?.roll).toEqual({ seen, windows: [] });
  });
});
