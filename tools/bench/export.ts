import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { QueryCommand } from '@aws-sdk/client-dynamodb';
import { dateOf, daySeconds, monthOf } from '../../core/calendar.ts';
import { forEachConcurrently } from '../../core/concurrency.ts';
import { writeLocalState } from '../../local/data-folder.ts';
import { localDynamoDb } from '../../local/engine/client.ts';
import { startEngine } from '../../local/engine/engine.ts';
import { recordsQuery } from '../../packages/admin/accounts/usage.ts';
import { sendPlainly } from '../../test/support/plain-client.ts';
import type { Benchmark } from './benchmark.ts';
import { idOf, lookupsOn, seedDatabase } from './export-parts/seed.ts';
import { cpuMilliseconds, rounded } from './measure.ts';

const accounts = 20_000;
const table = 'accounts';
const concurrency = 16;

type Run = { seconds: number; cpu_seconds: number; peak_memory_mb: number };

/**
 * `bag-adres usage export` of a month of 20,000 accounts that all used the service every day, as a process: before the
 * month is closed, from the records of each account, and after, from its statements. The reference is one bare HTTP
 * request to the engine for the records of each account, without the SDK. The engine's own work is in all seconds.
 */
export const benchmark: Benchmark = {
  async run() {
    await using resources = new AsyncDisposableStack();
    const folder = await mkdtemp(join(tmpdir(), 'bench-export-'));
    resources.defer(() => rm(folder, { recursive: true }));
    const month = lastMonth();
    const database = await seedDatabase(folder, table, { accounts, ...month });
    const engine = await startEngine(database);
    resources.defer(() => engine.stop());
    const tables = { accountsTable: table, addressesTable: 'addresses' };
    await writeLocalState(folder, {
      ...tables,
      ...{ pid: process.pid, baseUrl: 'http://127.0.0.1:1', endpoint: engine.endpoint },
      ...{ checksumSecret: 'of the benchmark', storageFolder: folder },
    });
    const name = month.from.slice(0, 7);
    const reference = await readAll(engine.endpoint, month);
    const open = await command(folder, ['usage', 'export', '--month', name, '--csv']);
    const byDay = await command(folder, ['usage', 'export', '--month', name, '--by', 'day', '--csv']);
    const close = await command(folder, ['usage', 'close', '--month', name]);
    const closed = await command(folder, ['usage', 'export', '--month', name, '--csv']);
    return {
      ...{ accounts, days: month.days, limit_seconds: 20, limit_memory_mb: 150 },
      ...{ reference, open, open_by_day: byDay, close, closed },
      seconds_ratio_to_reference: rounded(open.seconds / reference.seconds, 3),
      cpu_ratio_to_reference: rounded(open.cpu_seconds / reference.cpu_seconds, 3),
    };
  },
};

/** The last whole month, whose usage is all recorded. */
function lastMonth(): { from: string; to: string; days: number } {
  const first = `${dateOf(Date.now() / 1000).slice(0, 7)}-01`;
  const month = dateOf(Date.parse(first) / 1000 - daySeconds).slice(0, 7);
  const range = monthOf(month);
  if (!range) throw new Error(`${month} is no month.`);
  return { ...range, days: Number(range.to.slice(8)) };
}

/** Reads the same items without the SDK, and checks their sum. */
async function readAll(endpoint: string, range: { from: string; to: string }) {
  const client = localDynamoDb(endpoint);
  sendPlainly(client, endpoint);
  const [cpu, begin] = [cpuMilliseconds(), performance.now()];
  let lookups = 0;
  await forEachConcurrently(Array(accounts).keys(), concurrency, async (i) => {
    const { ExpressionAttributeValues: values, ...query } = recordsQuery(table, idOf(i), range, ['item', 'lookups']);
    const raw = Object.fromEntries(Object.entries(values).map(([name, S]) => [name, { S }]));
    const { Items = [] } = await client.send(new QueryCommand({ ...query, ExpressionAttributeValues: raw }));
    for (const item of Items) lookups += Number(item.lookups?.N);
  });
  const run = { seconds: seconds(begin), cpu_seconds: rounded((cpuMilliseconds() - cpu) / 1000, 3), lookups };
  client.destroy();
  return run;
}

const seconds = (begin: number) => rounded((performance.now() - begin) / 1000, 3);

/** Runs a command as its user does, with what it prints in a file. */
async function command(folder: string, args: string[]): Promise<Run> {
  const [output, used] = [join(folder, 'output'), join(folder, 'used.json')];
  const preload = ['--import', join(import.meta.dirname, 'export-parts/report-usage.js')];
  const begin = performance.now();
  const child = spawn(process.execPath, [...preload, 'local/launch.js', ...args, '--local', '--data', folder], {
    env: { ...process.env, USAGE_FILE: used },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [[code]] = await Promise.all([once(child, 'exit'), pipeline(child.stdout, createWriteStream(output))]);
  const run = { seconds: seconds(begin), ...JSON.parse(await readFile(used, 'utf8')) };
  if (code !== 0) throw new Error(`bag-adres ${args.join(' ')} ended with ${code}.`);
  if (args[1] === 'export') await check(output);
  return run;
}

/** Every account is there, with what it used. */
async function check(output: string): Promise<void> {
  const sums = new Map<string, number>();
  for (const line of (await readFile(output, 'utf8')).trimEnd().split('\n').slice(1)) {
    const [id = '', , lookups] = line.split(',');
    sums.set(id, (sums.get(id) ?? 0) + Number(lookups));
  }
  const month = lastMonth();
  for (let i = 0; i < accounts; i++) {
    let used = 0;
    for (let day = 1; day <= month.days; day++)
      used += lookupsOn(i, `${month.from.slice(0, 8)}${String(day).padStart(2, '0')}`);
    if (sums.get(idOf(i)) !== used) throw new Error(`${idOf(i)} used ${used}, not ${sums.get(idOf(i))}.`);
  }
}
