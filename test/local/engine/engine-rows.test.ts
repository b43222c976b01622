import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from '@jest/globals';
import { keyOf, type Line, lineOf, placeText } from '../../../loader/addresses/lines.ts';
import { dynamoDbAddressTable } from '../../../loader/storage/address-table.ts';
import { localDynamoDb } from '../../../local/engine/client.ts';
import { startEngine } from '../../../local/engine/engine.ts';
import { rowMaker, rowOfLine } from '../../../local/engine/engine-rows.ts';
import { createTables } from '../../support/dynamodb.ts';
import { folderForNow } from '../../support/folder-for-now.ts';
import { isFullSweep } from '../../support/sweep.ts';
import { underLock } from '../../support/under-lock.ts';

const folder = folderForNow('rows-');

const streets = [
  'Kade',
  "'t Zand",
  'Straat "é" \\ ’t 😀\u0001/',
  'Škoda 😀',
  'a\tb\n\u0001',
  '/',
  'Ŧ'.repeat(80),
];

/**
 * Lines of every kind that a dataset has, with identificaties whose digits begin and end with any
 * number of zeros.
 */
const lines: Line[] = [
  lineOf({
    key: '1000AA#99999#',
    places: [
      { straat: 'A', woonplaats: 'É', gemeente: '0363', nummeraanduidingen: ['0363200000000000'] },
      { straat: 'Kade', woonplaats: 'É', nummeraanduidingen: ['1987200012345678'] },
    ],
    toevoegingen: [null, 'A', '1'],
  }),
  ...Array.from({ length: isFullSweep ? 1_500 : 300 }, (_, index) => {
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
    const isListOnly = index % 10 === 0 && toevoegingen.length > 0;
    return lineOf({
      key: `2000AB#${index + 1}#`,
      places: isListOnly ? [] : [place(0), ...(index % 11 === 0 ? [place(1)] : [])],
      ...(index % 5 === 0 && toevoegingen.length > 0 && { toevoegingen }),
    });
  }),
];

describe('a row', () => {
  it('has in every column what the engine writes for the same line', async () => {
    const file = join(folder, 'dynamodb.db');
    const engine = await startEngine(file);
    const client = localDynamoDb(engine.endpoint);
    await createTables(client, { addresses: 'addresses', accounts: 'accounts' });
    const addresses = dynamoDbAddressTable(client, 'addresses');
    const puts = lines.map((put) => ({ put }));
    await underLock(addresses, (fence) => addresses.write(puts, fence));
    client.destroy();
    await engine.stop();
    const database = new DatabaseSync(file);
    const written = database.prepare("SELECT * FROM addresses WHERE pk NOT LIKE 'S:#%'").all();
    database.close();
    // The engine writes the members of an object in any order.
    const comparable = (row: object) => ({
      ...row,
      item_json: JSON.parse(String((row as (typeof written)[0]).item_json)),
    });
    const expected = lines.map((line) => ({
      ...comparable(rowOfLine(line)),
      sk: '',
      cached_at: null,
    }));
    expect(new Map(written.map((row) => [row.pk, comparable(row)]))).toEqual(
      new Map(lines.map((line, index) => [`S:${keyOf(line)}`, expected[index]])),
    );
  });

  it('is the same for lines that share a street, whatever else they have', () => {
    const ids = ['0457200000000001', '0457200000000100', '0000000000000000', '9999999999999999'];
    const kinds = ['', ',A'].flatMap((list) =>
      ['Kade', '457200000000001', '1000AA#1#', '"1000AA#2#"'].flatMap((straat) =>
        [...ids, `${ids[0]},${ids[1]}`, ''].map(
          (last) => `${list}\t${placeText({ straat, woonplaats: 'Dorp' })}${last}`,
        ),
      ),
    );
    const several = kinds
      .slice(0, 4)
      .flatMap((kind) =>
        ids.map((id) => `${kind}\t${placeText({ straat: 'Astraat', woonplaats: 'Dorp' })}${id}`),
      );
    const object = (n: number) => ({
      identificatie: `045701000000000${n}`,
      type: 'verblijfsobject' as const,
      hoofdadres: true,
      status: 'Verblijfsobject in gebruik',
      oppervlakte: 10 ** n,
      gebruiksdoelen: ['woonfunctie'],
      locatie: { x: 131_234.5, y: 480_123 },
    });
    const withObjects = [[0], [1], [1, 2], [], [3]].flatMap((objects) =>
      ids.map(
        (id) =>
          `\t${placeText({ straat: 'A', woonplaats: 'Dorp', objecten: objects.map(object) })}${id}`,
      ),
    );
    const shared = [...kinds, ...several, ...withObjects, 'A,B', '1', '12', ',1,2'].flatMap(
      (rest, kind) =>
        [0, 1, 2].map((index) =>
          `1000AA#${index * 50 + 1}#\t${rest}`.replace(
            'AA',
            `A${String.fromCharCode(65 + (kind % 26))}`,
          ),
        ),
    );
    expect(shared.map(rowMaker())).toEqual(shared.map(rowOfLine));
  });
});
