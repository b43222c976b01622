import { mkdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { Line } from '../../loader/dataset/lines.ts';
import type { Progress } from '../../loader/progress.ts';
import type { BulkImport } from '../../loader/storage/address-table.ts';
import { isDiskFull } from '../disk-full.ts';
import { importFolder, replaceDatabase } from './database-files.ts';
import { type ExportFiles, exportLines, exportRest } from './export-files.ts';
import type { PausableEngine } from './pausable-engine.ts';
import { NoRoomError, requireRoom } from './require-room.ts';
import { runImport } from './run-import.ts';

export interface BulkImportOptions {
  readonly engine: PausableEngine;
  readonly client: DynamoDBClient;
  /** The engine's. */
  readonly databaseFile: string;
  /** The name of the addresses table. */
  readonly table: string;
  readonly progress: Progress;
  /** Fewer writes than this are done one by one. */
  readonly leastWrites?: number | undefined;
  /** The bytes that are free in a folder. */
  readonly freeIn?: (folder: string) => Promise<number>;
}

/** Some seconds of single writes. */
const usualLeastWrites = 20_000;
/** An import takes in at least this many lines in the time of a single write. */
const linesAWrite = 10;
/** Bytes of the finished database to each byte exported, measured. */
const growth = 1.5;

/**
 * Imports a snapshot into the embedded engine by way of a new database, made of an export of the snapshot and of all that
 * the engine holds beside it, that takes the place of the old one in one step (decision 0055). Nobody else may write to
 * the engine meanwhile.
 */
export function engineBulkImport(options: BulkImportOptions): BulkImport {
  const { engine, client, databaseFile, table, progress, leastWrites = usualLeastWrites, freeIn } = options;
  const dataFolder = dirname(databaseFile);

  async function importLines(groups: AsyncIterable<readonly Line[]>, lines: number, work: string): Promise<void> {
    const files: ExportFiles = { folder: join(work, 'export'), items: 0, bytes: 0 };
    const exporting = progress.begin('export', { rows: lines });
    await exportLines(files, table, groups, (rows) => exporting.advance({ rows }));
    const tables = await exportRest(files, client, table);
    exporting.end();
    await engine.pause(async (signal) => {
      const importing = progress.begin('import', { bytes: files.bytes * growth });
      const folder = join(work, 'database');
      const newFile = await runImport(files, { tables, folder, signal }, (bytes) => importing.advance({ bytes }));
      await replaceDatabase(databaseFile, newFile);
      importing.end();
    });
  }

  return {
    async takesOn({ lines, writes }) {
      if (writes < leastWrites || writes * linesAWrite < lines) return false;
      await requireRoom(dataFolder, lines, freeIn);
      return true;
    },
    async run(groups, { lines }) {
      const work = importFolder(databaseFile);
      await rm(work, { recursive: true, force: true });
      await mkdir(work);
      try {
        await importLines(groups, lines, work);
      } catch (error) {
        // Somebody else has filled the disk meanwhile, or the lines are longer than most.
        if (isDiskFull(error)) throw new NoRoomError(dataFolder, lines, 'the disk is full now', { cause: error });
        throw error;
      } finally {
        await rm(work, { recursive: true, force: true });
      }
    },
  };
}
