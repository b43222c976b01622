import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { copyFile, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { PutItemCommand } from '@aws-sdk/client-dynamodb';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { StoredAddress } from '../../../core/addresses/address-item.ts';
import { keyOf, parseLine } from '../../../loader/dataset/lines.ts';
import { dynamoDbAddressTable } from '../../../loader/storage/address-table.ts';
import { exportRest, runImport } from '../../../local/engine/bulk-import.ts';
import { finishImport, importFolder } from '../../../local/engine/database-files.ts';
import { processesWith } from '../../support/start.ts';
import { groupsOf, idOf, openBench } from './bench.ts';

let folder: string;
let file: string;
let bench: Awaited<ReturnType<typeof openBench>>;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bulk-import-'));
  file = join(folder, 'dynamodb.db');
  bench = await openBench(file);
  await bench.prepare();
});
afterEach(async () => {
  await bench.close();
  await rm(folder, { recursive: true, force: true });
});

const shop = { account: { S: 'shop' }, item: { S: 'access' }, used: { N: '12' }, keys: { M: { a: { S: 'ë"' } } } };

/** What there is of the database but the engine's own files of writes under way. */
const left = async () => (await readdir(folder)).filter((name) => !/-(wal|shm)$/.test(name));

async function* failing() {
  yield* groupsOf(10);
  throw new Error('no more lines');
}

/** Names the dataset, beside the item of the lock that the bench has put there. */
async function setDataset({ peildatum, load }: { peildatum: string; load: string }): Promise<void> {
  const Item = { address: { S: '#dataset' }, date: { S: peildatum }, load: { S: load } };
  await bench.client.send(new PutItemCommand({ TableName: 'addresses', Item }));
}

describe('a bulk import into the embedded engine', () => {
  it('replaces all addresses with the lines, and keeps the lock, the dataset item and the accounts', async () => {
    await setDataset({ peildatum: '2026-01-08', load: 'x' });
    expect(await bench.bulkImport.takesOn({ lines: 60, writes: 60 })).toBe(true);
    await bench.bulkImport.run(groupsOf(60), { lines: 60, writes: 60 });
    const keys = Array.from({ length: 30 }, (_, index) => [`1381AA#${index + 1}#`, `2381AA#${index + 1}#`]).flat();
    expect(await bench.addressKeys()).toEqual(['#dataset', '#load', ...keys.sort()]);
    const table = dynamoDbAddressTable(bench.client, 'addresses');
    const found = await table.read(['1381AA#1#', '2381AA#30#']);
    expect(new Map([...found].map(([key, { places }]) => [key, places]))).toEqual(
      new Map([
        ['1381AA#1#', [{ straat: 'Straat\t"0" \\ ’t', woonplaats: "'s-Graveland é", nummeraanduidingen: [idOf(0)] }]],
        ['2381AA#30#', [{ straat: 'Straat\t"9" \\ ’t', woonplaats: "'s-Graveland é", nummeraanduidingen: [idOf(29)] }]],
      ]),
    );
    expect(await table.dataset()).toEqual({ peildatum: '2026-01-08', load: 'x' });
    expect(await bench.accounts()).toEqual([shop]);
    expect(await left()).toEqual(['dynamodb.db']);
  });

  it('imports lists of toevoegingen, with and without an address of their key', async () => {
    const lines = [
      '1381AA#1#\t\tVeer\tWeesp\t0457200000000001',
      '1381AA#2#\t,A\tVeer\tWeesp\t0457200000000002',
      '1381AA#2#A\t\tVeer\tWeesp\t0457200000000003',
      '1381AA#3#\tB,C',
    ];
    const groups = (async function* () {
      yield lines;
    })();
    await bench.bulkImport.run(groups, { lines: lines.length, writes: lines.length });
    const table = dynamoDbAddressTable(bench.client, 'addresses');
    const expected = lines.map(parseLine).map((address): [string, StoredAddress] => [address.key, address]);
    expect(await table.read(lines.map(keyOf))).toEqual(new Map(expected));
  });

  it('leaves small loads to single writes, which are faster', async () => {
    expect(await bench.bulkImport.takesOn({ lines: 60, writes: 5 })).toBe(false);
  });

  it('does not start without enough disk space, and starts with enough', async () => {
    const size = { lines: 1_000_000, writes: 1_000_000 };
    bench.disk.free = 500_000_000;
    await expect(bench.bulkImport.takesOn(size)).rejects.toMatchObject({
      name: 'DiskSpaceError',
      message: expect.stringContaining(`needs 0.64 GB of free disk space in ${folder}; 0.50 GB is available.`),
    });
    expect(await bench.bulkImport.takesOn({ ...size, writes: 10 })).toBe(false);
    bench.disk.free = 700_000_000;
    expect(await bench.bulkImport.takesOn(size)).toBe(true);
  });

  it('can be repeated, and survives a restart of the engine', async () => {
    await bench.bulkImport.run(groupsOf(60), { lines: 60, writes: 60 });
    await bench.bulkImport.run(groupsOf(40), { lines: 40, writes: 40 });
    await bench.close();
    bench = await openBench(file);
    expect(await bench.addressKeys()).toHaveLength(41);
    expect(await bench.accounts()).toEqual([shop]);
  });

  it('leaves the previous data and no working files when it fails', async () => {
    await expect(bench.bulkImport.run(failing(), { lines: 60, writes: 60 })).rejects.toThrow('no more lines');
    await expect(
      bench.engine.pause(async () => {
        throw new Error('the work failed');
      }),
    ).rejects.toThrow('the work failed');
    expect(await bench.addressKeys()).toEqual(['#load', '9999ZZ#1#']);
    expect(await bench.accounts()).toEqual([shop]);
    expect(await left()).toEqual(['dynamodb.db']);
  });

  it('fails when the engine skipped an item', async () => {
    const files = { folder: join(folder, 'export'), items: 0, bytes: 0 };
    const tables = await exportRest(files, bench.client, 'addresses');
    await writeFile(join(files.folder, 'accounts', 'data', 'broken.json'), '{"Item":\n');
    files.items++;
    const { signal } = new AbortController();
    const run = runImport(files, { tables, folder: join(folder, 'new'), signal }, () => undefined);
    await expect(run).rejects.toThrow(/imported only 2 of 3 items.*the live dataset is unchanged/s);
  });

  it('stops at once, with its processes, when the engine is stopped', async () => {
    const importing = bench.bulkImport.run(groupsOf(50_000), { lines: 50_000, writes: 50_000 });
    const ended = expect(importing).rejects.toThrow(/stopped/);
    while ((await processesWith(`import --source ${folder}`)).length === 0) await sleep(10);
    await bench.close();
    await bench.engine.ended;
    await ended;
    expect(await processesWith(folder)).toEqual([]);
    expect(await left()).toEqual(['dynamodb.db']);
    bench = await openBench(file);
    expect(await bench.accounts()).toEqual([shop]);
  });
});

describe('a bulk import that is killed', () => {
  /** Imports in a process of its own, and kills that as soon as `seen` says so. */
  async function killedWhen(seen: () => boolean | Promise<boolean>) {
    await bench.close();
    const module = new URL('./bench.ts', import.meta.url).href;
    const script = `
      const { groupsOf, openBench } = await import('${module}');
      const bench = await openBench(${JSON.stringify(file)});
      await bench.bulkImport.run(groupsOf(50_000), { lines: 50_000, writes: 50_000 });`;
    const child = spawn(process.execPath, ['--input-type=module', '--eval', script], { stdio: 'inherit' });
    const gone = new Promise((resolve) => child.once('exit', resolve));
    while (!(await seen())) await sleep(2);
    child.kill('SIGKILL');
    await gone;
    while ((await processesWith(folder)).length > 0) await sleep(10);
    bench = await openBench(file);
  }

  it.each([
    ['while it exports', () => existsSync(join(importFolder(file), 'export'))],
    ['while the engine imports', () => existsSync(join(importFolder(file), 'database', 'tables.json'))],
  ])('%s leaves the data unchanged', async (_when, seen) => {
    await killedWhen(seen);
    expect(await bench.addressKeys()).toEqual(['#load', '9999ZZ#1#']);
    expect(await bench.accounts()).toEqual([shop]);
    expect(await left()).toEqual(['dynamodb.db']);
    await bench.bulkImport.run(groupsOf(20), { lines: 20, writes: 20 });
    expect(await bench.addressKeys()).toHaveLength(21);
    expect(await bench.accounts()).toEqual([shop]);
  });

  it('with a complete new database is finished by the next start, without the journal of the old one', async () => {
    await bench.bulkImport.run(groupsOf(20), { lines: 20, writes: 20 });
    await bench.close();
    const whole = join(folder, 'whole');
    await copyFile(file, whole);
    bench = await openBench(file);
    await bench.bulkImport.run(groupsOf(4), { lines: 4, writes: 4 });
    // The writes of an engine that is killed lie in a file of their own.
    await setDataset({ peildatum: '2026-02-08', load: 'y' });
    await copyFile(`${file}-wal`, join(folder, 'old.writes'));
    await bench.close();
    await copyFile(join(folder, 'old.writes'), `${file}-wal`);
    await copyFile(whole, `${file}.imported`);

    await finishImport(file);
    expect(await left()).toEqual(['dynamodb.db', 'old.writes', 'whole']);
    bench = await openBench(file);
    expect(await bench.addressKeys()).toHaveLength(21);
    expect(await bench.accounts()).toEqual([shop]);
  });
});
