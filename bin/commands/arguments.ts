import { AdminError } from '../../lambdas/shared/admin/admin-error.ts';
import {
  checkAccountId,
  checkKeyId,
  checkLabel,
  checkOwnLimits,
  checkPlanCode,
  checkShards,
  checkWindow,
} from '../../lambdas/shared/admin/check.ts';
import type { OwnLimitChanges } from '../../lambdas/shared/admin/effective-limits.ts';
import { UsageError } from './command-error.ts';

/** These give their argument back when the admin module could take it, and throw `UsageError` before anything is tried. */
export const accountId = checked(checkAccountId);
export const planCode = checked(checkPlanCode);
export const keyId = checked(checkKeyId);
export const label = checked(checkLabel);

/** Reads a number of quota shards. */
export function shardCount(text: string): number {
  return checked(checkShards)(/^\d{1,3}$/.test(text) ? Number(text) : Number.NaN);
}

/** Gathers an option that may be given many times. */
export function collect(value: string, previous: string[] = []): string[] {
  return [...previous, value];
}

/** Reads how many are wanted, 1 to 10,000. */
export function count(text: string): number {
  if (/^[1-9]\d{0,3}$|^10000$/.test(text)) return Number(text);
  throw new UsageError('--last takes a number, 1 to 10000.');
}

/** Reads `['minute=60', 'month=unlimited']`; `day=plan` only where an account's own limits are meant. */
export function parseLimits(texts: string[], { plan }: { plan: boolean }): OwnLimitChanges {
  const limits: OwnLimitChanges = {};
  for (const text of texts) {
    const [, window, value] = /^([^=]*)=(.*)$/s.exec(text) ?? [];
    if (!window || !value) throw new UsageError(`--limit takes WINDOW=NUMBER, like day=5000, not "${text}".`);
    const name = checked((given: string) => checkWindow(given))(window) as keyof OwnLimitChanges;
    if (name in limits) throw new UsageError(`--limit ${name}=... is given twice; which of the two is meant?`);
    limits[name] = parseLimit(value, plan, text);
  }
  checked(checkOwnLimits)(limits);
  return limits;
}

function parseLimit(value: string, plan: boolean, text: string): number | null | 'plan' {
  if (value === 'unlimited') return null;
  if (value === 'plan' && plan) return 'plan';
  if (/^\d{1,15}$/.test(value)) return Number(value);
  const also = plan ? ', "unlimited", or "plan" for the limit of the plan' : ' or "unlimited"';
  throw new UsageError(`--limit ${text}: a limit is a whole number of requests${also}.`);
}

function checked<T>(check: (value: T) => void): (value: T) => T {
  return (value) => {
    try {
      check(value);
    } catch (error) {
      if (error instanceof AdminError) throw new UsageError(error.message, { cause: error });
      throw error;
    }
    return value;
  };
}
