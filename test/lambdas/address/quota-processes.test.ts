import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { type AddressService, newAccount, startAddressService } from '../../support/address-service.ts';
import { shardedAccount } from '../../support/shards.ts';

const script = fileURLToPath(new URL('../../support/lookup-burst.ts', import.meta.url));
let service: AddressService;

beforeAll(async () => {
  service = await startAddressService();
});
afterAll(() => service.stop());

async function startProcess(key: string, count: number, skew: number): Promise<ChildProcess> {
  const child = spawn(process.execPath, [script, service.endpoint, key, String(count), String(skew)], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: process.env, // the sandbox's, in which the log lines are off
  });
  await once(child.stdout as NonNullable<typeof child.stdout>, 'data');
  return child;
}

/** The statuses of `count` lookups from each of several processes that start at once. */
async function burst(key: string, count: number, skews: number[]): Promise<Record<string, number>> {
  const children = await Promise.all(skews.map((skew) => startProcess(key, count, skew)));
  const outputs = children.map((child) => text(child.stdout as NonNullable<typeof child.stdout>));
  for (const child of children) child.stdin?.write('go\n');
  const total: Record<string, number> = {};
  for (const output of await Promise.all(outputs)) {
    for (const [status, n] of Object.entries(JSON.parse(output) as Record<string, number>)) {
      total[status] = (total[status] ?? 0) + n;
    }
  }
  return total;
}

it('admits exactly the limit from several concurrent processes', async () => {
  const { id, key } = await newAccount(service, { hour: 150, day: 137, month: 5000 });
  const total = await burst(key, 100, [0, 0, 0]);
  expect(total).toEqual({ 200: 137, 429: 163 });
  const { windows } = await service.admin.accounts.show(id);
  expect([windows.hour?.used, windows.day?.used, windows.month?.used]).toEqual([137, 137, 137]);
}, 60_000);

it('holds exactly for processes whose clocks differ', async () => {
  const { key } = await newAccount(service, { month: 60 });
  const first = await burst(key, 40, [0, 0.5, -0.5]);
  expect(first).toEqual({ 200: 60, 429: 60 });
}, 60_000);

it('holds exactly over quota shards, which each process discovers itself', async () => {
  const { id, key } = await shardedAccount(service, { day: 70, month: 75 }, 4);
  expect(await burst(key, 40, [0, 0, 0])).toEqual({ 200: 70, 429: 50 });
  const { windows } = await service.admin.accounts.show(id);
  expect([windows.day?.used, windows.month?.used]).toEqual([70, 70]);
}, 60_000);
