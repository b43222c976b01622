import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { type Admin, createAdmin } from '../../../../packages/admin/admin.ts';
import { type AdminBench, checksumSecret } from './admin-bench.ts';

class Died extends Error {}

/** The same client for `calls` calls; then the process is gone. */
function dyingAfter(client: DynamoDBDocumentClient, calls: number): DynamoDBDocumentClient {
  let left = calls;
  return new Proxy(client, {
    get(target, name) {
      const value = Reflect.get(target, name) as unknown;
      if (name !== 'send' || typeof value !== 'function') return value;
      return (...sent: unknown[]) => (left-- > 0 ? value.apply(target, sent) : Promise.reject(new Died()));
    },
  });
}

/** Runs `work` with an admin that dies after 0, 1, 2, ... calls, and `check` after each death, until it lives. */
async function dieEverywhere(
  bench: AdminBench,
  what: string,
  prepare: (name: string) => Promise<void>,
  work: (admin: Admin, name: string) => Promise<unknown>,
  check: (name: string) => Promise<void>,
): Promise<number> {
  for (let calls = 0; ; calls++) {
    const name = `${what}-${calls}`;
    await prepare(name);
    const client = dyingAfter(bench.client, calls);
    const admin = createAdmin({ client, table: bench.table, checksumSecret, now: () => bench.clock.now });
    const outcome = await work(admin, name).catch((error: unknown) => error);
    if (!(outcome instanceof Died)) {
      if (outcome instanceof Error) throw outcome;
      return calls;
    }
    await check(name);
  }
}

/** `dieEverywhere` on the tables of a bench. */
export function deathsOf(bench: AdminBench) {
  return (...given: Parameters<typeof dieEverywhere> extends [AdminBench, ...infer Rest] ? Rest : never) =>
    dieEverywhere(bench, ...given);
}

export type Deaths = ReturnType<typeof deathsOf>;
