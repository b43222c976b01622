import { hash } from 'node:crypto';
import { DatabaseSync } from 'node:sqlite';
import { isDeepStrictEqual } from 'node:util';
import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { type AddressItem, addressItem, keyOfItem } from '../../core/addresses/address-item.ts';
import { type Line, lineOf, parseLine } from '../../loader/dataset/lines.ts';

/** A row of the embedded engine's table: its columns, but for one that is always null and the empty sort key. */
export type EngineRow = { pk: string; item_json: string; item_size: number; hash_prefix: string };

/** The engine writes the members of an object in any order, and reads them so. */
export function rowOfLine(line: Line): EngineRow {
  const item = addressItem(parseLine(line));
  const key = keyOfItem(item);
  return { pk: `S:${key}`, item_json: JSON.stringify(item), item_size: itemSize(item), hash_prefix: hashPrefix(key) };
}

/** What is the same in the rows of successive lines, which mostly share all but their key and their one id. */
type Template = { rest: string; json: [string, string, string]; size: number };

/** Makes the rows of lines in their order, as `rowOfLine` does, in a third of the time. */
export function rowMaker(): (line: Line) => EngineRow {
  let template: Template | undefined;
  return (line) => {
    const idAt = line.lastIndexOf('\t') + 1;
    const key = line.slice(0, line.indexOf('\t'));
    const rest = line.slice(key.length, idAt);
    const last = line.slice(idAt);
    const id = oneId.test(last) ? withoutZeros(last) : undefined;
    if (template?.rest !== rest || id === undefined) {
      const row = rowOfLine(line);
      template = id === undefined ? undefined : templateOf(row, { rest, key, id });
      return row;
    }
    const { json, size } = template;
    return {
      pk: `S:${key}`,
      item_json: `${json[0]}${key}${json[1]}${id}${json[2]}`,
      item_size: size + key.length + numberSize(id),
      hash_prefix: hashPrefix(key),
    };
  };
}

/** As long as no toevoeging is. */
const oneId = /^[0-9]{16}$/;
const withoutZeros = (id: string) => id.replace(/^0+(?=.)/, '');

/** None for a line whose JSON has its id elsewhere too. */
function templateOf({ item_json, item_size }: EngineRow, line: { rest: string; key: string; id: string }) {
  const { rest, key, id } = line;
  const [beforeId, afterId, ...more] = item_json.split(`"${id}"`);
  const keyAt = item_json.indexOf(`"${key}"`) + 1;
  if (beforeId === undefined || afterId === undefined || more.length > 0) return undefined;
  const json: Template['json'] = [item_json.slice(0, keyAt), `${beforeId.slice(keyAt + key.length)}"`, `"${afterId}`];
  return { rest, json, size: item_size - key.length - numberSize(id) };
}

/** By which the engine orders the partitions of a scan, as DynamoDB scatters them. */
function hashPrefix(key: string): string {
  return hash('md5', `Outliers${key}`, 'hex').slice(0, 6);
}

/** DynamoDB's size of an item. */
function itemSize(item: AddressItem): number {
  let size = 0;
  for (const name in item) size += name.length + valueSize(item[name] as AttributeValue);
  return size;
}

function valueSize({ S, NS, L, M }: AttributeValue): number {
  let size = 1; // of a NULL
  if (S !== undefined) size = Buffer.byteLength(S);
  else if (NS !== undefined) size = NS.reduce((total, id) => total + numberSize(id), 0);
  else if (L !== undefined) size = L.reduce((total, value) => total + 1 + valueSize(value), 3);
  else if (M !== undefined) size = 3 + itemSize(M) + Object.keys(M).length;
  return size;
}

/** Two digits take a byte; zeros at the end take none. */
function numberSize(id: string): number {
  let length = id.length;
  while (id[length - 1] === '0') length--;
  return 1 + Math.ceil(length / 2);
}

/** The only version of the engine's database whose form is known here. */
const knownVersion = '9';

/** The engine's table, as `sqlite_master` has it, with single spaces. */
function knownTable(name: string): string {
  return (
    `CREATE TABLE "${name}" ( pk TEXT NOT NULL, sk TEXT NOT NULL DEFAULT '', item_json TEXT NOT NULL, ` +
    "item_size INTEGER NOT NULL, cached_at REAL, hash_prefix TEXT NOT NULL DEFAULT '', PRIMARY KEY (pk, sk) )"
  );
}

/** Whether the engine has made this database and its table in exactly the form that is known here. */
export function isKnownForm(database: DatabaseSync, table: string): boolean {
  const version = database.prepare("SELECT value FROM _config WHERE key = 'schema_version'").get();
  if (version?.value !== knownVersion) return false;
  const objects = database.prepare('SELECT type, sql FROM sqlite_master WHERE tbl_name = ? ORDER BY type').all(table);
  const [index, made] = objects;
  if (objects.length !== 2 || index?.sql !== null) return false;
  if (made?.type !== 'table' || String(made.sql).replaceAll(/\s+/g, ' ') !== knownTable(table)) return false;
  const plain = database.prepare(
    `SELECT count(*) AS count FROM _tables WHERE table_name = ? AND gsi_definitions IS NULL
     AND lsi_definitions IS NULL AND vector_index_definitions IS NULL AND NOT stream_enabled AND NOT ttl_enabled`,
  );
  return plain.get(table)?.count === 1;
}

const street = { straat: 'Straat "é" \\ ’t 😀\u0001/', woonplaats: "'s-Graveland" };

/** One line of each kind: several places, lists, names that JSON escapes, and ids with zeros at either end. */
export const probeLines: readonly Line[] = [
  lineOf({ key: '1000AA#1#', places: [{ ...street, nummeraanduidingen: ['0457200000000001'] }] }),
  lineOf({ key: '1000AA#2#A', places: [{ ...street, nummeraanduidingen: ['0457200000000100', '1457200000000120'] }] }),
  lineOf({ key: '1000AA#3#', places: [], toevoegingen: ['A', 'B12'] }),
  lineOf({
    key: '1000AA#99999#',
    places: [
      { straat: 'A', woonplaats: 'É', nummeraanduidingen: ['0363200000000000'] },
      { ...street, nummeraanduidingen: ['1987200012345678'] },
    ],
    toevoegingen: [null, 'A', '1'],
  }),
];

/**
 * Whether the engine, which has imported the probe lines into this database, has written them as `rowOfLine` does:
 * only then may rows be written past it.
 */
export function hasKnownRows(file: string, table: string): boolean {
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    if (!isKnownForm(database, table)) return false;
    const written = database.prepare(`SELECT * FROM "${table}" ORDER BY pk`).all();
    return isDeepStrictEqual(
      written.map((row) => ({ ...row, item_json: JSON.parse(String(row.item_json)) })),
      probeLines
        .map(rowOfLine)
        .map((row) => ({ ...row, sk: '', cached_at: null, item_json: JSON.parse(row.item_json) }))
        .sort((a, b) => (a.pk < b.pk ? -1 : 1)),
    );
  } finally {
    database.close();
  }
}

/** The probe lines as an export of the table, one item a line, for the engine's import. */
export function probeExport(): string {
  return probeLines.map((line) => `${JSON.stringify({ Item: addressItem(parseLine(line)) })}\n`).join('');
}
