import { describe, expect, it } from '@jest/globals';
import { issueApiKey } from '../../../../core/accounts/api-key.ts';
import { attemptAt } from '../../../../core/accounts/charge/charge.ts';
import { chargeCommand } from '../../../../core/accounts/charge/charge-command.ts';
import { secondsOf, windowNames } from '../../../../core/calendar.ts';
import { accessOf } from '../../../support/access.ts';

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
