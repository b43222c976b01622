import { hash } from 'node:crypto';
import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { type AddressItem, addressItem, keyOfItem } from '../../core/addresses/address-item.ts';
import { type Line, parseLine } from '../../loader/addresses/lines.ts';

/**
 * A row as the embedded engine of the version in package.json writes it, without the sort key, which is empty, and the
 * column that is always null. A test compares every column with the engine's own.
 */
export type EngineRow = { pk: string; item_json: string; item_size: number; hash_prefix: string };

/** The row of a line. The engine writes the members of an item in an order that varies; here they have one order. */
export function rowOfLine(line: Line): EngineRow {
  const item = addressItem(parseLine(line));
  const key = keyOfItem(item);
  return { pk: `S:${key}`, item_json: JSON.stringify(item), item_size: itemSize(item), hash_prefix: hashPrefix(key) };
}

/** The common text of the rows of successive lines, which mostly differ only in their key, their objects and one id. */
type Template = { rest: string; json: string[]; size: number };

/** Returns what makes the rows of lines in their order, as `rowOfLine` does, in a third of the time. */
export function rowMaker(): (line: Line) => EngineRow {
  let template: Template | undefined;
  return (line) => {
    const idAt = line.lastIndexOf('\t') + 1;
    const objectsAt = line.lastIndexOf('\t', idAt - 2) + 1;
    const key = line.slice(0, line.indexOf('\t'));
    const rest = line.slice(key.length, objectsAt);
    const objects = line.slice(objectsAt, idAt - 1);
    const last = line.slice(idAt);
    const id = oneId.test(last) ? withoutZeros(last) : undefined;
    const values = objects === '' ? [key, id ?? ''] : [key, objects, id ?? ''];
    if (template?.rest !== rest || template.json.length !== values.length + 1 || id === undefined) {
      const row = rowOfLine(line);
      // A list belongs to one line, so the template of the lines around it stays.
      if (id !== undefined && rest.startsWith('\t\t')) template = templateOf(row, rest, values);
      return row;
    }
    const { json, size } = template;
    return {
      pk: `S:${key}`,
      item_json: values.reduce((text, value, i) => `${text}${value}${json[i + 1]}`, json[0] ?? ''),
      item_size: size + key.length + objects.length + numberSize(id),
      hash_prefix: hashPrefix(key),
    };
  };
}

/** Longer than any toevoeging, so that a list of those is never taken for an id. */
const oneId = /^[0-9]{16}$/;
const withoutZeros = (id: string) => id.replace(/^0+(?=.)/, '');

/** The text around `values` (key, objects if any, and id) in the JSON. Undefined if it contains a value twice. */
function templateOf({ item_json, item_size }: EngineRow, rest: string, values: readonly string[]) {
  const json: string[] = [];
  let text = item_json;
  for (const value of values) {
    const [before, after, ...more] = text.split(`"${value}"`);
    if (before === undefined || after === undefined || more.length > 0) return undefined;
    json.push(`${before}"`);
    text = `"${after}`;
  }
  const [key = '', ...others] = values;
  const id = others.pop() ?? '';
  return { rest, json: [...json, text], size: item_size - key.length - others.join('').length - numberSize(id) };
}

/** Hash prefix that sets the scan order. */
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
