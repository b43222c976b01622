import { describe, expect, it } from '@jest/globals';
import { type AccessStore, charge } from '../../../../lambdas/shared/accounts/charge.ts';
import { StoreUnavailable } from '../../../../lambdas/shared/dynamodb.ts';
import { accessOf } from '../../../support/access.ts';

const noon = Date.UTC(2026, 7, 15, 12) / 1000;
const claim = { account: 'a', keyId: 'k', hash: new Uint8Array(16) };

/** A store in which something else changes the item before each write, though there is quota. */
function contended() {
  let writes = 0;
  const access = accessOf({
    keys: { k: claim.hash },
    quota: { hour: { start: noon, used: 0, limit: 10 } },
    shard: 0,
    shards: 1,
  });
  const store: Pick<AccessStore, 'charge' | 'recordDays'> = {
    charge: async () => {
      writes++;
      return { charged: false, access, shard: 0 };
    },
    recordDays: async () => undefined,
  };
  const attempt = (signal: AbortSignal) => charge(store as AccessStore, claim, () => noon + 1, signal);
  return { attempt, writes: () => writes };
}

describe('a charge of an account that something else keeps changing', () => {
  it('is given up after eight writes', async () => {
    const { attempt, writes } = contended();
    await expect(attempt(AbortSignal.timeout(5_000))).rejects.toThrow(StoreUnavailable);
    expect(writes()).toBe(8);
  });

  it('is given up without another write when the time for the request is over', async () => {
    const { attempt, writes } = contended();
    await expect(attempt(AbortSignal.abort())).rejects.toThrow(StoreUnavailable);
    expect(writes()).toBe(0);
  });
});
