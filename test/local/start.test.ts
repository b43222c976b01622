import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { cp, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { ListTablesCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { NotRunningError, readLocalState } from '../../local/data-folder.ts';
import { greeting, startErrorText } from '../../local/messages.ts';
import { acquireLock } from '../../local/process-lock.ts';
import { progressLines } from '../../local/progress-text.ts';
import { baseUrl, type Service, type ServiceOptions } from '../../local/service.ts';
import { startDynamoDb } from '../support/dynamodb.ts';
import { folderForNow } from '../support/folder-for-now.ts';
import { inSweep } from '../support/in-sweep.ts';
import { serviceOptions, whileServing } from '../support/service.ts';
import { processesWith, readyText, type Start, start } from '../support/start.ts';
import { sweep } from '../support/sweep.ts';
import { sample } from '../support/weesp-truth.ts';

let data: string;
let starts: Start[];
/** The data, the output and the stages of a start that was stopped, for tests of the next start. */
const before = { data: folderForNow('start-'), output: '', stages: [] as string[] };

beforeAll(async () => {
  const progress = progressLines((line) => before.stages.push(line));
  const options = { dataFolder: before.data, progress };
  before.output = await serving(options, async (service) => greeting(service, before.data));
});
beforeEach(async () => {
  data = await mkdtemp(join(tmpdir(), 'start-'));
  starts = [];
});
afterEach(async () => {
  for (const { child } of starts) child.kill('SIGKILL');
  await Promise.all(starts.map(({ ended }) => ended));
  await rm(data, { recursive: true, force: true });
});

/**
 * Gives the data folder of this test the data of the start before: starting on that is quicker than
 * with none.
 */
const useDataBefore = () => cp(before.data, data, { recursive: true });

function run(args: string[] = [], options: Parameters<typeof start>[1] = {}): Start {
  const started = start(['--port', '0', '--data', data, ...args], options);
  starts.push(started);
  return started;
}

const keyIn = (output: string) => /bagadres_demo_\w+/.exec(output)?.[0] ?? '';
const baseIn = (output: string) => /http:\/\/[\w.[\]:]+:\d+/.exec(output)?.[0] ?? '';

async function lookUp(output: string, query = 'postcode=1381AA&huisnummer=9', key = keyIn(output)) {
  const response = await fetch(`${baseIn(output)}/v1/address?${query}`, {
    headers: { 'x-api-key': key },
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

const expectAnswers = async (service: Service) =>
  expect((await lookUp(greeting(service, data))).body.status).toBe('ok');

/**
 * Serves in this process while `work` runs, in the data folder of this test unless the options name
 * another.
 */
const serving = <T>(options: Partial<ServiceOptions>, work: (service: Service) => Promise<T>) =>
  whileServing(serviceOptions({ dataFolder: data, ...options }), work);

/** The line that a start with these options ends with; leaves nothing running. */
async function failure(options: Partial<ServiceOptions>): Promise<string> {
  const settings = serviceOptions({ dataFolder: data, ...options });
  const error = await whileServing(settings, async () => undefined).catch(
    (thrown: unknown) => thrown,
  );
  // The shell around an engine that ends by itself ends a moment later.
  while ((await processesWith(data)).length > 0) await sleep(10);
  return startErrorText(error, { ...settings, endpoint: settings.endpoint });
}

/** Runs a printed command in a shell, like a user who pastes it. */
const runPasted = async (line: string) =>
  JSON.parse((await promisify(execFile)('/bin/sh', ['-c', `${line} -s`])).stdout);

/** A start that the tests of a group share, on a copy of the data of the start before. */
function sharedStart(...args: string[]) {
  const shared = { folder: '', output: '' } as { folder: string; output: string; service: Start };
  beforeAll(async () => {
    shared.folder = await mkdtemp(join(tmpdir(), 'start-'));
    await cp(before.data, shared.folder, { recursive: true });
    await writeFile(join(shared.folder, 'mine.txt'), 'the user’s own file', { mode: 0o600 });
    shared.service = start(['--port', '0', '--data', shared.folder, ...args]);
    shared.output = await shared.service.until(readyText);
  });
  afterAll(async () => {
    shared.service.child.kill('SIGKILL');
    await shared.service.ended;
    await rm(shared.folder, { recursive: true });
  });
  return shared;
}

describe('npm start', () => {
  it('writes the demo past its engine, and nothing to it', () => {
    const writing = before.stages.filter((line) => /^(import|apply),/.test(line));
    expect(writing).toEqual([expect.stringMatching(/^import, (\d+) of \1 rows, done/)]);
  });

  const line = 'npm start';
  const stops: [NodeJS.Signals, string, Parameters<typeof start>[1]][] = [
    ['SIGKILL', 'npm', { line }],
    ['SIGTERM', 'npm', { line }],
    ['SIGINT', 'npm', { line }],
    ['SIGKILL', 'its own process', {}],
  ];
  it.each(sweep(stops, 1))(
    'stops completely when %s reaches only %s, and starts again on the same data',
    async (signal, _, options) => {
      await useDataBefore();
      const service = run([], options);
      await service.until(readyText);
      service.child.kill(signal);
      await service.ended;
      // Its engine ends just after a process that is killed itself.
      if (options?.line) expect(await processesWith(data)).toEqual([]);
      await serving({}, async ({ apiKey }) => {
        expect(apiKey).toBe(keyIn(before.output));
        expect((await processesWith(join(data, 'dynamodb.db'))).length).toBeLessThanOrEqual(3);
      });
      expect(await processesWith(data)).toEqual([]);
    },
  );

  inSweep(
    'answers a request in progress at Ctrl-C, which a terminal sends to npm too, and npm to it',
    async () => {
      await useDataBefore();
      const service = run([], { line: 'npm start' });
      const output = await service.until(readyText);
      const headers = { 'x-api-key': keyIn(output), 'content-type': 'application/json' };
      const post = request(`${baseIn(output)}/v1/addresses`, { method: 'POST', headers });
      const answered = once(post, 'response');
      post.write('{"addresses":');
      await sleep(200);
      process.kill(-(service.child.pid as number), 'SIGINT');
      await sleep(200);
      post.end('[{"postcode":"1381AA","huisnummer":9}]}');
      const [{ statusCode }] = await answered;
      expect(statusCode).toBe(200);
      await service.ended;
      expect(await processesWith(data)).toEqual([]);
    },
  );

  (existsSync(sample) ? inSweep : it.skip).each([
    ['SIGINT', ['--fresh'], 'the same command without --fresh'],
    ['SIGTERM', [], 'the same command'],
  ] as const)(
    'can be stopped by %s in the middle of a load, and started again',
    async (signal, fresh, how) => {
      const first = run(['--extract', sample, ...fresh]);
      while (!existsSync(join(data, 'loads', 'loads'))) await sleep(5);
      first.child.kill(signal);
      expect(await first.ended).toBe(signal === 'SIGINT' ? 130 : 143);
      expect(first.output()).not.toMatch(/error/i);
      expect(first.output()).toMatch(new RegExp(`Stopped .*: ${how} continues\\.\n$`));
      expect(await processesWith(data)).toEqual([]);
      await serving({}, expectAnswers);
    },
  );
});

describe('npm start --fresh --host --objecten on the data of an earlier start', () => {
  const shared = sharedStart('--fresh', '--host', '::1', '--objecten');

  it('discards the data: the API key is new and the old one is refused', async () => {
    expect(keyIn(shared.output)).not.toBe(keyIn(before.output));
    expect((await lookUp(shared.output, undefined, keyIn(before.output))).status).toBe(401);
    expect((await lookUp(shared.output)).status).toBe(200);
    expect(await readFile(join(shared.folder, 'mine.txt'), 'utf8')).toBe('the user’s own file');
  });

  it('prints commands that work when pasted', async () => {
    const lines = shared.output.match(/curl .*/g) ?? [];
    const [letter, list, twin, accent, ambiguous, neven, ligplaats] = await Promise.all(
      lines.map(runPasted),
    );
    expect(lines).toHaveLength(7);
    expect(lines.join()).toContain("'http://[::1]:");
    expect(letter).toMatchObject({
      status: 'ok',
      address: { straat: 'Buitenveer', woonplaats: 'Weesp' },
    });
    expect(list.toevoegingen.length).toBeGreaterThan(50);
    expect(twin.address.nummeraanduidingen).toHaveLength(2);
    expect(accent.address).toMatchObject({
      straat: 'Mr.J.C.Bührmannlaan',
      gemeente: { naam: 'Weesp' },
    });
    expect(ambiguous).toMatchObject({ status: 'ambiguous', candidates: [{}, {}] });
    expect(neven.address).toMatchObject({
      straat: 'Keurstraat',
      objecten: [{ type: 'verblijfsobject', hoofdadres: false, oppervlakte: 1015 }],
    });
    expect(ligplaats.address).toMatchObject({
      objecten: [{ type: 'ligplaats', hoofdadres: true }],
    });
    expect(await readLocalState(shared.folder)).toMatchObject({
      baseUrl: baseIn(shared.output),
      pid: shared.service.child.pid,
    });
  });

  it('says once how to load another municipality, when an address is not found', async () => {
    for (let count = 0; count < 2; count++) {
      await lookUp(shared.output, 'postcode=1012RJ&huisnummer=147');
    }
    const printed = await shared.service.until(
      'An address was not found: the demo has 484 addresses of Weesp',
    );
    await lookUp(shared.output);
    expect(printed.match(/An address was not found/g)).toHaveLength(1);
    expect(shared.output).toContain('npm start -- --extract https://service.pdok.nl/');
  });

  it('creates files that only their owner can read', async () => {
    const files = await readdir(shared.folder, { recursive: true });
    for (const file of ['dynamodb.db', 'local.json', 'identity.json']) {
      expect(files).toContain(file);
    }
    for (const file of files) {
      expect([file, (await stat(join(shared.folder, file))).mode & 0o077]).toEqual([file, 0]);
    }
  });

  it('refuses another start in its data folder, on its port too, and one on its port alone, and keeps serving', async () => {
    const holder = `process ${shared.service.child.pid} on ${hostname()}, since `;
    const place = { host: '::1', port: Number(new URL(baseIn(shared.output)).port) };
    const text = await failure({ dataFolder: shared.folder, ...place });
    expect(text).toContain(`Another npm start is using ${shared.folder}: ${holder}`);
    expect(text).toMatch(
      /UTC\. Stop it, or start a second service: npm start -- --data FOLDER --port 0$/,
    );
    expect(await failure(place)).toBe(
      `Port ${place.port} on ::1 is in use. Choose another: npm start -- --port NUMBER, where 0 picks a free one.`,
    );
    expect((await lookUp(shared.output)).status).toBe(200);
  });

  it('stops with an explanation when its engine stops unexpectedly', async () => {
    const { stdout } = await promisify(execFile)('pgrep', [
      '-f',
      `^[^ ]*dynoxide serve.*${shared.folder}`,
    ]);
    process.kill(Number(stdout.trim().split('\n')[0]), 'SIGKILL');
    expect(await shared.service.ended).toBe(1);
    expect(shared.service.output()).toMatch(/The DynamoDB engine has stopped unexpectedly/);
    expect(await processesWith(shared.folder)).toEqual([]);
  });
});

describe('npm start on the data of an earlier start', () => {
  const shared = sharedStart();
  const manifestIn = (folder: string) => readFile(join(folder, 'loads', 'manifest.json'), 'utf8');

  it('has the same API key, and does not load it again', async () => {
    expect(keyIn(shared.output)).toBe(keyIn(before.output));
    expect((await lookUp(shared.output)).body.status).toBe('ok');
    expect(
      (await lookUp(shared.output, 'postcode=1381AA&huisnummer=9&include=objecten')).status,
    ).toBe(422);
    expect(await manifestIn(shared.folder)).toBe(await manifestIn(before.data));
  });

  it('starts the portal after the API answers, prints its address when it does too, and links to it', async () => {
    const printed = await shared.service.until('(choose a customer');
    expect(printed.indexOf(readyText)).toBeLessThan(printed.indexOf('Customer portal'));
    const [, portalUrl = 'none printed'] = /Customer portal: (http:\S+)/.exec(printed) ?? [];
    expect((await fetch(portalUrl)).status).toBe(200);
    const page = await (await fetch(`${baseIn(shared.output)}/docs`)).text();
    expect(page).toContain(`<a href="${portalUrl}">`);
  });

  it('keeps serving when its output is no longer read, and leaves nothing running after its terminal closes', async () => {
    const { endpoint } = await readLocalState(shared.folder);
    expect(await processesWith(shared.folder)).not.toEqual([]);
    for (const stream of [shared.service.child.stdout, shared.service.child.stderr]) {
      stream?.destroy();
    }
    for (let count = 0; count < 3; count++) expect((await lookUp(shared.output)).status).toBe(200);
    shared.service.child.kill('SIGHUP');
    expect(await shared.service.ended).toBe(0);
    expect(await processesWith(shared.folder)).toEqual([]);
    await expect(fetch(endpoint)).rejects.toThrow();
    await expect(readLocalState(shared.folder)).rejects.toThrow(NotRunningError);
    await (await acquireLock(join(shared.folder, 'folder.lock')))();
  });
});

describe('a start that fails', () => {
  it('says what to do, exits with 1 and leaves nothing running', async () => {
    const { ended, output } = run([], { env: { AWS_ENDPOINT_URL_DYNAMODB: 'http://127.0.0.1:9' } });
    expect(await ended).toBe(1);
    expect(output()).toBe(
      'No DynamoDB engine answers at http://127.0.0.1:9 (AWS_ENDPOINT_URL_DYNAMODB). Start it, or unset the variable.\n',
    );
    expect(await processesWith(data)).toEqual([]);
  });

  it('explains a damaged database', async () => {
    await cp(join(before.data, 'identity.json'), join(data, 'identity.json'));
    await writeFile(
      join(data, 'dynamodb.db'),
      'no database, but longer than its header has to be. '.repeat(100),
    );
    expect(await failure({})).toMatch(
      /^The embedded DynamoDB engine did not start: .*\n.* start with --fresh.*$/,
    );
  });

  it('keeps data of another layout or with other tables as it was, and --fresh discards it', async () => {
    await useDataBefore();
    const file = join(data, 'identity.json');
    const identity = JSON.parse(await readFile(file, 'utf8'));
    const change = (changed: object) =>
      writeFile(file, JSON.stringify({ ...identity, ...changed }));
    await change({ layout: undefined });
    expect(await failure({})).toMatch(/ has no layout number, .* start with --fresh, [^.]*\.$/);
    await change({ suffix: 'e66200' });
    expect(await failure({})).toMatch(
      / is in the tables \S+ and \S+, but .* uses addresses-e66200 and accounts-e66200: start with/,
    );
    await change({});
    await serving({}, async ({ apiKey }) => expect(apiKey).toBe(identity.demoKey));
    await change({ layout: undefined });
    await serving({ fresh: true }, async ({ apiKey }) => expect(apiKey).not.toBe(identity.demoKey));
  });

  it.each([
    [
      'an address that is not one of this machine',
      { host: '192.0.2.1' },
      /^192\.0\.2\.1 is not an address of this/,
    ],
    [
      'a data folder that can’t be created',
      { dataFolder: '/proc/data/of/ours' },
      /data folder .* can't be used/,
    ],
    [
      'a data folder that is a file',
      { dataFolder: import.meta.filename },
      /data folder .*\.ts can't be used/,
    ],
  ])('explains %s', async (_, options, message) => {
    expect(await failure(options)).toMatch(message);
  });
});

inSweep(
  'AWS_ENDPOINT_URL_DYNAMODB names an engine, which gets the tables it has not, and new ones for --fresh',
  async () => {
    const engine = await startDynamoDb();
    const empty = await startDynamoDb();
    /** The tables of an engine after a start that has served the demo from it. */
    const tablesIn = ({ endpoint, client }: typeof engine, fresh = false) =>
      serving({ endpoint, fresh }, async (service) => {
        await expectAnswers(service);
        expect((await readLocalState(data)).endpoint).toBe(endpoint);
        return (await client.send(new ListTablesCommand())).TableNames ?? [];
      });
    const made = await tablesIn(engine);
    const again = await tablesIn(engine, true);
    expect([made.length, again.length, again.filter((name) => made.includes(name))]).toEqual([
      2,
      2,
      [],
    ]);
    expect(await readdir(data)).not.toContain('dynamodb.db');
    await engine.stop();
    expect(await tablesIn(empty)).toEqual(again);
    await empty.stop();
  },
);

describe('the printed address', () => {
  it.each([
    ['127.0.0.1', 'http://127.0.0.1:3000'],
    ['0.0.0.0', 'http://127.0.0.1:3000'],
    ['::', 'http://[::1]:3000'],
  ])('reaches a server on %s', (host, url) => {
    expect(baseUrl(host, 3000)).toBe(url);
  });
});
