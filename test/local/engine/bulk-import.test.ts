import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { copyFile, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { PutItemCommand } from '@aws-sdk/client-dynamodb';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { dynamoDbAddressTable } from '../../../loader/storage/address-table.ts';
import { finishImport } from '../../../local/engine/database-files.ts';
import { folderForNow } from '../../support/folder-for-now.ts';
import { inSweep } from '../../support/in-sweep.ts';
import { processesWith } from '../../support/start.ts';
import { sweep } from '../../support/sweep.ts';
import { idOf, integrityOf, openBench, shop } from './bench.ts';

/** A database that no engine uses, with what each test begins with. */
const prepared = join(folderForNow('bulk-import-'), 'dynamodb.db');
let folder: string;
let file: string;
let bench: Awaited<ReturnType<typeof openBench>>;

beforeAll(async () => {
  const making = await openBench(prepared);
  await making.prepare();
  await making.close();
  expect(integrityOf(prepared)).toBe('ok');
});
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bulk-import-'));
  file = join(folder, 'dynamodb.db');
  await copyFile(prepared, file);
});
afterEach(async () => {
  await bench.close();
  await rm(folder, { recursive: true, force: true });
});

/** What there is of the database but the engine's own files of writes under way. */
const left = async () => (await readdir(folder)).filter((name) => !/-(wal|shm)$/.test(name));

/** Names the dataset, beside the item of the lock that the bench has put there. */
async function setDataset({ peildatum, load }: { peildatum: string; load: string }): Promise<void> {
  const Item = { address: { S: '#dataset' }, date: { S: peildatum }, load: { S: load } };
  await bench.client.send(new PutItemCommand({ TableName: 'addresses', Item }));
}

describe('a bulk import', () => {
  beforeEach(async () => {
    bench = await openBench(file);
  });

  it('replaces all addresses with the lines, and keeps the lock, the dataset item and the accounts', async () => {
    await setDataset({ peildatum: '2026-01-08', load: 'x' });
    expect(await bench.bulkImport.takesOn({ lines: 60, writes: 60 })).toBe(true);
    await bench.import(40);
    await bench.import(60);
    const keys = Array.from({ length: 30 }, (_, index) => [
      `1381AA#${index + 1}#`,
      `2381AA#${index + 1}#`,
    ]).flat();
    expect(await bench.addressKeys()).toEqual(['#dataset', '#load', ...keys.sort()]);
    const table = dynamoDbAddressTable(bench.client, 'addresses');
    const found = await table.read(['1381AA#1#', '2381AA#30#']);
    const at = (third: number, id: number) => [
      {
        straat: `Straat\t"${third}" \\ ’t`,
        woonplaats: "'s-Graveland é",
        nummeraanduidingen: [idOf(id)],
      },
    ];
    expect([...found.values()].map(({ places }) => places)).toEqual([at(0, 0), at(9, 29)]);
    expect(await table.dataset()).toEqual({ peildatum: '2026-01-08', load: 'x' });
    expect(await bench.accounts()).toEqual([shop]);
    expect(await left()).toEqual(['dynamodb.db']);
  });

  it('does not start without enough disk space, and says how much is needed, where, and what to do', async () => {
    const size = { lines: 9_073_758, writes: 9_073_758 };
    bench.disk.free = 1_234_567_890;
    await expect(bench.bulkImport.takesOn(size)).rejects.toMatchObject({
      name: 'DiskSpaceError',
      message:
        `Importing 9,073,758 addresses needs 1.81 GB of free disk space in ${folder}; 1.23 GB is available. Free some ` +
        'space and start again to continue, or choose a folder on another disk with --data FOLDER.',
    });
    bench.disk.free = 1_264_000;
    await expect(bench.bulkImport.takesOn({ lines: 12_149, writes: 12_149 })).rejects.toThrow(
      'needs 2.4 MB of free disk space in',
    );
    bench.disk.free = 1_820_000_000;
    expect(await bench.bulkImport.takesOn(size)).toBe(true);
    expect(await left()).toEqual(['dynamodb.db']);
  });

  it('leaves a load to single writes, which need no space, where they take less or not much longer', async () => {
    const takesOn = (writes: number) => bench.bulkImport.takesOn({ lines: 1_000, writes });
    expect(await takesOn(100)).toBe(true);
    expect(await takesOn(40)).toBe(true);
    expect(await takesOn(39)).toBe(false);
    bench.disk.free = 0;
    expect(await takesOn(99)).toBe(false);
    await expect(takesOn(100)).rejects.toThrow(/of free disk space/);
  });

  inSweep('stops at once, with its processes, when the engine is stopped', async () => {
    const importing = bench.import(50_000);
    const ended = expect(importing).rejects.toThrow(/stopped/);
    while (!existsSync(`${file}.import`)) await sleep(5);
    await bench.close();
    await bench.engine.ended;
    await ended;
    expect(await processesWith(folder)).toEqual([]);
    expect(await left()).toEqual(['dynamodb.db']);
    bench = await openBench(file);
    expect(await bench.accounts()).toEqual([shop]);
  });

  it('leaves the previous data and no working files when it fails, as where two lines have one key', async () => {
    const twice = (async function* () {
      yield ['1381AA#1#\tA', '1381AA#1#\tB'];
    })();
    await expect(bench.import(2, twice)).rejects.toThrow(/UNIQUE constraint/);
    expect(await bench.addressKeys()).toEqual(['#load', '9999ZZ#1#']);
    expect(await bench.accounts()).toEqual([shop]);
    expect(await left()).toEqual(['dynamodb.db']);
  });
});

describe('a bulk import that is killed', () => {
  /**
   * Imports in a process of its own, which looks every millisecond whether it should kill itself.
   */
  async function killedWhen(seen: string) {
    const module = new URL('./bench.ts', import.meta.url).href;
    const script = `
      const { statSync } = await import('node:fs');
      const { openBench } = await import('${module}');
      const size = (ending) => statSync(${JSON.stringify(file)} + ending, { throwIfNoEntry: false })?.size ?? -1;
      const bench = await openBench(${JSON.stringify(file)});
      setInterval(() => { if (${seen}) process.kill(process.pid, 'SIGKILL'); }, 1);
      await bench.import(20_000);
      process.exit();`;
    const child = spawn(process.execPath, ['--input-type=module', '--eval', script], {
      stdio: 'inherit',
    });
    const [, signal] = await once(child, 'exit');
    expect(signal).toBe('SIGKILL');
    while ((await processesWith(folder)).length > 0) await sleep(10);
    bench = await openBench(file);
  }

  const moments = [
    ['with the first rows written', "size('.import') > 3e5"],
    ['before the first rows are written', "size('.import') >= 0"],
    ['with half of the rows written', "size('.import') > 15e5"],
  ] as const;

  it.each(sweep(moments, 1))('%s leaves the data unchanged', async (_when, seen) => {
    await killedWhen(seen);
    expect(await bench.addressKeys()).toEqual(['#load', '9999ZZ#1#']);
    expect(await bench.accounts()).toEqual([shop]);
    expect(await left()).toEqual(['dynamodb.db']);
    await bench.import(20);
    expect(await bench.addressKeys()).toHaveLength(21);
    expect(await bench.accounts()).toEqual([shop]);
    await bench.close();
    expect(integrityOf(file)).toBe('ok');
  });

  it('with a complete new database is finished by the next start, without the journal of the old one', async () => {
    bench = await openBench(file);
    await bench.import(20);
    await bench.close();
    const whole = join(folder, 'whole');
    await copyFile(file, whole);
    bench = await openBench(file);
    await bench.import(4);
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
