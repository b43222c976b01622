import { rm } from 'node:fs/promises';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { environment } from '../core/names.ts';
import type { Progress } from '../loader/progress.ts';
import { createAdmin } from '../packages/admin/admin.ts';
import { type DataFolder, type FolderIdentity, writeIdentity } from './data-folder.ts';
import { followMutations, loadExtract, type ServedDataset } from './dataset.ts';
import { demoKey } from './demo/demo.ts';
import { engineBulkImport } from './engine/bulk-import.ts';
import { createMissingTables, deleteTables, localDynamoDb } from './engine/client.ts';
import type { PausableEngine } from './engine/database-files.ts';
import type { LocalApp } from './template/local-app.ts';

/** The dataset that is wanted. */
export type WantedDataset = {
  /** A BAG extract: a file, a URL or `s3://bucket/key`; the demo extract if absent. */
  readonly extract?: string | undefined;
  /** Where days of mutations that lead on from the extract are: a list, a folder or a zip. */
  readonly mutations?: string | undefined;
  readonly progress: Progress;
  /** Called with a line to show, such as before a slow step. */
  readonly announce: (line: string) => void;
};

/** What the tables are made of, and where. */
export type Filling = {
  readonly app: LocalApp;
  readonly folder: DataFolder;
  readonly identity: FolderIdentity;
  readonly endpoint: string;
  /** The embedded engine, if that is the one at `endpoint`. */
  readonly embedded: PausableEngine | undefined;
  /** The app whose tables are to be deleted, as its data is discarded. */
  readonly before: LocalApp | undefined;
};

/** What the tables hold once they are filled. */
export type Filled = { tables: TableNames; dataset: ServedDataset; apiKey: string };

/**
 * Makes the tables hold the dataset that the options ask for, and the demo account, whose API key it returns. What is
 * not in `service.ts`, so that the engine and the functions start while these modules are loaded.
 */
export async function fillTables(
  options: WantedDataset,
  { app, folder, identity, endpoint, embedded, before }: Filling,
  resources: AsyncDisposableStack,
): Promise<Filled> {
  const client = localDynamoDb(endpoint);
  resources.defer(() => client.destroy());
  if (before) await deleteTables(client, before.tables);
  const created = await createMissingTables(client, app.tables);
  const tables = tableNames(app);
  // The loader's storage describes a table that no longer exists.
  if (created.includes(tables.addresses)) await rm(folder.storageFolder, { recursive: true, force: true });

  const { extract, mutations, progress, announce } = options;
  const { databaseFile, storageFolder, demoFile } = folder;
  const table = tables.addresses;
  const bulkImport = embedded && engineBulkImport({ engine: embedded, databaseFile, table, progress });
  const loaded = {
    client,
    table,
    embedded: embedded !== undefined,
    bulkImport,
    storageFolder,
    demoFile,
    extract,
    progress,
  };
  let dataset = await loadExtract(loaded);
  if (mutations !== undefined) {
    const followed = await followMutations({ ...loaded, mutations, announce });
    resources.defer(followed.stop);
    if (followed.report) dataset = { ...dataset, later: followed.report };
  }

  const { checksumSecret } = identity;
  const document = DynamoDBDocumentClient.from(client);
  const apiKey = await demoKey(
    createAdmin({ client: document, table: tables.accounts, checksumSecret }),
    identity.demoKey,
  );
  if (apiKey !== identity.demoKey) await writeIdentity(folder.path, { ...identity, demoKey: apiKey });
  return { tables, dataset, apiKey };
}

type TableNames = { addresses: string; accounts: string };

/** The tables, as the functions know them. */
function tableNames({ functions }: LocalApp): TableNames {
  const [settings] = functions.filter((found) => found.environment[environment.addressesTable] !== undefined);
  const addresses = settings?.environment[environment.addressesTable];
  const accounts = settings?.environment[environment.accountsTable];
  if (addresses === undefined || accounts === undefined)
    throw new Error('No function in the template has both tables in its environment');
  return { addresses, accounts };
}
