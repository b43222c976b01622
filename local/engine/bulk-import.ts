import { mkdir, open, readdir, rm, stat, statfs, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import {
  DescribeTableCommand,
  type DynamoDBClient,
  GetItemCommand,
  ListTablesCommand,
  ScanCommand,
} from '@aws-sdk/client-dynamodb';
import { type AddressItem, addressItem, keyItem } from '../../core/addresses/address-item.ts';
import { addressesTable } from '../../core/names.ts';
import { keyOf, type Line, parseLine } from '../../loader/dataset/lines.ts';
import type { Progress } from '../../loader/progress.ts';
import type { BulkImport } from '../../loader/storage/address-table.ts';
import { lockKey } from '../../loader/storage/lock.ts';
import { importFolder, type PausableEngine, replaceDatabase } from './database-files.ts';
import { EngineError, engineBinary, isDiskFull, startGuarded } from './engine.ts';

/**
 * Disk space in bytes that an import takes for each line while it runs: the export, the new database, and the engine's
 * temporary files for sorting it. With the names of the whole country 677 were measured; a little less is required, so
 * that nothing is refused that would fit.
 */
const bytesPerLine = 640;

/** There is too little disk space for an import. The message says how much it needs, where, and what to do. */
export class DiskSpaceError extends Error {
  override name = 'DiskSpaceError';

  constructor(folder: string, lines: number, found: string, options?: ErrorOptions) {
    super(
      `Importing ${lines.toLocaleString('en')} addresses needs ${gigabytes(lines * bytesPerLine)} of free disk space in ` +
        `${folder}; ${found}. Free some space and start again to continue, or choose a folder on another disk with ` +
        '--data FOLDER.',
      options,
    );
  }
}

/** Checks that the disk of the folder has space for an import. @throws DiskSpaceError */
export async function requireDiskSpace(folder: string, lines: number, freeIn = freeBytes): Promise<void> {
  const free = await freeIn(folder);
  if (free < lines * bytesPerLine) throw new DiskSpaceError(folder, lines, `${gigabytes(free)} is available`);
}

/** The bytes that this user can still write in the folder; root may also use the reserve of the file system. */
async function freeBytes(folder: string): Promise<number> {
  const { bavail, bfree, bsize } = await statfs(folder);
  return (process.geteuid?.() === 0 ? bfree : bavail) * bsize;
}

function gigabytes(bytes: number): string {
  return `${(bytes / 1e9).toFixed(2)} GB`;
}

/** Files in the layout of a DynamoDB export to S3: `TABLE/data/NAME.json`, with one item per line. */
type ExportFiles = {
  /** Created on the first write. */
  readonly folder: string;
  /** Items and bytes written so far. */
  items: number;
  bytes: number;
};

const linesPerChunk = 10_000;

/** Exports the addresses, one file per group of lines; `onLines` is called with the number of lines just written. */
async function exportLines(
  files: ExportFiles,
  table: string,
  groups: AsyncIterable<readonly Line[]>,
  onLines: (count: number) => void,
): Promise<void> {
  const folder = await dataFolder(files, table);
  let group = 0;
  for await (const lines of groups) {
    const file = await open(join(folder, `${String(group++).padStart(6, '0')}.json`), 'w');
    try {
      for (let start = 0; start < lines.length; start += linesPerChunk) {
        const some = lines.slice(start, start + linesPerChunk);
        const bytes = Buffer.from(linesText(some));
        await file.writeFile(bytes);
        files.items += some.length;
        files.bytes += bytes.length;
        onLines(some.length);
      }
    } finally {
      await file.close();
    }
  }
}

/**
 * Exports everything but the addresses: every other table, and the dataset and lock items of the addresses table.
 * Returns the descriptions of all tables, from `DescribeTable`.
 */
export async function exportRest(files: ExportFiles, client: DynamoDBClient, addresses: string): Promise<object[]> {
  const { TableNames = [] } = await client.send(new ListTablesCommand());
  const tables: object[] = [];
  for (const TableName of TableNames) {
    const { Table } = await client.send(new DescribeTableCommand({ TableName }));
    tables.push({ Table });
    const folder = await dataFolder(files, TableName);
    let page = 0;
    for await (const items of TableName === addresses ? metadataItems(client, addresses) : pages(client, TableName)) {
      const text = items.map((item) => `${JSON.stringify({ Item: item }, binaryAsText)}\n`).join('');
      await writeFile(join(folder, `rest-${String(page++).padStart(6, '0')}.json`), text);
      files.items += items.length;
    }
  }
  return tables;
}

async function dataFolder({ folder }: ExportFiles, table: string): Promise<string> {
  const data = join(folder, table, 'data');
  await mkdir(data, { recursive: true });
  return data;
}

/** Successive lines mostly share a street, whose JSON is then reused. The rest of an item is never empty. */
function linesText(lines: readonly Line[]): string {
  let names = '';
  let json = '';
  let text = '';
  for (const line of lines) {
    const key = keyOf(line);
    if (line.slice(key.length) !== names) {
      names = line.slice(key.length);
      const { [addressesTable.partitionKey]: _, ...rest } = addressItem(parseLine(line));
      json = JSON.stringify(rest).slice(1, -1);
    }
    text += `{"Item":{"${addressesTable.partitionKey}":{"S":${JSON.stringify(key)}},${json}}}\n`;
  }
  return text;
}

async function* metadataItems(client: DynamoDBClient, TableName: string): AsyncGenerator<AddressItem[]> {
  for (const key of [addressesTable.datasetKey, lockKey]) {
    const { Item } = await client.send(new GetItemCommand({ TableName, Key: keyItem(key), ConsistentRead: true }));
    yield Item ? [Item] : [];
  }
}

/** An empty table yields one empty page: the import skips a table that has no file. */
async function* pages(client: DynamoDBClient, TableName: string): AsyncGenerator<AddressItem[]> {
  let ExclusiveStartKey: AddressItem | undefined;
  do {
    const page = await client.send(new ScanCommand({ TableName, ExclusiveStartKey, ConsistentRead: true }));
    yield page.Items ?? [];
    ExclusiveStartKey = page.LastEvaluatedKey;
  } while (ExclusiveStartKey !== undefined);
}

const binaryAsText = (_name: string, value: unknown) =>
  value instanceof Uint8Array ? Buffer.from(value).toString('base64') : value;

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
};

/** Takes some seconds to write to the running engine. */
const defaultMinimumWrites = 20_000;
/** In the time of one write to the running engine an import takes in at least this many lines. */
const linesPerWrite = 10;
/** Bytes of the new database per exported byte, as measured. */
const databaseBytesPerExportedByte = 1.5;

/**
 * Imports a snapshot into the embedded engine by way of a new database: the snapshot and everything else that the
 * engine holds are exported, imported into a new database, and that replaces the old one in one step (decision 0118).
 * Nothing else may write to the engine meanwhile. The whole country is imported in minutes; writing it takes close to
 * an hour.
 */
export function engineBulkImport(options: BulkImportOptions): BulkImport {
  const { engine, client, databaseFile, table, progress, minimumWrites = defaultMinimumWrites, freeIn } = options;
  const dataFolder = dirname(databaseFile);

  async function importLines(groups: AsyncIterable<readonly Line[]>, lines: number, work: string): Promise<void> {
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
      if (writes < minimumWrites || writes * linesPerWrite < lines) return false;
      await requireDiskSpace(dataFolder, lines, freeIn);
      return true;
    },
    async run(groups, { lines }) {
      const work = importFolder(databaseFile);
      await rm(work, { recursive: true, force: true });
      await mkdir(work);
      try {
        await importLines(groups, lines, work);
      } catch (error) {
        // Something else has filled the disk since, or the lines are longer than usual.
        if (isDiskFull(error)) throw new DiskSpaceError(dataFolder, lines, 'the disk is now full', { cause: error });
        throw error;
      } finally {
        await rm(work, { recursive: true, force: true });
      }
    },
  };
}
