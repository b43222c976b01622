import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface, type Interface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { type AddressService, newAccount, startAddressService } from '../../support/address-service.ts';
import type { Burst } from '../../support/lookup-burst.ts';

const script = fileURLToPath(new URL('../../support/lookup-burst.ts', import.meta.url));
type Worker = { child: ChildProcessByStdio<Writable, Readable, null>; lines: Interface; exit: Promise<unknown> };
let service: AddressService;
let workers: Worker[] = [];

beforeAll(async () => {
  service = await startAddressService();
  workers = [1, 2, 3].map(() => {
    const child = spawn(process.execPath, [script, service.endpoint], {
      stdio: ['pipe', 'pipe', 'inherit'],
      env: process.env, // the sandbox's, in which the log lines are off
    });
    return { child, lines: createInterface(child.stdout), exit: once(child, 'exit') };
  });
  await Promise.all(workers.map(({ lines }) => once(lines, 'line')));
});
afterAll(async () => {
  for (const { child } of workers) child.stdin.end();
  await Promise.all(workers.map(({ exit }) => exit));
  await service.stop();
});

/** The statuses of `count` lookups from each of several processes that begin at once. */
async function burst(key: string, count: number, skews: [number, number, number]): Promise<Record<string, number>> {
  const outputs = workers.map(({ lines }) => once(lines, 'line'));
  for (const [i, { child }] of workers.entries()) {
    child.stdin.write(`${JSON.stringify({ key, count, skew: skews[i] ?? 0 } satisfies Burst)}\n`);
  }
  const total: Record<string, number> = {};
  for (const [line] of await Promise.all(outputs)) {
    for (const [status, n] of Object.entries(JSON.parse(line) as Record<string, number>)) {
      total[status] = (total[status] ?? 0) + n;
    }
  }
  return total;
}

it('quota admits exactly the limit from several concurrent processes', async () => {
  const { id, key } = await newAccount(service, { hour: 150, day: 137, month: 5000 });
  const total = await burst(key, 50, [0, 0, 0]);
  expect(total).toEqual({ 200: 137, 429: 13 });
  const { windows } = await service.admin.accounts.show(id);
  expect([windows.hour?.used, windows.day?.used, windows.month?.used]).toEqual([137, 137, 137]);
});

it('quota holds exactly for processes whose clocks differ', async () => {
  const { key } = await newAccount(service, { month: 60 });
  const first = await burst(key, 30, [0, 0.5, -0.5]);
  expect(first).toEqual({ 200: 60, 429: 30 });
});
