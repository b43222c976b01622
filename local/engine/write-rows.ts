import { DatabaseSync } from 'node:sqlite';
import { setImmediate as turn } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { keyOf, type Line, parseLine } from '../../loader/dataset/lines.ts';
import { dynamoDbAddressTable } from '../../loader/storage/address-table.ts';
import { localDynamoDb } from './client.ts';
import { EngineError, startEngine } from './engine.ts';
import { isKnownForm, rowMaker } from './row-form.ts';

/** Some 20 ms, after which a signal or the lease of the load gets its turn. */
const rowsPerTurn = 2_000;
/** Lines of each group that are read back through the engine. */
const readBackPerGroup = 1;

export type RowWriting = {
  readonly table: string;
  /** In the order of their keys, which makes writing the index fast. */
  readonly groups: AsyncIterable<readonly Line[]>;
  readonly signal: AbortSignal;
  readonly onRows: (count: number) => void;
};

/**
 * Adds the lines to a database that the engine has just made and that nothing else uses yet, and reads some of them
 * back through the engine. A process that is killed meanwhile leaves a file that nobody may use.
 * @throws EngineError if the database has another form, or does not hold every line afterwards
 */
export async function writeRows(file: string, { table, groups, signal, onRows }: RowWriting): Promise<void> {
  const sample: Line[] = [];
  const database = new DatabaseSync(file);
  try {
    if (!isKnownForm(database, table)) throw new EngineError(`${file} has another form than the engine's tables had.`);
    const count = () => Number(database.prepare(`SELECT count(*) AS count FROM "${table}"`).get()?.count);
    const before = count();
    // The file is new: a crash discards it, and it is synced before it is used. A journal on disk would double it.
    for (const setting of ['journal_mode = MEMORY', 'synchronous = OFF', 'cache_size = -32000']) {
      database.exec(`PRAGMA ${setting}`);
    }
    database.exec('BEGIN');
    const insert = rowInserter(database, table);
    let rows = 0;
    for await (const lines of groups) {
      for (let start = 0; start < lines.length; start += rowsPerTurn) {
        const some = lines.slice(start, start + rowsPerTurn);
        insert(some);
        rows += some.length;
        onRows(some.length);
        await turn();
        signal.throwIfAborted();
      }
      const step = Math.ceil(lines.length / readBackPerGroup);
      sample.push(...lines.filter((_line, index) => index % step === step >> 1));
    }
    database.exec('COMMIT');
    if (count() !== before + rows) throw new EngineError(`${file} does not hold the ${rows} rows that were written.`);
    database.exec('PRAGMA journal_mode = WAL'); // as the engine has it
  } finally {
    database.close();
  }
  await readBack(file, table, sample);
  signal.throwIfAborted();
}

/** A call of SQLite costs about as much as the row that it inserts: with so many rows in one, half of that is saved. */
const rowsPerInsert = 16;

/** Inserts lines as rows. */
function rowInserter(database: DatabaseSync, table: string): (lines: readonly Line[]) => void {
  const rowOf = rowMaker();
  const insertOf = (rows: number) =>
    database.prepare(
      `INSERT INTO "${table}" (pk, item_json, item_size, hash_prefix) VALUES ${Array(rows).fill('(?, ?, ?, ?)').join()}`,
    );
  const [several, one] = [insertOf(rowsPerInsert), insertOf(1)];
  const valuesOf = (line: Line) => {
    const { pk, item_json, item_size, hash_prefix } = rowOf(line);
    return [pk, item_json, item_size, hash_prefix];
  };
  return (lines) => {
    const alone = lines.length - (lines.length % rowsPerInsert);
    for (let start = 0; start < alone; start += rowsPerInsert) {
      several.run(...lines.slice(start, start + rowsPerInsert).flatMap(valuesOf));
    }
    for (const line of lines.slice(alone)) one.run(...valuesOf(line));
  };
}

/** Reads lines through an engine on the new database. @throws EngineError if it answers anything else */
async function readBack(file: string, table: string, lines: readonly Line[]): Promise<void> {
  const engine = await startEngine(file);
  const client = localDynamoDb(engine.endpoint);
  try {
    const found = await dynamoDbAddressTable(client, table).read(lines.map(keyOf));
    for (const line of lines) {
      const expected = parseLine(line);
      if (!isDeepStrictEqual(found.get(expected.key), expected)) {
        throw new EngineError(
          `The engine does not read ${expected.key} as it was written; the live dataset is unchanged.`,
        );
      }
    }
  } finally {
    client.destroy();
    await engine.stop();
  }
  // Whatever the engine noted in its journal belongs into the file, which is moved alone.
  const database = new DatabaseSync(file);
  database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  database.close();
}
