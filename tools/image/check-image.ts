/**
 * Builds the container image of the Dockerfile and runs it as the README says, not as root and with
 * a read-only root file system: `npm run check:image`.
 */
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

const root = resolve(import.meta.dirname, '../..');
const run = promisify(execFile);
const name = 'bag-adres-check';
const mostBytes = 350_000_000;
/** On a machine that does nothing else it takes a few. */
const startSeconds = 180;

/** What git has: what lies around in a working copy is no part of an image. */
async function contextOf(folder: string): Promise<string> {
  const { stdout } = await run('git', ['ls-files', '-z'], {
    cwd: root,
    maxBuffer: 64 * 1024 * 1024,
  });
  for (const file of stdout.split('\0').filter(Boolean)) {
    cpSync(join(root, file), join(folder, file));
  }
  return folder;
}

/** Builds the image of the Dockerfile. @returns its size in bytes */
async function build(context: string): Promise<number> {
  await run('docker', ['build', '--tag', name, context], { maxBuffer: 64 * 1024 * 1024 });
  const { stdout } = await run('docker', ['image', 'inspect', '--format', '{{.Size}}', name]);
  return Number(stdout);
}

type RunningContainer = Awaited<ReturnType<typeof start>>;

/** Runs the image. Its data, mounted at /data, are kept from one start to the next. */
async function start() {
  const data = ['--volume', `${name}:/data`];
  const options = [
    '--rm',
    '--read-only',
    '--tmpfs',
    '/tmp',
    '--publish',
    '127.0.0.1::3000',
    ...data,
  ];
  const child = spawn('docker', ['run', '--name', name, ...options, name], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let log = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (log += chunk));
  const ended = once(child, 'exit');
  const inContainer = async (...command: string[]) =>
    (await run('docker', ['exec', name, ...command])).stdout;
  const address = async (): Promise<string> =>
    await run('docker', ['port', name, '3000/tcp']).then(({ stdout }) => stdout.trim(), address);
  return {
    baseUrl: `http://${await address()}`,
    log: () => log,
    userId: async () => Number(await inContainer('id', '-u')),
    /** The command of HEALTHCHECK, run in it: whether it ended with 0. */
    isHealthy: async () => {
      const { stdout } = await run('docker', [
        'inspect',
        '--format',
        '{{json .Config.Healthcheck.Test}}',
        name,
      ]);
      const [, ...command] = JSON.parse(stdout);
      return await inContainer(...command).then(
        () => true,
        () => false,
      );
    },
    /** SIGTERM, and SIGKILL 10 seconds later. Gives the exit code. */
    stop: async () => {
      await run('docker', ['stop', '--time', '10', name]);
      const [code] = await ended;
      return code;
    },
  };
}

async function clear(): Promise<void> {
  await run('docker', ['rm', '--force', name]).catch(() => undefined);
  await run('docker', ['volume', 'rm', '--force', name]);
  await run('docker', ['image', 'rm', '--force', name]);
}

async function started(container: RunningContainer): Promise<string> {
  for (let second = 0; second < startSeconds; second++) {
    const key = /X-API-Key: (\w+)/.exec(container.log())?.[1];
    if (key && /Press Ctrl-C/.test(container.log())) return key;
    assert(!/Error|exit/i.test(container.log()), container.log());
    await sleep(1_000);
  }
  throw new Error(`it has not started in ${startSeconds} seconds:\n${container.log()}`);
}

async function lookUp({ baseUrl }: RunningContainer, key: string): Promise<unknown> {
  const response = await fetch(`${baseUrl}/v1/address?postcode=1381AA&huisnummer=9&toevoeging=a`, {
    headers: { 'x-api-key': key },
  });
  return await response.json();
}

function report(line: string): void {
  process.stdout.write(`${line}\n`);
}

await run('docker', ['info']).catch(() => {
  throw new Error('Install Docker and start its engine.');
});
const folder = mkdtempSync(join(tmpdir(), 'bag-adres-context-'));
try {
  const bytes = await build(await contextOf(folder));
  assert(
    bytes < mostBytes,
    `the image has ${Math.round(bytes / 1e6)} MB, more than ${mostBytes / 1e6}`,
  );
  report(`built: ${Math.round(bytes / 1e6)} MB`);

  const first = await start();
  const key = await started(first);
  const answer = await lookUp(first, key);
  assert.deepEqual((answer as { address: unknown }).address, {
    straat: 'Buitenveer',
    woonplaats: 'Weesp',
  });
  const userId = await first.userId();
  assert.notEqual(userId, 0, 'it runs as root');
  assert(await first.isHealthy(), 'its health check fails while it serves');
  report(`serves as user ${userId}, with a read-only root file system, and is healthy`);
  const smoke = ['smoke', '--url', first.baseUrl, '--key', key];
  const { stdout } = await run(process.execPath, ['local/launch.js', ...smoke], { cwd: root });
  report(stdout.trim().split('\n').at(-1) ?? '');
  assert.equal(await first.stop(), 0, 'it does not end with 0 on SIGTERM');

  const second = await start();
  const sameKey = await started(second);
  assert.deepEqual(await lookUp(second, key), answer);
  assert.equal(sameKey, key, 'the data of the first start are lost');
  await second.stop();
  report('stopped by SIGTERM, and started again with the same data');
} finally {
  await clear();
  rmSync(folder, { recursive: true, force: true });
}
