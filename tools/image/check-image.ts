/**
 * Builds the container image of the Dockerfile and runs it as the README says, not as root and with a read-only root
 * file system: `npm run check:image`. With Docker's engine, or else as root with buildah and debootstrap.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { buildahEngine } from './buildah.ts';
import { dockerEngine } from './docker.ts';
import type { RunningContainer } from './engine.ts';

const root = resolve(import.meta.dirname, '../..');
const run = promisify(execFile);
const mostBytes = 350_000_000;
/** On a machine that does nothing else it takes a few. */
const startSeconds = 180;

/** What git has: what lies around in a working copy is no part of an image. */
async function contextOf(folder: string): Promise<string> {
  const { stdout } = await run('git', ['ls-files', '-z'], { cwd: root, maxBuffer: 64 * 1024 * 1024 });
  for (const file of stdout.split('\0').filter(Boolean)) cpSync(join(root, file), join(folder, file));
  return folder;
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
  const response = await fetch(`${baseUrl}/v1/address?postcode=1381AA&huisnummer=9`, {
    headers: { 'x-api-key': key },
  });
  return await response.json();
}

function report(line: string): void {
  process.stdout.write(`${line}\n`);
}

const folder = mkdtempSync(join(tmpdir(), 'bag-adres-context-'));
const context = await contextOf(folder);
const engine = (await dockerEngine(context)) ?? (await buildahEngine(context));
try {
  if (!engine) throw new Error('Install Docker and start its engine, or run it as root with buildah and debootstrap.');
  const bytes = await engine.build();
  assert(bytes < mostBytes, `the image has ${Math.round(bytes / 1e6)} MB, more than ${mostBytes / 1e6}`);
  report(`built by ${engine.name}: ${Math.round(bytes / 1e6)} MB`);

  const first = await engine.start();
  const key = await started(first);
  const answer = await lookUp(first, key);
  assert.deepEqual((answer as { address: unknown }).address, {
    straat: 'Nieuwezijds Voorburgwal',
    woonplaats: 'Amsterdam',
  });
  const userId = await first.userId();
  assert.notEqual(userId, 0, 'it runs as root');
  assert(await first.isHealthy(), 'its health check fails while it serves');
  report(`serves as user ${userId}, with a read-only root file system, and is healthy`);
  const smoke = ['smoke', '--url', first.baseUrl, '--key', key];
  const { stdout } = await run(process.execPath, ['local/launch.js', ...smoke], { cwd: root });
  report(stdout.trim().split('\n').at(-1) ?? '');
  assert.equal(await first.stop(), 0, 'it does not end with 0 on SIGTERM');

  const second = await engine.start();
  const sameKey = await started(second);
  assert.deepEqual(await lookUp(second, key), answer);
  assert.equal(sameKey, key, 'the data of the first start are lost');
  await second.stop();
  report('stopped by SIGTERM, and started again with the same data');
} finally {
  await engine?.clear();
  rmSync(folder, { recursive: true, force: true });
}
