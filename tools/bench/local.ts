import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { Agent } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readLocalState } from '../../local/data-folder.ts';
import {
  lambdaEnvironment,
  newAccount,
  startAddressService,
} from '../../test/support/address-service.ts';
import { readyText, start } from '../../test/support/start.ts';
import { administer, type Lookup, lookUp } from '../local-run.ts';
import type { Benchmark } from './benchmark.ts';
import { inTurn, median, pairedRatio, processStat, rounded } from './measure.ts';

const callers = 50;
const warmUp = 6_000;
const rounds = 7;
const lookupsARound = 2_000;

/** A server in a process of its own, and a lookup that it answers with 200. */
type Contender = Lookup & { pid: number };

/**
 * CPU of a lookup from `npm start` with 50 callers, against a bare server of Node's that makes the
 * same two SDK calls. It is the CPU of the server's process with all its threads, without the
 * engine and the callers.
 */
export const benchmark: Benchmark = {
  async run() {
    await using resources = new AsyncDisposableStack();
    const bare = await startBare(resources);
    const service = await startService(resources);
    const contenders = { service, bare };
    for (const contender of Object.values(contenders)) await send(contender, warmUp);
    const seconds: Record<string, number[]> = { service: [], bare: [] };
    const measured = (name: keyof typeof contenders) => async () => {
      const contender = contenders[name];
      const cpu = processStat(contender.pid).cpuMilliseconds;
      const begin = performance.now();
      await send(contender, lookupsARound);
      seconds[name]?.push((performance.now() - begin) / 1000);
      return (processStat(contender.pid).cpuMilliseconds - cpu) / lookupsARound;
    };
    const cpu = await inTurn(rounds, { service: measured('service'), bare: measured('bare') });
    const perSecond = (name: string) => rounded(lookupsARound / median(seconds[name] ?? []), 3);
    return {
      callers,
      lookups: rounds * lookupsARound,
      cpu_ms_service: rounded(median(cpu.service), 3),
      cpu_ms_bare: rounded(median(cpu.bare), 3),
      cpu_ratio_to_bare: rounded(pairedRatio(cpu.service, cpu.bare), 3),
      lookups_per_second_service: perSecond('service'),
      lookups_per_second_bare: perSecond('bare'),
    };
  },
};

export const limits = { day: 1e9, month: null }; // no window that ends during the run

/** `npm start` on a new folder, as a user starts it. */
async function startService(resources: AsyncDisposableStack): Promise<Contender> {
  const data = await mkdtemp(join(tmpdir(), 'bench-local-'));
  resources.defer(() => rm(data, { recursive: true }));
  const service = start(['--port', '0', '--data', data], { line: 'npm start' });
  resources.defer(async () => {
    service.child.kill('SIGINT');
    await service.ended;
  });
  await service.until(readyText);
  service.child.stdout?.removeAllListeners('data').resume(); // a line for each request
  const state = await readLocalState(data);
  const { key } = await administer(state, (admin) => newAccount({ admin }, limits));
  const { pid, baseUrl } = state;
  return { pid, key, url: `${baseUrl}/v1/address?postcode=1381AA&huisnummer=9&toevoeging=a` };
}

/**
 * The bare server, with an engine of its own that keeps a file too: one in memory answers sooner,
 * for less CPU.
 */
export async function startBare(resources: AsyncDisposableStack): Promise<Contender> {
  const data = await mkdtemp(join(tmpdir(), 'bench-local-'));
  resources.defer(() => rm(data, { recursive: true }));
  const tables = await startAddressService({ databaseFile: join(data, 'dynamodb.sqlite') });
  resources.defer(tables.stop);
  const { key } = await newAccount(tables, limits);
  const program = fileURLToPath(new URL('local-parts/bare-server.ts', import.meta.url));
  const child = spawn(process.execPath, [program], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, ...lambdaEnvironment(tables.endpoint) },
  });
  resources.defer(async () => {
    child.kill();
    await once(child, 'close');
  });
  const [printed] = await once(child.stdout, 'data');
  const port = /port (\d+)/.exec(String(printed))?.[1];
  return { pid: child.pid ?? 0, key, url: `http://127.0.0.1:${port}/` };
}

const agent = new Agent({ keepAlive: true, maxSockets: callers });

/** Sends lookups, as many at once as there are callers. */
async function send(contender: Contender, lookups: number): Promise<void> {
  let left = lookups;
  const call = async () => {
    while (left-- > 0) await lookUp(contender, agent);
  };
  await Promise.all(Array.from({ length: callers }, call));
}
