import { existsSync } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { greeting } from '../../../local/messages.ts';
import { progressLines } from '../../../local/progress.ts';
import { synthesize } from '../../../local/synthesize.ts';
import { type Generated, generatedExtract } from '../../bench/generator/generate.ts';
import { serviceOptions, whileServing } from '../../support/service.ts';
import { processesWith, readyText, start } from '../../support/start.ts';

let folder: string;
let data: string;
let january: Generated;
let february: Generated;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'start-import-'));
  data = join(folder, 'data');
  // About 22,000 keys: enough for an import.
  january = await generatedExtract({ scale: 3 / 1230 }, folder);
  february = await generatedExtract({ scale: 3 / 1230, month: 1 }, folder);
  await synthesize();
}, 60_000);
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Starts the service in a process of its own, looks up the address that it suggests, and stops it. */
async function servedByProcess(args: string[]) {
  const { child, ended, until } = start(['--port', '0', '--data', data, ...args]);
  const result = await tried(await until(readyText));
  child.kill('SIGINT');
  expect(await ended).toBe(0);
  return result;
}

/** The same in this process. */
async function served(extract?: string) {
  const lines: string[] = [];
  const options = serviceOptions({ dataFolder: data, extract, progress: progressLines((line) => lines.push(line)) });
  return await whileServing(options, (service) => tried(`${lines.join('')}\n${greeting(service, data)}`));
}

/** What the lookup answers that a start suggests. */
async function tried(output: string) {
  const key = /bagadres_demo_\w+/.exec(output)?.[0] ?? '';
  const [, url = ''] = /'(http:[^']+address\?[^']+)'/.exec(output) ?? [];
  const response = await fetch(url, { headers: { 'x-api-key': key } });
  const { status } = (await response.json()) as { status: string };
  return { output, key, status, stages: output.match(/^(export|import|apply)(?=,)/gm) };
}

const rows = (count: number) => `${count.toLocaleString('en')} of ${count.toLocaleString('en')} rows`;

describe('npm start with a large extract', () => {
  it('imports it even after an interrupted import, keeps the API key, and writes only the changes of the next month', async () => {
    const demo = await served();
    const killed = start(['--port', '0', '--data', data, '--extract', january.path]);
    while (!existsSync(join(data, 'dynamodb.db.import', 'database'))) await sleep(5);
    killed.child.kill('SIGKILL');
    await killed.ended;
    while ((await processesWith(data)).length > 0) await sleep(10);

    const first = await servedByProcess(['--extract', january.path]);
    expect(first).toMatchObject({ status: 'ok', key: demo.key, stages: ['export', 'import'] });
    expect(first.output).toContain(`export, ${rows(january.truth.keys + january.truth.listKeys)}`);
    expect(first.output).toContain(`Serving ${january.truth.keys.toLocaleString('en')} addresses`);
    expect((await readdir(data)).filter((name) => name.startsWith('dynamodb.db.'))).toEqual([]);

    const { added = 0, changed = 0, removed = 0, listsChanged = 0 } = february.difference ?? {};
    const next = await served(february.path);
    expect(next).toMatchObject({ status: 'ok', key: demo.key, stages: ['apply'] });
    expect(next.output).toContain(`apply, ${rows(added + changed + removed + listsChanged)}`);

    expect(await served()).toMatchObject({ status: 'ok', key: demo.key });
  }, 60_000);
});
