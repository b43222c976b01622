import { readFile, rm, writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { type DynamoDBClient, ScanCommand } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, PutCommand } from '@aws-sdk/lib-dynamodb';
import { settledSecret } from '../core/accounts/checksum-secret.ts';
import { storedAddress } from '../core/addresses/address-item.ts';
import { isAddressKey, parseAddressKey } from '../core/addresses/address-key.ts';
import {
  hasObjecten,
  lastExtract,
  type ManifestEntry,
  nameOfLoad,
} from '../loader/dataset/load.ts';
import { type LoadReport, RefusedLoadError, unchangedReport } from '../loader/guard/load-report.ts';
import { LoadError } from '../loader/load-error.ts';
import type { Progress } from '../loader/steps/step.ts';
import {
  type BulkImport,
  dynamoDbAddressTable,
  scanAddresses,
} from '../loader/storage/address-table.ts';
import { openSource, openStorage } from '../loader/storage/open.ts';
import { isSameLocation, SourceError } from '../loader/storage/source.ts';
import { type Storage, UnusableObjectError } from '../loader/storage/storage.ts';
import { currentManifest, readManifest } from '../loader/storage/stored-loads.ts';
import { createAdminStore } from '../packages/admin/accounts/admin-store.ts';
import {
  type DataFolder,
  type FolderIdentity,
  requireOwnTables,
  writeIdentity,
} from './data-folder.ts';
import { demoExamples, demoKey, demoSource } from './demo.ts';
import { engineBulkImport } from './engine/bulk-import.ts';
import {
  createMissingTables,
  deleteTables,
  existingTables,
  type TableNames,
} from './engine/client.ts';
import type { PausableEngine } from './engine/database-files.ts';
import type { RepairOptions } from './load/repair.ts';

/** The live dataset. */
export type ServedDataset = {
  readonly report: LoadReport;
  /**
   * The source of the dataset if an earlier start loaded it and this start names none; else `null`.
   */
  readonly present: string | null;
  /**
   * The report of the same extract, which has changed so much that the earlier dataset is served.
   */
  readonly refused?: LoadReport;
  /** Why the same extract could not be read, so that the earlier dataset is served. */
  readonly unread?: string;
  /** Whether it is the demo. */
  readonly isDemo?: boolean;
  /** Days of mutations that were applied after it. */
  readonly later?: LoadReport;
  /** A lookup to try. It finds one address if any address of the dataset is unambiguous. */
  readonly example: Example;
};

type Example = { postcode: string; huisnummer: number; toevoeging?: string | undefined };

/** The dataset that is wanted. */
export type WantedDataset = {
  /** A BAG extract: a file, a URL or `s3://bucket/key`; the demo extract if absent. */
  readonly extract?: string | undefined;
  /** Where days of mutations that lead on from the extract are: a list, a folder or a zip. */
  readonly mutations?: string | undefined;
  /** Whether addresses have their objects. */
  readonly objecten?: boolean | undefined;
  readonly progress: Progress;
  /** Called with a line to show, such as before a slow step. */
  readonly announce: (line: string) => void;
};

export type LocalLoadOptions = Pick<DataFolder, 'storageFolder' | 'demoFile'> &
  Pick<WantedDataset, 'extract' | 'progress' | 'objecten' | 'announce'> & {
    readonly client: DynamoDBClient;
    readonly table: string;
    /**
     * Whether the engine is the embedded one, which is faster with transactions than with batches.
     */
    readonly embedded?: boolean;
    readonly bulkImport?: BulkImport | undefined;
  };

/**
 * The requested extract can't be served; the message names the dataset that the folder holds, and
 * the remedy.
 */
export class ExtractNotServedError extends Error {
  override readonly name = 'ExtractNotServedError';
}

/**
 * Makes the table hold exactly the addresses of the extract. An extract that it already holds is
 * not loaded again. Without an extract it keeps its dataset, or holds the demo if it was empty. It
 * also keeps the dataset of an earlier start if the guard refuses the extract in its present form,
 * or if the extract can't be read any more. A load that was interrupted while it wrote is finished
 * first, and a table that does not belong to the storage is repaired.
 * @throws ExtractNotServedError, and what `runLoad` throws
 */
export async function loadExtract(options: LocalLoadOptions): Promise<ServedDataset> {
  const { client, table, extract, objecten = false, storageFolder, progress, announce } = options;
  const storage = await openStorage(storageFolder);
  const addresses = dynamoDbAddressTable(client, table, {
    transactions: options.embedded ?? false,
  });
  const mended = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      if (!isOfStorage(error)) throw error;
      const scan = () => scanAddresses(client, table);
      announce(await repair({ storage: storageFolder, addresses, progress, scan }, error));
      return work();
    }
  };
  const { pending, published } = await mended(() =>
    currentManifest(storage, addresses, { refuseUnmarked: true }),
  );
  if (pending) {
    announce(`${nameOfLoad(pending)} was interrupted while it wrote: it is finished first.`);
  }
  const { held, present, source, unchanged } = await wantedOf(options, pending, published);
  const load = async () => {
    if (unchanged) return reportOf(unchanged, 'nothing else was asked for');
    const { runLoad } = await import('./load/run-load.ts');
    return runLoad({
      source,
      objecten,
      storage: storageFolder,
      addresses,
      ...(options.bulkImport && { bulkImport: options.bulkImport }),
      progress,
      owner,
      // Replacing the demo with a municipality, or the reverse, is a large change that the user
      // requested.
      waiveSize: true,
      disposable: options.demoFile,
    });
  };
  let unread: string | undefined;
  const report = await mended(load).catch(async (error) => {
    // Nothing but the demo can be served instead, and commands need a service that runs.
    if (held === null && error instanceof RefusedLoadError && !isOlder(error.report)) {
      return error.report;
    }
    const isLast = present !== null || (await isLastExtract(storage, extract));
    if (isLast && error instanceof RefusedLoadError) return error.report;
    if (!isLast || !held || !(error instanceof SourceError)) throw error;
    unread = error.message;
    return reportOf(held, 'the extract could not be read');
  });
  if (report.outcome === 'refused') {
    const { published: live } = await readManifest(storage);
    return {
      report: reportOf(held ?? live, 'the extract was refused'),
      present: held && sourceOf(held),
      refused: report,
      example: (await anyAddress(client, table)) ?? testAddress,
    };
  }
  if (report.isSkipped) {
    throw new ExtractNotServedError(
      `${extract} was not loaded: ${report.reason}. The data folder still holds the dataset of ${report.peildatum}. ` +
        'Serve that by starting without --extract, or serve this extract with --fresh, which discards that dataset, or ' +
        'with --data and another folder.',
    );
  }
  const isDemo = extract === undefined && present === null;
  const [demoExample] = demoExamples;
  return {
    report,
    isDemo,
    present: present && sourceOf(present),
    ...(unread !== undefined && { unread }),
    example: (isDemo ? undefined : await anyAddress(client, table)) ?? demoExample,
  };
}

/** The report of a start that keeps the live dataset. */
const reportOf = (live: ManifestEntry | null, reason: string): LoadReport =>
  unchangedReport({ action: 'none', reason, live });

/** The dataset of a folder, and the load of a start. */
type WantedLoad = {
  /** The dataset of the folder, unless it is the demo. */
  held: ManifestEntry | null;
  /** The same if the start names no extract. */
  present: ManifestEntry | null;
  /** The extract to load, if any. */
  source: string | undefined;
  /**
   * The dataset that stays as it is. Then a start needs no lock, and not the code that loads, which
   * is a tenth of it.
   */
  unchanged: ManifestEntry | null;
};

async function wantedOf(
  { extract, objecten = false, demoFile }: LocalLoadOptions,
  pending: ManifestEntry | null,
  published: ManifestEntry | null,
): Promise<WantedLoad> {
  const found = pending ?? published;
  const held = found && sourceOf(found) !== resolve(demoFile) ? found : null;
  const present = extract === undefined ? held : null;
  // The same extract, with objects turned on or off.
  const isSwitched = found !== null && hasObjecten(found.snapshot) !== objecten;
  const again = present && isSwitched ? sourceOf(present) : undefined;
  const source = present ? again : (extract ?? (await writeDemo(demoFile)));
  const isWhole = pending === null && published !== null && !isSwitched && extract === undefined;
  const isUnchanged = isWhole && (source === undefined || (await isSameFile(source, published)));
  return { held, present, source, unchanged: isUnchanged ? published : null };
}

/**
 * A constant: the data folder is locked for us, so a load in progress is one of ours that was
 * interrupted.
 */
const owner = 'npm start';

const ofStorage = new Set(['ForeignStorageError', 'UnmarkedTableError', 'WorkGoneError']);

/** Whether the storage is damaged, or does not match the table. */
export function isOfStorage(error: unknown): error is LoadError | UnusableObjectError {
  if (error instanceof UnusableObjectError) return true;
  return error instanceof LoadError && ofStorage.has(error.name);
}

/**
 * Makes the table equal to the snapshot in the storage, and returns a line that says so. @throws
 * `cause` if the storage has no usable snapshot
 */
async function repair(options: Omit<RepairOptions, 'owner'>, cause: Error): Promise<string> {
  const { repairTable } = await import('./load/repair.ts');
  try {
    const { peildatum, added, changed, removed } = await repairTable({ ...options, owner });
    return (
      `${cause.message.split('. ')[0]}. So the addresses were repaired to the snapshot of ${peildatum}: ` +
      `${added} missing, ${changed} changed, ${removed} unexpected.`
    );
  } catch (error) {
    throw error instanceof LoadError || error instanceof UnusableObjectError ? cause : error;
  }
}

/**
 * Whether the storage records no load although the table is filled: its folder was removed.
 */
async function isUnrecorded(
  { client, table }: Pick<LocalLoadOptions, 'client' | 'table'>,
  storage: Storage,
): Promise<boolean> {
  const { published, pending } = await readManifest(storage);
  if (published || pending) return false;
  const addresses = dynamoDbAddressTable(client, table);
  return (await addresses.dataset()) !== null || addresses.hasAddresses();
}

/** An address that exists without any dataset. */
const testAddress: Example = { postcode: '9999SD', huisnummer: 1 };

const isOlder = ({ objections }: LoadReport) =>
  objections.every(({ code }) => code === 'older_peildatum');

/** Whether the dataset is of this file as it is now. */
async function isSameFile(file: string, { source }: ManifestEntry): Promise<boolean> {
  if (source === null) return false;
  const changed = await openSource(file, source);
  await changed?.close();
  return changed === null;
}

async function isLastExtract(storage: Storage, extract: string | undefined): Promise<boolean> {
  const { location } = lastExtract(await readManifest(storage))?.source ?? {};
  return (
    extract !== undefined &&
    location !== undefined &&
    [extract, resolve(extract)].some((known) => isSameLocation(known, location))
  );
}

function sourceOf({ source }: ManifestEntry): string {
  return source?.location ?? 'an extract';
}

/**
 * Leaves an unchanged file alone: by its modification time the loader knows that it has loaded it.
 */
async function writeDemo(file: string): Promise<string> {
  const bytes = await readFile(demoSource);
  const present = await readFile(file).catch(() => undefined);
  if (!present?.equals(bytes)) await writeFile(file, bytes);
  return file;
}

/** An address of the table, unambiguous if possible. */
async function anyAddress(client: DynamoDBClient, table: string): Promise<Example | undefined> {
  const { Items = [] } = await client.send(new ScanCommand({ TableName: table, Limit: 50 }));
  const found = Items.map(storedAddress).filter(
    ({ key, places }) => isAddressKey(key) && places.length > 0,
  );
  const { key } = found.find(({ places }) => places.length === 1) ?? found[0] ?? {};
  const address = key === undefined ? null : parseAddressKey(key);
  return address ? { ...address, toevoeging: address.toevoeging ?? undefined } : undefined;
}

const everyMilliseconds = 3_600_000;

/**
 * A server that does not respond is retried for minutes; the start reports that after this time.
 */
const silenceMilliseconds = 10_000;

type Follow = LocalLoadOptions & {
  mutations: string;
  pauseMilliseconds?: number;
  silenceMilliseconds?: number;
};

/**
 * Applies the days of mutations that lead on from the live dataset, and looks for further ones
 * every hour. A day that can't be applied is announced, once for each reason, and changes nothing.
 * Returns the report of the days applied at once, if any, and what stops it, after a load in
 * progress.
 */
export async function followMutations({
  client,
  table,
  mutations,
  announce,
  pauseMilliseconds = everyMilliseconds,
  silenceMilliseconds: silence = silenceMilliseconds,
  ...options
}: Follow): Promise<{ report: LoadReport | undefined; stop: () => Promise<void> }> {
  let last = '';
  const announceOnce = (line: string) => {
    if (line !== last) announce(line);
    last = line;
  };
  const apply = async () => {
    let published: LoadReport | undefined;
    try {
      const { runLoad } = await import('./load/run-load.ts');
      await runLoad({
        mutations: [mutations],
        storage: options.storageFolder,
        addresses: dynamoDbAddressTable(client, table, { transactions: options.embedded ?? false }),
        progress: options.progress,
        owner,
        onPublished: (report) => {
          published = report;
          const { added, changed, removed, days, peildatum } = report;
          const count = days.length === 1 ? '1 day' : `${days.length} days`;
          announceOnce(
            `Applied ${count} of mutations: ${added} addresses added, ${changed} changed, ${removed} removed. The dataset is of ${peildatum}.`,
          );
        },
      });
    } catch (error) {
      announceOnce(
        `Mutations could not be applied; the served dataset stays unchanged. ${(error as Error).message}`,
      );
    }
    return published;
  };
  const waiting = setTimeout(
    announce,
    silence,
    `Still reading mutations from ${mutations}; the service starts after that.`,
  );
  const report = await apply();
  clearTimeout(waiting);
  let running: Promise<unknown> = Promise.resolve();
  const timer = setInterval(() => {
    running = running.then(apply);
  }, pauseMilliseconds);
  timer.unref();
  const stop = async () => {
    clearInterval(timer);
    await running;
  };
  return { report, stop };
}

/** Which tables to fill, and where. */
export type Filling = {
  readonly client: DynamoDBClient;
  readonly tables: TableNames;
  readonly folder: DataFolder;
  readonly identity: FolderIdentity;
  /** The embedded engine, if `client` is for that one. */
  readonly embedded: PausableEngine | undefined;
  /** The suffix of the tables to delete, as their data is discarded. */
  readonly discarded: string | undefined;
};

/** The contents of the tables once they are filled. */
export type Filled = { dataset: ServedDataset; apiKey: string };

/**
 * An API key of the demo account: `known` if it is active. `created` are the tables that this start
 * has created.
 */
async function keyIn(
  client: DynamoDBDocumentClient,
  table: string,
  known: string | undefined,
  created: string[],
) {
  // Nothing serves requests yet, so the first key need not wait until that is known.
  if (created.includes(table)) {
    await client.send(new PutCommand({ TableName: table, Item: settledSecret() }));
  }
  return demoKey(createAdminStore(client, table, 'npm start', Date.now), known);
}

/**
 * Makes the tables hold the dataset that the options ask for, and the demo account, whose API key
 * it returns.
 * @throws DataFolderError if the folder has its data in other tables; nothing is written then
 */
export async function fillTables(
  options: WantedDataset,
  { client, tables, folder, identity, embedded, discarded }: Filling,
  resources: AsyncDisposableStack,
): Promise<Filled> {
  const existing = await existingTables(client);
  // Several folders can share an engine, but the embedded one.
  const ofSuffix = (suffix: string) => existing.filter((name) => name.endsWith(`-${suffix}`));
  if (discarded !== undefined) await deleteTables(client, ofSuffix(discarded));
  const ofFolder = embedded ? existing : ofSuffix(identity.suffix);
  requireOwnTables(folder, Object.values(tables), ofFolder);
  const created = await createMissingTables(client, tables, existing);
  // The loader's storage describes a table that no longer exists.
  if (created.includes(tables.addresses)) {
    await rm(folder.storageFolder, { recursive: true, force: true });
  }
  const { extract, mutations, objecten, progress, announce } = options;
  const { databaseFile, storageFolder, demoFile } = folder;
  const table = tables.addresses;
  if (
    extract !== undefined &&
    (await isUnrecorded({ client, table }, await openStorage(storageFolder)))
  ) {
    announce(
      `${storageFolder} has no record of the addresses in the table, so they are loaded anew.`,
    );
    await deleteTables(client, [table]);
    await createMissingTables(client, tables, await existingTables(client));
  }
  // Meanwhile: these writes wait for the disk, and the load mostly computes.
  const key = keyIn(
    DynamoDBDocumentClient.from(client),
    tables.accounts,
    identity.demoKey,
    created,
  );
  key.catch(() => undefined); // awaited below
  const bulkImport =
    embedded &&
    engineBulkImport({ engine: embedded, databaseFile, table, progress, otherWrites: key });
  const engine = { client, table, embedded: embedded !== undefined, bulkImport };
  const loaded = { ...engine, storageFolder, demoFile, extract, objecten, progress, announce };
  let dataset = await loadExtract(loaded);
  if (mutations !== undefined) {
    const followed = await followMutations({ ...loaded, mutations, announce });
    resources.defer(followed.stop);
    if (followed.report) dataset = { ...dataset, later: followed.report };
  }

  const apiKey = await key;
  if (apiKey !== identity.demoKey) {
    await writeIdentity(folder.path, { ...identity, demoKey: apiKey });
  }
  return { dataset, apiKey };
}
