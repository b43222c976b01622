import { rm, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setImmediate as turn } from 'node:timers/promises';
import { addressesTable } from '../../core/tables.ts';
import type { Line } from '../../loader/addresses/lines.ts';
import type { Progress } from '../../loader/steps/step.ts';
import type { BulkImport } from '../../loader/storage/address-table.ts';
import { lockKey } from '../../loader/storage/lock.ts';
import { newDatabaseFile, type PausableEngine, replaceDatabase } from './database-files.ts';
import { isDiskFull } from './engine.ts';
import { rowMaker } from './engine-rows.ts';

/**
 * Disk space in bytes that a line takes in the new database: less than measured, so that what fits
 * is not refused.
 */
const bytesPerLine = 200;

/**
 * There is too little disk space for an import. The message says how much it needs, where, and what
 * to do.
 */
export class DiskSpaceError extends Error {
  override name = 'DiskSpaceError';

  constructor(folder: string, lines: number, found: string, options?: ErrorOptions) {
    super(
      `Importing ${lines.toLocaleString('en')} addresses needs ${sizeText(lines * bytesPerLine)} of free disk space ` +
        `in ${folder}; ${found}. Free some space and start again to continue, or choose a folder on another disk with ` +
        '--data FOLDER.',
      options,
    );
  }
}

function sizeText(bytes: number): string {
  return bytes < 1e8 ? `${(bytes / 1e6).toFixed(1)} MB` : `${(bytes / 1e9).toFixed(2)} GB`;
}

/**
 * The bytes that this user can still write in the folder; root may also use the reserve of the file
 * system.
 */
async function freeBytes(folder: string): Promise<number> {
  const { bavail, bfree, bsize } = await statfs(folder);
  return (process.geteuid?.() === 0 ? bfree : bavail) * bsize;
}

export type BulkImportOptions = {
  readonly engine: PausableEngine;
  /** The file of the engine's database. */
  readonly databaseFile: string;
  /** The name of the addresses table. */
  readonly table: string;
  readonly progress: Progress;
  /** Writes of others to the engine, which end before an import begins. */
  readonly otherWrites?: Promise<unknown>;
  /**
   * Loads with fewer writes are written to the running engine, which is then faster than starting
   * it again.
   */
  readonly minimumWrites?: number;
  /** The free disk space of a folder, in bytes. */
  readonly freeIn?: (folder: string) => Promise<number>;
};

/** An import writes at least this many lines in the time of one write to the running engine. */
const linesPerWrite = 25;
/**
 * Single writes take much longer than an import of fewer lines than this for each: the disk must
 * have space then.
 */
const linesPerSlowWrite = 10;

/**
 * Imports a dataset into the embedded engine by writing a new database file past the engine, which
 * then replaces the old one in one step. It takes less than a seventh of the time of the engine's
 * own import command. `engineBinary` ensures that the engine has the version whose files are known
 * here. Nothing else may write to the engine meanwhile.
 */
export function engineBulkImport(options: BulkImportOptions): BulkImport {
  const {
    engine,
    databaseFile,
    table,
    progress,
    minimumWrites = 300,
    freeIn = freeBytes,
    otherWrites,
  } = options;
  const folder = dirname(databaseFile);
  const newFile = newDatabaseFile(databaseFile);
  return {
    async takesOn({ lines, writes }) {
      if (writes < minimumWrites || writes * linesPerWrite < lines) return false;
      const free = await freeIn(folder);
      if (free >= lines * bytesPerLine) return true;
      if (writes * linesPerSlowWrite < lines) return false;
      throw new DiskSpaceError(folder, lines, `${sizeText(free)} is available`);
    },
    async run(groups, { lines }) {
      await otherWrites;
      try {
        await engine.pause(async (signal) => {
          const importing = progress.begin('import', { rows: lines });
          await writeDatabase(newFile, databaseFile, {
            table,
            groups,
            signal,
            onRows: (rows) => importing.advance({ rows }),
          });
          await replaceDatabase(databaseFile, newFile);
          importing.end();
        });
      } catch (error) {
        // Something else has filled the disk since, or the lines are longer than usual.
        if (isDiskFull(error)) {
          throw new DiskSpaceError(folder, lines, 'the disk is now full', { cause: error });
        }
        throw error;
      } finally {
        await rm(newFile, { force: true });
      }
    },
  };
}

type Writing = {
  readonly table: string;
  /** In the order of their keys, which makes writing the index fast. */
  readonly groups: AsyncIterable<readonly Line[]>;
  readonly signal: AbortSignal;
  readonly onRows: (count: number) => void;
};

/** Some 20 ms of work, before a signal or the lease of the load takes its turn. */
const rowsPerTurn = 2_000;
/** One statement for each row takes half as long again. */
const rowsPerInsert = 200;
const columns = 4;

/**
 * Creates a database with these addresses and with everything that `oldFile` holds beside its own.
 */
async function writeDatabase(
  newFile: string,
  oldFile: string,
  { table, groups, signal, onRows }: Writing,
) {
  await rm(newFile, { force: true });
  const database = new DatabaseSync(newFile);
  try {
    // Nobody uses the file after a crash, and it is synced before it is used. A journal on disk
    // would double its space.
    for (const setting of ['journal_mode = MEMORY', 'synchronous = OFF', 'cache_size = -32000']) {
      database.exec(`PRAGMA ${setting}`);
    }
    copyWithoutAddresses(database, oldFile, table);
    database.exec('BEGIN');
    const insert = `INSERT INTO "${table}" (pk, item_json, item_size, hash_prefix) VALUES `;
    const inserting = (count: number) =>
      database.prepare(insert + Array(count).fill('(?, ?, ?, ?)').join(', '));
    const insertMany = inserting(rowsPerInsert);
    const insertOne = inserting(1);
    const rowOf = rowMaker();
    for await (const lines of groups) {
      for (let start = 0; start < lines.length; start += rowsPerTurn) {
        const some = lines.slice(start, start + rowsPerTurn);
        let values: (string | number)[] = [];
        for (const line of some) {
          const { pk, item_json, item_size, hash_prefix } = rowOf(line);
          values.push(pk, item_json, item_size, hash_prefix);
          if (values.length < columns * rowsPerInsert) continue;
          insertMany.run(...values);
          values = [];
        }
        for (let at = 0; at < values.length; at += columns) {
          insertOne.run(...values.slice(at, at + columns));
        }
        onRows(some.length);
        await turn();
        signal.throwIfAborted();
      }
    }
    database.exec('COMMIT');
  } finally {
    database.close();
  }
}

/**
 * Copies the tables of `oldFile` and their rows; from the addresses table only other items than
 * addresses.
 */
function copyWithoutAddresses(database: DatabaseSync, oldFile: string, table: string): void {
  database.prepare('ATTACH ? AS old').run(oldFile);
  const made = "FROM old.sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%'";
  const all = database.prepare(`SELECT type, name, sql ${made} ORDER BY type = 'table' DESC`).all();
  for (const { type, name, sql } of all) {
    database.exec(String(sql));
    if (type !== 'table') continue;
    const copy = `INSERT INTO main."${name}" SELECT * FROM old."${name}"`;
    if (name !== table) database.exec(copy);
    else {
      database
        .prepare(`${copy} WHERE pk IN (?, ?)`)
        .run(`S:${addressesTable.datasetKey}`, `S:${lockKey}`);
    }
  }
  database.exec('DETACH old');
}
