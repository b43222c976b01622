import { existsSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { createAdmin } from '../../../packages/admin/admin.ts';
import { startForTests } from '../../support/start-for-tests.ts';
import { run, startLocalRun } from '../command-line.ts';

const bench = startForTests(startLocalRun);
let now = Date.parse('2026-09-30T23:59:59.500Z');
beforeAll(async () => {
  const client = DynamoDBDocumentClient.from(bench.client);
  const admin = createAdmin({ client, table: 'accounts', actor: 'jo@example.nl', now: () => now });
  await admin.plans.put({ code: 'small', limits: { day: 5 } });
  now = Date.parse('2026-10-01T00:00:00Z');
  await admin.plans.put({ code: 'small', limits: { day: 6 } });
  now += 1000;
  await admin.accounts.create({ id: 'acme', plan: 'small' });
  now += 1000;
  await admin.accounts.set({ id: 'acme', limits: { day: 9 } });
  now += 1000;
  await admin.sessions.start('sub:kim', 3600);
  now += 1000;
  await admin.sessions.refuse({ reason: 'UnusableIdentity', identity: '-' });
  now = Date.parse('2026-11-01T00:00:00Z');
  await admin.accounts.suspend('acme');
});

const exported = (...args: string[]) => bench.run('audit', 'export', '--month', '2026-10', ...args);

describe('audit export', () => {
  it('has every change and sign-in of the month by time, with what was before, and none of another month', async () => {
    const lines = (await exported()).out.split('\n').map((line) => JSON.parse(line));
    expect(
      lines.map(({ kind, id, action, actor, outcome }) => [kind, id, action, actor, outcome]),
    ).toEqual([
      ['plan', 'small', 'plan put', 'jo@example.nl', 'done'],
      ['account', 'acme', 'account create', 'jo@example.nl', 'done'],
      ['account', 'acme', 'account set', 'jo@example.nl', 'done'],
      ['sign-in', null, 'session start', 'jo@example.nl', 'done'],
      ['sign-in', null, 'session refuse', 'jo@example.nl', 'done'],
    ]);
    expect(lines[0].detail).toEqual({
      state: 'active',
      limits: { day: 6 },
      before: { state: 'active', limits: { day: 5 } },
    });
    expect(lines[2].detail).toEqual({ limits: { day: 9 }, before: { plan: 'small', limits: {} } });
    expect(lines.map(({ time }) => time)).toEqual(lines.map(({ time }) => time).toSorted());
    expect(JSON.parse((await exported('--json')).out)).toEqual(lines);
  });

  it('writes a new file that only its owner reads, and no file that exists', async () => {
    const file = join(bench.data, 'audit.jsonl');
    expect(await exported('--to', file)).toMatchObject({
      exit: 0,
      out: expect.stringContaining('5 lines'),
    });
    expect((await readFile(file, 'utf8')).match(/\n/g)).toHaveLength(5);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(await exported('--to', file)).toMatchObject({
      exit: 1,
      err: expect.stringContaining('exists'),
    });
  });

  it('writes to the folder in which npm was run, whatever the folder of the program has', async () => {
    const words = ['audit', 'export', '--month', '2026-10', '--to', 'package.json'];
    const exit = async () => (await run([...words, ...bench.local], { INIT_CWD: bench.data })).exit;
    expect(existsSync('package.json')).toBe(true);
    expect(await exit()).toBe(0);
    expect(await readFile(join(bench.data, 'package.json'), 'utf8')).toContain('"plan put"');
    expect(await exit()).toBe(1);
  });

  it('refuses what is not a month', async () => {
    const { exit, err } = await bench.run('audit', 'export', '--month', 'october');
    expect([exit, err]).toEqual([2, expect.stringContaining('--month takes a month')]);
  });

  it('of a month without a change is an error, and writes nothing', async () => {
    const file = join(bench.data, 'nothing.jsonl');
    expect(await bench.run('audit', 'export', '--month', '2020-01', '--to', file)).toMatchObject({
      exit: 1,
      err: 'bag-adres: Nothing was changed in 2020-01.',
    });
    expect(existsSync(file)).toBe(false);
  });
});
