import type { Admin } from '../../../../packages/admin/admin.ts';
import { isFullSweep } from '../../../support/sweep.ts';
import { type AdminBench, adminWith } from './admin-bench.ts';

export class Died extends Error {}

/** An admin whose process is gone after `calls` calls. */
export function dyingAdmin(bench: AdminBench, calls: number): Admin {
  let left = calls;
  return adminWith(bench, (_, send) => (left-- > 0 ? send() : Promise.reject(new Died())));
}

/**
 * Runs `work` with an admin that dies after 0, 1, 2, ... calls, in a full sweep, and `check` after
 * each death, until it lives. Otherwise it dies after every third.
 */
export async function dieEverywhere(
  bench: AdminBench,
  what: string,
  prepare: (name: string) => Promise<void>,
  work: (admin: Admin, name: string) => Promise<unknown>,
  check: (name: string) => Promise<void>,
): Promise<number> {
  for (let calls = 0; ; calls += isFullSweep ? 1 : 3) {
    const name = `${what}-${calls}`;
    await prepare(name);
    const outcome = await work(dyingAdmin(bench, calls), name).catch((error: unknown) => error);
    if (!(outcome instanceof Died)) {
      if (outcome instanceof Error) throw outcome;
      return calls;
    }
    await check(name);
  }
}
