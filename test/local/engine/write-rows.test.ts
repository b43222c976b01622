import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { keyOf, type Line, lineOf } from '../../../loader/dataset/lines.ts';
import { runImport } from '../../../local/engine/bulk-import.ts';
import { exportLines, tableFolder } from '../../../local/engine/export-files.ts';
import {
  hasKnownRows,
  isKnownForm,
  probeExport,
  probeLines,
  rowMaker,
  rowOfLine,
} from '../../../local/engine/row-form.ts';
import { writeRows } from '../../../local/engine/write-rows.ts';
import { integrityOf } from './bench.ts';

const table = 'addresses';
const definition = {
  TableName: table,
  KeySchema: [{ AttributeName: 'address', KeyType: 'HASH' }],
  AttributeDefinitions: [{ AttributeName: 'address', AttributeType: 'S' }],
};
const { signal } = new AbortController();
const nothing = () => undefined;

let folder: string;
let made = 0;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'write-rows-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** A new database by the engine's own import of these lines. */
async function importedByEngine(lines: readonly Line[], Table: object = definition): Promise<string> {
  const own = join(folder, `${made++}`);
  const files = { folder: join(own, 'export'), items: 0, bytes: 0 };
  await tableFolder(files, table);
  if (lines.length > 0) await exportLines(files, table, groupsOf(lines), nothing);
  else await writeFile(join(await tableFolder(files, table), 'none.json'), '');
  return runImport(files, { tables: [{ Table }], folder: join(own, 'database'), signal }, nothing);
}

async function* groupsOf(lines: readonly Line[]) {
  yield lines.slice(0, lines.length / 3);
  yield lines.slice(lines.length / 3);
}

/** All columns, by key. The engine writes the members of an object in any order. */
function rowsOf(file: string) {
  const database = new DatabaseSync(file, { readOnly: true });
  const rows = database.prepare(`SELECT * FROM "${table}" ORDER BY pk`).all();
  database.close();
  return rows.map((row) => ({ ...row, item_json: JSON.parse(String(row.item_json)) }));
}

const streets = ['Kade', "'t Zand", 'Straat "é" \\', 'Škoda 😀', 'a\tb\n\u0001', '/', 'Ŧ'.repeat(80)];

/** Of every kind that a snapshot has, with identificaties whose digits begin and end with any number of zeros. */
const lines: Line[] = [
  ...probeLines,
  ...Array.from({ length: 1_500 }, (_, index) => {
    const id = (more: number) =>
      String((index * 7_919 + more) * 10 ** (index % 9))
        .padStart(16, '0')
        .slice(-16);
    const place = (at: number) => ({
      straat: streets[(index + at) % streets.length] ?? '',
      woonplaats: streets[index % 3] ?? '',
      nummeraanduidingen: at === 0 ? [id(1)] : [id(1), id(2)].sort(),
    });
    const toevoegingen = [null, 'A', 'B12', 'bis'].slice(index % 2, 1 + (index % 4));
    return lineOf({
      key: `2000AB#${index + 1}#`,
      places: [place(0), ...(index % 11 === 0 ? [place(1)] : [])],
      ...(index % 5 === 0 && toevoegingen.length > 0 && { toevoegingen }),
    });
  }),
].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));

const write = (file: string, some: readonly Line[]) =>
  writeRows(file, { table, groups: groupsOf(some), signal, onRows: nothing });

describe('rows written past the engine', () => {
  it('are in every column what the engine writes of the same lines, in a sound database', async () => {
    const file = await importedByEngine([]);
    await write(file, lines);
    expect(rowsOf(file)).toEqual(rowsOf(await importedByEngine(lines)));
    expect(integrityOf(file)).toBe('ok');
  });

  it('are the same for lines that share a street, whatever else they have', () => {
    const ids = ['0457200000000001', '0457200000000100', '0000000000000000', '9999999999999999'];
    const kinds = ['', ',A'].flatMap((list) =>
      ['Kade', '457200000000001', '1000AA#1#', '"1000AA#2#"'].flatMap((straat) =>
        [...ids, `${ids[0]},${ids[1]}`, ''].map((last) => `${list}\t${straat}\tDorp\t${last}`),
      ),
    );
    const several = kinds.slice(0, 4).flatMap((kind) => ids.map((id) => `${kind}\tAstraat\tDorp\t${id}`));
    const shared = [...kinds, ...several, 'A,B', '1', '12', ',1,2'].flatMap((rest, kind) =>
      [0, 1, 2].map((index) =>
        `1000AA#${index * 50 + 1}#\t${rest}`.replace('AA', `A${String.fromCharCode(65 + (kind % 26))}`),
      ),
    );
    expect(shared.map(rowMaker())).toEqual(shared.map(rowOfLine));
  });

  it('take no disk but that of the database, and pass the wish to stop on within a group', async () => {
    const file = await importedByEngine([]);
    const stopping = new AbortController();
    let written = 0;
    const onRows = (rows: number) => {
      written += rows;
      expect(existsSync(`${file}-wal`) || existsSync(`${file}-journal`)).toBe(false);
      if (written > 3_000) stopping.abort(new Error('stopped'));
    };
    const many = Array.from({ length: 30_000 }, (_, index) => lineOf({ key: `3000AA#${index}#`, places: [] }));
    const writing = writeRows(file, { table, groups: groupsOf(many), signal: stopping.signal, onRows });
    await expect(writing).rejects.toThrow('stopped');
    expect(written).toBeLessThan(10_000);
  });

  it('are refused where a key is there already', async () => {
    await expect(write(await importedByEngine(lines), lines.slice(3, 6))).rejects.toThrow(/UNIQUE constraint/);
  });

  it.each([
    ['another version', "UPDATE _config SET value = '10' WHERE key = 'schema_version'"],
    ['no version', 'DELETE FROM _config'],
    ['another column', 'ALTER TABLE addresses ADD COLUMN expires REAL'],
    ['an index of its own', 'CREATE INDEX more ON addresses (hash_prefix)'],
    ['a trigger', 'CREATE TRIGGER more AFTER INSERT ON addresses BEGIN SELECT 1; END'],
    ['a stream', 'UPDATE _tables SET stream_enabled = 1'],
    ['a secondary index', "UPDATE _tables SET gsi_definitions = '[]'"],
    ['rows in another form', "UPDATE addresses SET item_size = item_size + 1 WHERE pk LIKE '%A'"],
    ['other hashes', "UPDATE addresses SET hash_prefix = '000000'"],
  ])('are not written into a database with %s', async (_what, change) => {
    const own = join(folder, `${made++}`);
    const files = { folder: join(own, 'export'), items: probeLines.length, bytes: 0 };
    await writeFile(join(await tableFolder(files, table), 'probe.json'), probeExport());
    const file = await runImport(
      files,
      { tables: [{ Table: definition }], folder: join(own, 'database'), signal },
      nothing,
    );
    expect(hasKnownRows(file, table)).toBe(true);
    const database = new DatabaseSync(file);
    database.exec(change);
    const known = isKnownForm(database, table);
    database.close();
    expect(hasKnownRows(file, table)).toBe(false);
    if (!known) await expect(write(file, lines.slice(5, 9))).rejects.toThrow(/another form/);
  });
});
