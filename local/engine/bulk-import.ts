import { mkdir, readdir, rm, stat, statfs, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { DescribeTableCommand, type DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { Line } from '../../loader/dataset/lines.ts';
import type { Progress } from '../../loader/progress.ts';
import type { BulkImport } from '../../loader/storage/address-table.ts';
import { importFolder, type PausableEngine, replaceDatabase } from './database-files.ts';
import { EngineError, engineBinary, isDiskFull, startGuarded } from './engine.ts';
import { type ExportFiles, exportLines, exportRest, tableFolder } from './export-files.ts';
import { hasKnownRows, probeExport, probeLines } from './row-form.ts';
import { writeRows } from './write-rows.ts';

/**
 * Disk space in bytes that an import takes for each line while it runs, a little less than was measured, so that
 * nothing is refused that would fit: the new database; and where the engine imports the addresses itself, also the
 * export and its temporary files for sorting.
 */
const bytesPerLine = { rows: 200, engine: 640 };

/** There is too little disk space for an import. The message says how much it needs, where, and what to do. */
export class DiskSpaceError extends Error {
  override name = 'DiskSpaceError';

  constructor(folder: string, { lines, by }: Needed, found: string, options?: ErrorOptions) {
    super(
      `Importing ${lines.toLocaleString('en')} addresses needs ${gigabytes(lines * bytesPerLine[by])} of free disk space ` +
        `in ${folder}; ${found}. Free some space and start again to continue, or choose a folder on another disk with ` +
        '--data FOLDER.',
      options,
    );
  }
}

/** How many lines are imported, and by what. */
type Needed = { lines: number; by: keyof typeof bytesPerLine };

/** Checks that the disk of the folder has space for an import. @throws DiskSpaceError */
export async function requireDiskSpace(folder: string, needed: Needed, freeIn = freeBytes): Promise<void> {
  const free = await freeIn(folder);
  if (free < needed.lines * bytesPerLine[needed.by]) {
    throw new DiskSpaceError(folder, needed, `${gigabytes(free)} is available`);
  }
}

/** The bytes that this user can still write in the folder; root may also use the reserve of the file system. */
async function freeBytes(folder: string): Promise<number> {
  const { bavail, bfree, bsize } = await statfs(folder);
  return (process.geteuid?.() === 0 ? bfree : bavail) * bsize;
}

function gigabytes(bytes: number): string {
  return `${(bytes / 1e9).toFixed(2)} GB`;
}

const progressMilliseconds = 500;

/**
 * Creates a new database in `folder` from the export, with the engine's own `import` command, and returns its path.
 * `onBytes` is called with the number of bytes by which it has grown.
 * @throws EngineError, also when not every item was imported
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
  // The engine finally sorts the database through temporary files, which may be too large for the default folder.
  const { ended, errorOutput, stop } = startGuarded(engineBinary(), args, { TMPDIR: folder, SQLITE_TMPDIR: folder });
  const onAbort = () => void stop();
  signal.addEventListener('abort', onAbort, { once: true });
  const reporting = reportGrowth(folder, onBytes);
  const code = await ended;
  clearInterval(reporting);
  signal.removeEventListener('abort', onAbort);
  signal.throwIfAborted();
  const imported = Number(/Items:\s+(\d+)/.exec(errorOutput())?.[1] ?? 0);
  if (code === 0 && imported === files.items) return output;
  throw new EngineError(
    `The embedded DynamoDB engine imported only ${imported} of ${files.items} items; the live dataset is unchanged. ` +
      `It printed: ${errorOutput().trim() || 'nothing'}`,
  );
}

/** The engine reports no progress, but the file that it writes grows evenly. */
function reportGrowth(folder: string, onBytes: (count: number) => void): NodeJS.Timeout {
  let reported = 0;
  return setInterval(async () => {
    const size = await sizeOf(folder).catch(() => 0);
    if (size <= reported) return;
    onBytes(size - reported);
    reported = size;
  }, progressMilliseconds);
}

async function sizeOf(folder: string): Promise<number> {
  const names = (await readdir(folder)).filter((name) => !/-(wal|shm|journal)$/.test(name));
  const sizes = await Promise.all(names.map(async (name) => (await stat(join(folder, name))).size));
  return sizes.reduce((total, size) => total + size, 0);
}

export type BulkImportOptions = {
  readonly engine: PausableEngine;
  readonly client: DynamoDBClient;
  /** The file of the engine's database. */
  readonly databaseFile: string;
  /** The name of the addresses table. */
  readonly table: string;
  readonly progress: Progress;
  /** Loads with fewer writes are written to the running engine. */
  readonly minimumWrites?: number | undefined;
  /** The free disk space of a folder, in bytes. */
  readonly freeIn?: (folder: string) => Promise<number>;
  /** Whether the engine has written the probe lines in the form that is known. */
  readonly hasKnownRows?: (file: string, table: string) => boolean;
};

/** Takes some seconds to write to the running engine. */
const defaultMinimumWrites = 20_000;
/**
 * In the time of one write to the running engine an import takes in at least this many lines: somewhat less than
 * `npm run bench -- bulk-import` measures.
 */
const linesPerWrite = { rows: 25, engine: 10 };
/** Bytes of the new database per exported byte, as measured. */
const databaseBytesPerExportedByte = 1.5;

/**
 * Imports a snapshot into the embedded engine by way of a new database, which replaces the old one in one step
 * (decision 0181). The engine's own import makes its tables and fills them with everything else that the engine holds.
 * The addresses are then written as rows into its file, if a probe shows that the engine writes them in the same form;
 * else the engine imports them as well, which takes four times as long. Nothing else may write to the engine meanwhile.
 */
export function engineBulkImport(options: BulkImportOptions): BulkImport {
  const { engine, client, databaseFile, table, progress, minimumWrites = defaultMinimumWrites, freeIn } = options;
  const dataFolder = dirname(databaseFile);
  const work = importFolder(databaseFile);
  let probed: Promise<Needed['by']> | undefined;

  /** What imports the addresses: shown by a small database that the engine makes of the probe lines. */
  async function probe(): Promise<Needed['by']> {
    const { hasKnownRows: isKnown = hasKnownRows } = options;
    const files: ExportFiles = { folder: join(work, 'probe'), items: probeLines.length, bytes: 0 };
    try {
      await writeFile(join(await tableFolder(files, table), 'probe.json'), probeExport());
      const tables = [await client.send(new DescribeTableCommand({ TableName: table }))];
      const { signal } = new AbortController();
      const file = await runImport(files, { tables, folder: join(work, 'probed'), signal }, () => undefined);
      return isKnown(file, table) ? 'rows' : 'engine';
    } catch (error) {
      if (error instanceof EngineError) return 'engine';
      throw error;
    } finally {
      await rm(work, { recursive: true, force: true });
    }
  }

  /** As `probe`, once; a probe that failed, for want of disk space for instance, is made again. */
  function importer(): Promise<Needed['by']> {
    probed ??= probe().catch((error: unknown) => {
      probed = undefined;
      throw error;
    });
    return probed;
  }

  async function importRows(groups: AsyncIterable<readonly Line[]>, lines: number): Promise<void> {
    const files: ExportFiles = { folder: join(work, 'export'), items: 0, bytes: 0 };
    const tables = await exportRest(files, client, table);
    await engine.pause(async (signal) => {
      const importing = progress.begin('import', { rows: lines });
      const folder = join(work, 'database');
      const newFile = await runImport(files, { tables, folder, signal }, () => undefined);
      await writeRows(newFile, { table, groups, signal, onRows: (rows) => importing.advance({ rows }) });
      await replaceDatabase(databaseFile, newFile);
      importing.end();
    });
  }

  async function importLines(groups: AsyncIterable<readonly Line[]>, lines: number): Promise<void> {
    const files: ExportFiles = { folder: join(work, 'export'), items: 0, bytes: 0 };
    const exporting = progress.begin('export', { rows: lines });
    await exportLines(files, table, groups, (rows) => exporting.advance({ rows }));
    const tables = await exportRest(files, client, table);
    exporting.end();
    await engine.pause(async (signal) => {
      const importing = progress.begin('import', { bytes: files.bytes * databaseBytesPerExportedByte });
      const folder = join(work, 'database');
      const newFile = await runImport(files, { tables, folder, signal }, (bytes) => importing.advance({ bytes }));
      await replaceDatabase(databaseFile, newFile);
      importing.end();
    });
  }

  return {
    async takesOn({ lines, writes }) {
      const pays = (by: Needed['by']) => writes >= minimumWrites && writes * linesPerWrite[by] >= lines;
      if (!pays('rows')) return false;
      try {
        // First what rows need, since the probe takes space itself.
        await requireDiskSpace(dataFolder, { lines, by: 'rows' }, freeIn);
        const by = await importer();
        await requireDiskSpace(dataFolder, { lines, by }, freeIn);
        return pays(by);
      } catch (error) {
        // Single writes take little space, and for so few keys not much longer.
        if (error instanceof DiskSpaceError && !pays('engine')) return false;
        throw error;
      }
    },
    async run(groups, { lines }) {
      const by = await importer();
      await rm(work, { recursive: true, force: true });
      await mkdir(work);
      try {
        await (by === 'rows' ? importRows(groups, lines) : importLines(groups, lines));
      } catch (error) {
        // Something else has filled the disk since, or the lines are longer than usual.
        if (isDiskFull(error))
          throw new DiskSpaceError(dataFolder, { lines, by }, 'the disk is now full', { cause: error });
        throw error;
      } finally {
        await rm(work, { recursive: true, force: true });
      }
    },
  };
}
