import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Command, InvalidArgumentError } from 'commander';
import { readLocalState } from '../../local/data-folder.ts';
import { readyText, start } from '../../test/support/start.ts';

/** What `npm start` may take up, without the engine, which is a process of its own. */
const limitMegabytes = 300;
const connections = 8;
/** Requests of every kind: without a key, with a wrong one, invalid ones, over the limit, and lookups. */
const paths = [
  '/v1/openapi.json',
  '/v1/address?postcode=1381AA&huisnummer=9',
  '/v1/address?postcode=1012&huisnummer=0',
  '/v1/auth/validate',
  '/v1/none',
  '/docs',
];

const command = new Command('npm run soak --')
  .description('Sends requests to "npm start" without a pause, and fails when its resident memory exceeds 300 MB')
  .option('--minutes <number>', 'how long', minutes, 10)
  .exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : 2))
  .action(soak);
await command.parseAsync();

function minutes(text: string): number {
  if (Number(text) > 0) return Number(text);
  throw new InvalidArgumentError('Use a number of minutes above 0.');
}

async function soak(options: { minutes: number }): Promise<void> {
  const data = await mkdtemp(join(tmpdir(), 'soak-'));
  const service = start(['--port', '0', '--data', data], { npm: true });
  try {
    const output = await service.until(readyText);
    const key = /bagadres_demo_\w+/.exec(output)?.[0] ?? '';
    const base = /http:\/\/[\w.]+:\d+/.exec(output)?.[0] ?? '';
    const { pid } = await readLocalState(data);
    const deadline = Date.now() + options.minutes * 60_000;
    const statuses = new Map<number, number>();
    const clients = Array.from({ length: connections }, (_, offset) => client(base, key, offset, deadline, statuses));
    const memory = watchMemory(pid, deadline);
    await Promise.all(clients);
    const { peak, end } = await memory;
    const requests = [...statuses.values()].reduce((total, count) => total + count, 0);
    console.log(
      JSON.stringify({ requests, statuses: Object.fromEntries(statuses), peakMegabytes: peak, endMegabytes: end }),
    );
    if (peak <= limitMegabytes) return;
    console.error(`The resident memory reached ${peak} MB; the limit is ${limitMegabytes} MB.`);
    process.exitCode = 1;
  } finally {
    service.child.kill('SIGINT');
    await service.ended;
    await rm(data, { recursive: true });
  }
}

async function client(
  base: string,
  key: string,
  offset: number,
  deadline: number,
  statuses: Map<number, number>,
): Promise<void> {
  for (let count = offset; Date.now() < deadline; count++) {
    const headers: Record<string, string> = count % 5 === 0 ? {} : { 'x-api-key': key };
    const response = await fetch(base + paths[count % paths.length], { headers });
    await response.arrayBuffer();
    statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1);
  }
}

/** The resident memory of a process in MB, of which the highest and the last value; printed now and then. */
async function watchMemory(pid: number, deadline: number): Promise<{ peak: number; end: number }> {
  let peak = 0;
  let end = 0;
  for (let second = 0; Date.now() < deadline; second++) {
    end = await residentMegabytes(pid);
    peak = Math.max(peak, end);
    if (second % 30 === 0) console.log(`${second} s: ${end} MB`);
    await sleep(1_000);
  }
  return { peak, end };
}

async function residentMegabytes(pid: number): Promise<number> {
  const [, kilobytes] = /^VmRSS:\s+(\d+) kB/m.exec(await readFile(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Math.round(Number(kilobytes) / 1024);
}
