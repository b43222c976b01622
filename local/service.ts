import { rm } from 'node:fs/promises';
import { isIPv6 } from 'node:net';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { environment } from '../core/names.ts';
import type { Progress } from '../loader/progress.ts';
import { createAdmin } from '../packages/admin/admin.ts';
import { brandingVariable, type LocalBranding } from './branding.ts';
import {
  type DataFolder,
  emptyDataFolder,
  openDataFolder,
  readFolderIdentity,
  removeLocalState,
  writeIdentity,
  writeLocalState,
} from './data-folder.ts';
import { followMutations, loadExtract, type ServedDataset } from './dataset.ts';
import { demoKey } from './demo/demo.ts';
import { engineBulkImport } from './engine/bulk-import.ts';
import { createMissingTables, deleteTables, guardEndpoint, localAws, localDynamoDb } from './engine/client.ts';
import { startPausableEngine } from './engine/database-files.ts';
import { type Answered, startGateway } from './gateway/gateway.ts';
import { startFunctions } from './lambda/functions.ts';
import { openLogFile } from './log-file.ts';
import { synthesize } from './synthesize.ts';

import { type LocalApp, localApp, readAssembly } from './template/local-app.ts';

/** The URL of a server that listens on `host`; for a host that means every interface, the loopback address. */
export function baseUrl(host: string, port: number): string {
  const reachable = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return `http://${isIPv6(reachable) ? `[${reachable}]` : reachable}:${port}`;
}

/**
 * Checks, before the work of a start, that its port can be listened on.
 * @throws an error with code `EADDRINUSE`, `EACCES`, `EADDRNOTAVAIL` or `ENOTFOUND`
 */
export async function requireFreePort(host: string, port: number): Promise<void> {
  const probe = await startGateway({ routes: [], host, port });
  await probe.stop();
}

export type ServiceOptions = {
  readonly dataFolder: string;
  readonly host: string;
  /** 0 picks a free one. */
  readonly port: number;
  /** Discards the data of earlier starts first. */
  readonly fresh: boolean;
  /** A BAG extract: a file, a URL or `s3://bucket/key`; the demo extract if absent. */
  readonly extract?: string | undefined;
  /** Where days of mutations that lead on from the extract are: a list, a folder or a zip. */
  readonly mutations?: string | undefined;
  /** A DynamoDB engine to use instead of the embedded one. */
  readonly endpoint?: string | undefined;
  /** Of each route of the gateway; unlimited if absent. */
  readonly throttlePerSecond?: number | undefined;
  readonly progress: Progress;
  /** Called with a line to show before a slow step. */
  readonly branding?: LocalBranding | undefined;
  /** What the pages of the service link to. */
  readonly portalUrl?: string | undefined;
  readonly announce: (line: string) => void;
  readonly onAnswer?: (answered: Answered) => void;
};

/** The running service. */
export type Service = {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly dataset: ServedDataset;
  /** Resolves when the engine has ended. */
  readonly engineEnded: Promise<void>;
};

/**
 * Starts the engine, the functions and the gateway, with the tables, an extract and a demo account. Everything that is
 * started is added to `resources` at once: disposing of them stops it all, also in the middle of a start.
 */
export async function startService(options: ServiceOptions, resources: AsyncDisposableStack): Promise<Service> {
  await requireFreePort(options.host, options.port);
  const folder = await openDataFolder(options.dataFolder);
  resources.defer(folder.release);
  const output = await synthesize(() =>
    options.announce('Synthesizing the CDK templates because the sources have changed ...'),
  );
  const stacks = await readAssembly(output);
  const describe = async () => {
    const identity = await readFolderIdentity(folder);
    const tableName = (logicalId: string) => `${logicalId}-${identity.suffix}`;
    return { identity, app: await localApp(stacks, { tableName, secret: identity.checksumSecret }) };
  };

  const before = options.fresh ? await describe() : undefined;
  if (options.fresh) await emptyDataFolder(folder);
  const { identity, app } = await describe();
  const { endpoint, ended: engineEnded, embedded } = await startOrUseEngine(options, folder, resources);
  const client = localDynamoDb(endpoint);
  resources.defer(() => client.destroy());
  if (before) await deleteTables(client, before.app.tables);
  const created = await createMissingTables(client, app.tables);
  const tables = tableNames(app);
  // The loader's storage describes a table that no longer exists.
  if (created.includes(tables.addresses)) await rm(folder.storageFolder, { recursive: true, force: true });

  const log = openLogFile(folder.logFile, options.announce);
  resources.defer(() => log.close());
  const functionsStart = startFunctions(app, {
    environment: {
      ...engineEnvironment(endpoint),
      [environment.branding]: brandingVariable(options.branding ?? {}, options.portalUrl),
    },
    log: log.write,
  });
  functionsStart.catch(() => undefined);
  resources.defer(async () => (await functionsStart.catch(() => undefined))?.stop());
  const loaded = {
    client,
    table: tables.addresses,
    embedded: embedded !== undefined,
    bulkImport:
      embedded &&
      engineBulkImport({
        engine: embedded,
        client,
        databaseFile: folder.databaseFile,
        table: tables.addresses,
        progress: options.progress,
      }),
    storageFolder: folder.storageFolder,
    demoFile: folder.demoFile,
    extract: options.extract,
    progress: options.progress,
  };
  let dataset = await loadExtract(loaded);
  if (options.mutations !== undefined) {
    const { mutations, announce } = options;
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

  const { routes } = await functionsStart;
  const { host, throttlePerSecond, onAnswer } = options;
  const gateway = await startGateway({
    routes,
    host,
    port: options.port,
    drainMilliseconds: drainMilliseconds(app),
    throttlePerSecond,
    ...(onAnswer && { onAnswer }),
  });
  resources.defer(gateway.stop);
  const url = baseUrl(host, gateway.port);
  const guarded = embedded && (await guardEndpoint(endpoint));
  if (guarded) resources.defer(guarded.stop);
  resources.defer(() => removeLocalState(folder.path));
  await writeLocalState(folder.path, {
    pid: process.pid,
    baseUrl: url,
    endpoint: guarded?.endpoint ?? endpoint,
    accessKeyId: guarded?.accessKeyId,
    addressesTable: tables.addresses,
    accountsTable: tables.accounts,
    checksumSecret,
    storageFolder: folder.storageFolder,
    mutations: options.mutations,
  });
  return { baseUrl: url, apiKey, dataset, engineEnded };
}

/** Longer than any request can take: the gateway answers at the integration's timeout, functions end at their own. */
function drainMilliseconds({ routes, functions }: LocalApp): number {
  const timeouts = routes.map(({ functionName, timeoutMilliseconds }) => {
    const own = functions.find(({ name }) => name === functionName)?.timeoutMilliseconds ?? 0;
    return Math.min(timeoutMilliseconds, own);
  });
  return Math.max(0, ...timeouts) + 1_000;
}

/** The engine that the options name, or else the embedded one. */
async function startOrUseEngine(
  { endpoint }: ServiceOptions,
  { databaseFile }: DataFolder,
  resources: AsyncDisposableStack,
) {
  if (endpoint !== undefined) return { endpoint, ended: new Promise<void>(() => undefined), embedded: undefined };
  const embedded = await startPausableEngine(databaseFile);
  resources.defer(embedded.stop);
  return { endpoint: embedded.endpoint, ended: embedded.ended, embedded };
}

/** The tables, as the functions know them. */
function tableNames({ functions }: LocalApp): { addresses: string; accounts: string } {
  const [settings] = functions.filter((found) => found.environment[environment.addressesTable] !== undefined);
  const addresses = settings?.environment[environment.addressesTable];
  const accounts = settings?.environment[environment.accountsTable];
  if (addresses === undefined || accounts === undefined)
    throw new Error('No function in the template has both tables in its environment');
  return { addresses, accounts };
}

function engineEnvironment(endpoint: string): Record<string, string> {
  return {
    AWS_ENDPOINT_URL_DYNAMODB: endpoint,
    AWS_REGION: localAws.region,
    AWS_ACCESS_KEY_ID: localAws.credentials.accessKeyId,
    AWS_SECRET_ACCESS_KEY: localAws.credentials.secretAccessKey,
  };
}
