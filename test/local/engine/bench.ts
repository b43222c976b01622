import { DatabaseSync } from 'node:sqlite';
import { PutItemCommand, ScanCommand } from '@aws-sdk/client-dynamodb';
import { placeText } from '../../../loader/addresses/lines.ts';
import { noProgress } from '../../../loader/steps/step.ts';
import { engineBulkImport } from '../../../local/engine/bulk-import.ts';
import { localDynamoDb } from '../../../local/engine/client.ts';
import { startPausableEngine } from '../../../local/engine/database-files.ts';
import { createTables } from '../../support/dynamodb.ts';

const names = { addresses: 'addresses', accounts: 'accounts' };

/** The account in its table. */
export const shop = {
  account: { S: 'shop' },
  item: { S: 'access' },
  used: { N: '12' },
  keys: { M: { a: { S: 'ë"' } } },
};

/** An engine on `file` with both tables and one account, and helpers to inspect them. */
export async function openBench(file: string) {
  const engine = await startPausableEngine(file);
  const client = localDynamoDb(engine.endpoint);
  const scan = async (TableName: string) =>
    (await client.send(new ScanCommand({ TableName }))).Items ?? [];
  const disk = { free: Number.MAX_SAFE_INTEGER };
  const bulkImport = engineBulkImport({
    engine,
    databaseFile: file,
    table: names.addresses,
    progress: noProgress,
    minimumWrites: 1,
    freeIn: async () => disk.free,
  });
  return {
    engine,
    client,
    /** The free disk space that the import sees. */
    disk,
    async prepare() {
      await createTables(client, names);
      await client.send(new PutItemCommand({ TableName: names.accounts, Item: shop }));
      await client.send(
        new PutItemCommand({ TableName: names.addresses, Item: { address: { S: '#load' } } }),
      );
      await client.send(
        new PutItemCommand({ TableName: names.addresses, Item: { address: { S: '9999ZZ#1#' } } }),
      );
    },
    /** All but the checksum secret. */
    accounts: async () =>
      (await scan(names.accounts)).filter(({ account }) => account?.S !== 'checksum#'),
    addressKeys: async () =>
      (await scan(names.addresses)).map(({ address }) => address?.S ?? '').sort(),
    bulkImport,
    /** Imports so many lines, in two groups unless others are given. */
    import: (lines: number, groups: AsyncIterable<string[]> = groupsOf(lines)) =>
      bulkImport.run(groups, { lines, writes: lines }),
    async close() {
      client.destroy();
      await engine.stop();
    },
  };
}

/** What SQLite says of a database that no engine uses: `ok`. */
export function integrityOf(file: string): unknown {
  const database = new DatabaseSync(file, { readOnly: true });
  const [answer] = database.prepare('PRAGMA integrity_check').all();
  database.close();
  return answer?.integrity_check;
}

/** The id of the address at an index. */
export function idOf(index: number): string {
  return `04572${String(index).padStart(11, '0')}`;
}

/** `count` lines in two groups, like the segments of a snapshot. */
async function* groupsOf(count: number) {
  for (const group of [1, 2]) {
    yield Array.from({ length: count / 2 }, (_, index) => {
      const street = placeText({
        straat: `Straat\t"${Math.floor(index / 3)}" \\ ’t`,
        woonplaats: "'s-Graveland é",
      });
      return `${group}381AA#${index + 1}#\t\t${street}${idOf(index)}`;
    });
  }
}
