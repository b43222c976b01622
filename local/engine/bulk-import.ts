import { mkdir, readdir, rm, stat, statfs, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { Line } from '../../loader/dataset/lines.ts';
import type { Progress } from '../../loader/progress.ts';
import type { BulkImport } from '../../loader/storage/address-table.ts';
import { isDiskFull } from '../disk-full.ts';
import { importFolder, type PausableEngine, replaceDatabase } from './database-files.ts';
import { EngineError, engineBinary, startGuarded } from './engine.ts';
import { type ExportFiles, exportLines, exportRest } from './export-files.ts';

/**
 * Bytes of disk that an import takes for each line while it runs: the export, the new database, and what the engine sorts
 * that by. Measured are 677 with the country's lengths of names; somewhat less, so that nothing is refused which would fit.
 */
const bytesALine = 640;

/** The disk has too little room for an import. The message says how much it takes, where, and what to do. */
export class NoRoomError extends Error {
  override name = 'NoRoomError';

  constructor(folder: string, lines: number, found: string, options?: ErrorOptions) {
    super(
      `To import ${lines.toLocaleString('en')} addresses takes ${gigabytes(lines * bytesALine)} of free disk in ${folder} ` +
        `while it runs: ${found}. Make room and start again, which goes on from here, or keep the data on another disk ` +
        'with --data FOLDER.',
      options,
    );
  }
}

/** Checks that there is room for an import in the folder. @throws NoRoomError */
export async function requireRoom(folder: string, lines: number, freeIn = freeBytes): Promise<void> {
  const free = await freeIn(folder);
  if (free < lines * bytesALine) throw new NoRoomError(folder, lines, `there are ${gigabytes(free)}`);
}

/** What this user may still write in the folder; root has a reserve. */
async function freeBytes(folder: string): Promise<number> {
  const { bavail, bfree, bsize } = await statfs(folder);
  return (process.geteuid?.() === 0 ? bfree : bavail) * bsize;
}

function gigabytes(bytes: number): string {
  return `${(bytes / 1e9).toFixed(2)} GB`;
}

const lookMilliseconds = 500;

/**
 * Makes a new database of the export with the engine's own `import`, in `folder`, and gives its file. `onBytes` hears
 * how it grows.
 * @throws EngineError, also when not every item came in
 */
export async function runImport(
  files: ExportFiles,
  { tables, folder, signal }: { tables: readonly object[]; folder: string; signal: AbortSignal },
  onBytes: (count: number) => void,
): Promise<string> {
  await mkdir(folder, { recursive: true });
  const schema = join(folder, 'tables.json');
  await writeFile(schema, JSON.stringify(tables));
  const output = join(folder, 'dynamodb.db');
  const args = ['import', '--source', files.folder, '--schema', schema, '--output', output];
  // It sorts the finished database once more, by way of files that may be too large for the usual folder.
  const { ended, said, stop } = startGuarded(engineBinary(), args, { TMPDIR: folder, SQLITE_TMPDIR: folder });
  const onAbort = () => void stop();
  signal.addEventListener('abort', onAbort, { once: true });
  const looking = reportGrowth(folder, onBytes);
  const code = await ended;
  clearInterval(looking);
  signal.removeEventListener('abort', onAbort);
  signal.throwIfAborted();
  const imported = Number(/Items:\s+(\d+)/.exec(said())?.[1] ?? 0);
  if (code === 0 && imported === files.items) return output;
  throw new EngineError(
    `The embedded DynamoDB engine imported ${imported} of ${files.items} items. What was served is as it was. ` +
      `It said: ${said().trim() || 'nothing'}`,
  );
}

/** The engine tells nobody how far it is, but the file that it writes grows evenly. */
function reportGrowth(folder: string, onBytes: (count: number) => void): NodeJS.Timeout {
  let reported = 0;
  return setInterval(async () => {
    const size = await sizeOf(folder).catch(() => 0);
    if (size <= reported) return;
    onBytes(size - reported);
    reported = size;
  }, lookMilliseconds);
}

async function sizeOf(folder: string): Promise<number> {
  const names = (await readdir(folder)).filter((name) => !/-(wal|shm|journal)$/.test(name));
  const sizes = await Promise.all(names.map(async (name) => (await stat(join(folder, name))).size));
  return sizes.reduce((total, size) => total + size, 0);
}

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
 * the engine holds beside it, that takes the place of the old one in one step (decision 0118). Nobody else may write to
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
