import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createAdmin } from '../../../packages/admin/admin.ts';
import { startLocalRun } from '../command-line.ts';

let bench: Awaited<ReturnType<typeof startLocalRun>>;
let now = Date.parse('2026-09-30T23:59:59.500Z');
const environment = { ...process.env };
/** What S3 is asked to write, and what it answers. */
const puts: { path: string | undefined; headers: IncomingHttpHeaders; body: string }[] = [];
let refusal = '';
const s3 = createServer(async (request, response) => {
  let body = '';
  for await (const chunk of request) body += chunk;
  puts.push({ path: request.url, headers: request.headers, body });
  if (refusal === '') return response.writeHead(200, { 'x-amz-version-id': 'v1' }).end();
  response
    .writeHead(400, { 'content-type': 'application/xml' })
    .end(`<Error><Code>InvalidRequest</Code><Message>${refusal}</Message></Error>`);
});

beforeAll(async () => {
  bench = await startLocalRun();
  await once(s3.listen(0, '127.0.0.1'), 'listening');
  Object.assign(process.env, {
    AWS_REGION: 'eu-west-1',
    AWS_ACCESS_KEY_ID: 'local',
    AWS_SECRET_ACCESS_KEY: 'local',
    AWS_ENDPOINT_URL_S3: `http://127.0.0.1:${(s3.address() as AddressInfo).port}`,
  });
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
afterAll(async () => {
  process.env = environment;
  s3.close();
  await bench.stop();
});

const exported = (...args: string[]) => bench.run('audit', 'export', '--month', '2026-10', ...args);

describe('audit export', () => {
  it('has every change and sign-in of the month by time, with what was before, and none of another month', async () => {
    const lines = (await exported()).out.split('\n').map((line) => JSON.parse(line));
    expect(lines.map(({ kind, id, action, actor, outcome }) => [kind, id, action, actor, outcome])).toEqual([
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
    expect(await exported('--to', file)).toMatchObject({ exit: 0, out: expect.stringContaining('5 lines') });
    expect((await readFile(file, 'utf8')).match(/\n/g)).toHaveLength(5);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(await exported('--to', file)).toMatchObject({ exit: 1, err: expect.stringContaining('exists') });
  });

  it('writes an object that nobody can change until its lock ends', async () => {
    const { out } = await exported('--to', 's3://evidence/adres/', '--lock-years', '2');
    const [put] = puts.splice(0);
    expect(put?.path).toMatch(/^\/evidence\/adres\/audit-2026-10\.jsonl/);
    expect(put?.headers['x-amz-object-lock-mode']).toBe('COMPLIANCE');
    const until = String(put?.headers['x-amz-object-lock-retain-until-date']);
    expect(Number(until.slice(0, 4))).toBe(new Date().getUTCFullYear() + 2);
    expect(put?.body).toContain('"action":"account create"');
    expect(out).toContain('s3://evidence/adres/audit-2026-10.jsonl, version v1, locked until');
  });

  it('says so where the bucket has no Object Lock', async () => {
    refusal = 'Bucket is missing Object Lock Configuration';
    const { exit, err } = await exported('--to', 's3://evidence/');
    refusal = '';
    expect([exit, err]).toEqual([1, expect.stringContaining('The bucket evidence has no Object Lock')]);
  });

  it.each([
    ['a month', ['--month', 'october'], /--month takes a month/],
    ['a place', ['--month', '2026-10', '--to', 's3://evidence/adres'], /ends in "\/"/],
    ['a number of years', ['--month', '2026-10', '--lock-years', '99'], /from 1 to 20/],
  ])('refuses what is not %s', async (_, args, message) => {
    const { exit, err } = await bench.run('audit', 'export', ...args);
    expect([exit, err]).toEqual([2, expect.stringMatching(message)]);
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
