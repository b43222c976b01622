import { existsSync } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { synthesize } from '../../../local/synthesize.ts';
import { type Generated, generatedExtract } from '../../bench/generator/generate.ts';
import { processesWith, readyText, start } from '../../support/start.ts';

let folder: string;
let data: string;
let january: Generated;
let february: Generated;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'start-import-'));
  data = join(folder, 'data');
  // About 29,000 keys: enough for an import.
  january = await generatedExtract({ scale: 4 / 1230 }, folder);
  february = await generatedExtract({ scale: 4 / 1230, month: 1 }, folder);
  await synthesize();
}, 60_000);
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Starts the service, looks up the address that it suggests, and stops it. */
async function served(args: string[] = []) {
  const { child, ended, until } = start(['--port', '0', '--data', data, ...args]);
  const output = await until(readyText);
  const key = /bagadres_demo_\w+/.exec(output)?.[0] ?? '';
  const [, url = ''] = /'(http:[^']+address\?[^']+)'/.exec(output) ?? [];
  const response = await fetch(url, { headers: { 'x-api-key': key } });
  const { status } = (await response.json()) as { status: string };
  child.kill('SIGINT');
  expect(await ended).toBe(0);
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

    const first = await served(['--extract', january.path]);
    expect(first).toMatchObject({ status: 'ok', key: demo.key, stages: ['export', 'import'] });
    expect(first.output).toContain(`export, ${rows(january.truth.keys + january.truth.listKeys)}`);
    expect(first.output).toContain(`Serving ${january.truth.keys.toLocaleString('en')} addresses`);
    expect((await readdir(data)).filter((name) => name.startsWith('dynamodb.db.'))).toEqual([]);

    const { added = 0, changed = 0, removed = 0, listsChanged = 0 } = february.difference ?? {};
    const next = await served(['--extract', february.path]);
    expect(next).toMatchObject({ status: 'ok', key: demo.key, stages: ['apply'] });
    expect(next.output).toContain(`apply, ${rows(added + changed + removed + listsChanged)}`);

    expect(await served()).toMatchObject({ status: 'ok', key: demo.key });
  }, 60_000);
});
