import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, it } from '@jest/globals';
import { keyCode } from '../../../../core/accounts/account.ts';
import { issueApiKey, readApiKey } from '../../../../core/accounts/api-key.ts';
import { attemptAt } from '../../../../core/accounts/charge/charge.ts';
import { chargeCommand } from '../../../../core/accounts/charge/charge-command.ts';
import { daySeconds, secondsOf, type WindowName, windowNames } from '../../../../core/calendar.ts';
import { startAdmin } from '../../../packages/admin/accounts/admin-bench.ts';
import { accessOf } from '../../../support/access.ts';
import { testChecksumSecret } from '../../../support/dynamodb.ts';
import { startForTests } from '../../../support/start-for-tests.ts';

const { claim } = issueApiKey('a'.repeat(32), 'any secret');
const now = secondsOf('2026-11-21');
const day = { start: secondsOf('2026-11-20'), used: 1, limit: 1 };
const subsets = Array.from({ length: 2 ** windowNames.length }, (_, bits) =>
  windowNames.filter((_window, at) => Math.floor(bits / 2 ** at) % 2 === 1),
);

describe('the condition of a charge', () => {
  it('takes a quarter of the 4 KB that DynamoDB accepts, whichever windows begin, for one unit and for many', () => {
    const commands = subsets.flatMap((restarts) =>
      [1, 100].map((units) => {
        const returned = accessOf({ quota: { day } });
        const attempt = { ...attemptAt(claim, units, now), returned, restarts };
        return chargeCommand('accounts', attempt, { windows: {}, keys: {} });
      }),
    );
    const bytes = commands.map(({ ConditionExpression = '' }) =>
      Buffer.byteLength(ConditionExpression),
    );
    expect(Math.min(...bytes)).toBeGreaterThan(300);
    expect(Math.max(...bytes)).toBeLessThanOrEqual(1024);
    for (const { UpdateExpression } of commands) {
      expect(Buffer.byteLength(UpdateExpression)).toBeLessThanOrEqual(1024);
    }
  });
});

describe('the condition on the limit of a key', () => {
  const bench = startForTests(startAdmin);

  /** Charges a key with a limit of 3 and a count of 1 today: whether the condition held. */
  async function admits(id: string, units: number, { seen = 3, isNextDay = false } = {}) {
    const { admin, clock, client, table, request } = bench;
    await admin.plans.put({ code: 'any', limits: { day: null } });
    await admin.accounts.create({ id, plan: 'any' });
    const { key } = await admin.keys.create({ account: id, label: 'k', limitPerDay: 3 });
    expect(await request(key)).toBe('charged');
    const claim = readApiKey(key, [testChecksumSecret]);
    if (!claim) throw new Error('a key of this deployment');
    const today = Math.floor(clock.now / 1000);
    const start = today - (today % daySeconds);
    const returned = accessOf({ quota: { day: { start, used: 1, limit: Infinity } } });
    const attempt = {
      ...attemptAt(claim, units, isNextDay ? today + daySeconds : today),
      ...(isNextDay ? { returned, restarts: ['day'] as WindowName[] } : {}),
    };
    const limits = { windows: { day: null }, keys: { [keyCode(claim.keyId)]: seen } };
    try {
      await client.send(new UpdateCommand(chargeCommand(table, attempt, limits)));
      return true;
    } catch (error) {
      expect((error as Error).name).toBe('ConditionalCheckFailedException');
      return false;
    }
  }

  it('admits what is left of it today', async () => {
    expect([await admits('a2', 2), await admits('a3', 3)]).toEqual([true, false]);
  });

  it('does not hold if another limit was seen', async () => {
    expect(await admits('b', 2, { seen: 9 })).toBe(false);
  });

  it('admits all of it on the next day, and no more', async () => {
    const nextDay = { isNextDay: true };
    expect([await admits('c3', 3, nextDay), await admits('c4', 4, nextDay)]).toEqual([true, false]);
  });
});
