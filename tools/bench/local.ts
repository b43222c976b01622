import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { Agent, get, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { environment } from '../../core/names.ts';
import { readLocalState } from '../../local/data-folder.ts';
import { localDynamoDb } from '../../local/engine/client.ts';
import { localAws } from '../../local/engine/engine.ts';
import { createAdmin } from '../../packages/admin/admin.ts';
import { newAccount, startAddressService, testChecksumSecret, testTables } from '../../test/support/address-service.ts';
import { readyText, start } from '../../test/support/start.ts';
import type { Benchmark } from './benchmark.ts';
import { inTurn, median, pairedRatio, rounded } from './measure.ts';

const callers = 50;
const warmUp = 6_000;
const rounds = 7;
const lookupsARound = 2_000;

/** A server in a process of its own, and a lookup that it answers with 200. */
type Contender = { pid: number; url: string; key: string };

/**
 * CPU of a lookup from `npm start` with 50 callers, against a bare server of Node's that makes the same two SDK calls.
 * It is the CPU of the server's process with all its threads, without the engine and the callers.
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
      const [cpu, begin] = [await cpuMillisecondsOf(contender.pid), performance.now()];
      await send(contender, lookupsARound);
      seconds[name]?.push((performance.now() - begin) / 1000);
      return ((await cpuMillisecondsOf(contender.pid)) - cpu) / lookupsARound;
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
  plot: (figures) => ({
    title: 'CPU of one lookup on one machine',
    unit: 'ms',
    bars: [
      { label: 'npm start', value: Number(figures.cpu_ms_service) },
      { label: 'a bare server with the two SDK calls', value: Number(figures.cpu_ms_bare), isReference: true },
    ],
  }),
};

const limits = { day: 1e9, month: null }; // no window that ends during the run

/** `npm start` on a new folder, as a user starts it. */
async function startService(resources: AsyncDisposableStack): Promise<Contender> {
  const data = await mkdtemp(join(tmpdir(), 'bench-local-'));
  resources.defer(() => rm(data, { recursive: true }));
  const service = start(['--port', '0', '--data', data], { npm: true });
  resources.defer(async () => {
    service.child.kill('SIGINT');
    await service.ended;
  });
  await service.until(readyText);
  service.child.stdout?.removeAllListeners('data').resume(); // a line for each request
  const { pid, baseUrl, endpoint, accessKeyId, accountsTable, checksumSecret } = await readLocalState(data);
  const client = localDynamoDb(endpoint, accessKeyId);
  resources.defer(() => client.destroy());
  const admin = createAdmin({ client: DynamoDBDocumentClient.from(client), table: accountsTable, checksumSecret });
  const { key } = await newAccount({ admin }, limits);
  return { pid, key, url: `${baseUrl}/v1/address?postcode=1381AA&huisnummer=9&toevoeging=a` };
}

/** The bare server, with an engine of its own that keeps a file too: one in memory answers sooner, for less CPU. */
async function startBare(resources: AsyncDisposableStack): Promise<Contender> {
  const data = await mkdtemp(join(tmpdir(), 'bench-local-'));
  resources.defer(() => rm(data, { recursive: true }));
  const tables = await startAddressService({ databaseFile: join(data, 'dynamodb.sqlite') });
  resources.defer(tables.stop);
  const { key } = await newAccount(tables, limits);
  const program = fileURLToPath(new URL('local-parts/bare-server.ts', import.meta.url));
  const { region, credentials } = localAws;
  const child = spawn(process.execPath, [program], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      ...process.env,
      AWS_REGION: region,
      AWS_ACCESS_KEY_ID: credentials.accessKeyId,
      AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
      AWS_ENDPOINT_URL_DYNAMODB: tables.endpoint,
      [environment.accountsTable]: testTables.accounts,
      [environment.addressesTable]: testTables.addresses,
      [environment.keyChecksumSecret]: testChecksumSecret,
    },
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
    while (left-- > 0) await lookUp(contender);
  };
  await Promise.all(Array.from({ length: callers }, call));
}

async function lookUp({ url, key }: Contender): Promise<void> {
  const request = get(url, { agent, headers: { 'x-api-key': key } });
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  const body = await text(response);
  if (response.statusCode !== 200) throw new Error(`${url} was answered ${response.statusCode}: ${body}`);
}

/** CPU of another process, user and system, all threads. Linux counts it in hundredths of a second. */
async function cpuMillisecondsOf(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => {
    throw new Error('This benchmark reads the CPU of other processes from /proc, which only Linux has.');
  });
  const [user = 0, system = 0] = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 13)
    .map(Number);
  return (user + system) * 10;
}
