import type { Access } from '../../core/accounts/account.ts';

/** An active account on an active plan, without keys, limits or use, but for what `parts` say. */
export function accessOf(parts: Partial<Access>): Access {
  return {
    account: 'a',
    state: 'active',
    plan: 'p',
    planState: 'active',
    planVersion: 1,
    keys: {},
    ownLimits: {},
    quota: {},
    keyLimits: {},
    keyUnits: {},
    usage: { date: '1970-01-01', lookups: 0, days: {}, byKey: {}, daysByKey: {} },
    created: 0,
    version: 1,
    ...parts,
  };
}
