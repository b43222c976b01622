import type { Access } from '../../core/accounts/account.ts';

/** A shard of an active account on an active plan, without keys, limits or use, but for what `parts` say. */
export function accessOf(parts: Partial<Access>): Access {
  return {
    account: 'a',
    shard: 0,
    shards: 1,
    sharded: false,
    state: 'active',
    plan: 'p',
    planState: 'active',
    planVersion: 1,
    keys: {},
    ownLimits: {},
    quota: {},
    dropped: {},
    attempts: [],
    sent: 0,
    usage: { total: 0, date: '1970-01-01', mark: 0, days: {}, byKey: {}, daysByKey: {} },
    created: 0,
    version: 1,
    moves: 0,
    ...parts,
  };
}
