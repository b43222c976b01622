import { isIPv6 } from 'node:net';
import { environment } from '../core/environment.ts';
import { metricNamespaceOf, metricNamespaceVariable } from '../core/metrics.ts';
import { apiFunctions } from '../lib/shared/routes.ts';
import {
  emptyDataFolder,
  type FolderIdentity,
  openDataFolder,
  readFolderIdentity,
  removeLocalState,
  writeLocalState,
} from './data-folder.ts';
import type { ServedDataset, WantedDataset } from './dataset.ts';
import type { TableNames } from './engine/client.ts';
import { type PausableEngine, startPausableEngine } from './engine/database-files.ts';
import { requireFreePort } from './engine/engine.ts';
import { type Answered, startGateway } from './gateway/gateway.ts';
import { brandingVariable, type LocalBranding } from './local-branding.ts';
import { openLogFile } from './log-file.ts';

/**
 * The URL of a server that listens on `host`; for a host that means every interface, the loopback
 * address.
 */
export function baseUrl(host: string, port: number): string {
  const reachable = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return `http://${isIPv6(reachable) ? `[${reachable}]` : reachable}:${port}`;
}

export type ServiceOptions = WantedDataset & {
  readonly dataFolder: string;
  readonly host: string;
  /** Names of this machine, besides its addresses and `localhost`. */
  readonly allowedHosts?: readonly string[] | undefined;
  /** 0 picks a free one. */
  readonly port: number;
  /** Discards the data of earlier starts first. */
  readonly fresh: boolean;
  /** A DynamoDB engine to use instead of the embedded one. */
  readonly endpoint?: string | undefined;
  /** Requests a second of each route of the gateway; unlimited if absent. */
  readonly throttlePerSecond?: number | undefined;
  readonly branding?: LocalBranding | undefined;
  /** The links on the pages of the service. */
  readonly portalUrl?: string | undefined;
  readonly onAnswer?: (answered: Answered) => void;
};

/** The running service. */
export type Service = {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly dataset: ServedDataset;
  /** Whether addresses have their objects. */
  readonly objecten: boolean;
  /** Writes an error that belongs to no request to the log of the functions. */
  readonly logError: (error: unknown) => void;
  /** Resolves when the engine has ended. */
  readonly engineEnded: Promise<void>;
};

/**
 * Starts the engine, the functions and the gateway, with the tables, an extract and a demo account.
 * Each part is added to `resources` at once: disposing of them stops everything, even in the middle
 * of a start.
 */
export async function startService(
  options: ServiceOptions,
  resources: AsyncDisposableStack,
): Promise<Service> {
  const { host, allowedHosts = [], fresh, throttlePerSecond, objecten = false, onAnswer } = options;
  const folder = await openDataFolder(options.dataFolder);
  resources.defer(folder.release);
  await requireFreePort(host, options.port);
  const discarded = fresh ? await emptyDataFolder(folder) : undefined;
  // Before an engine opens the data, which may have another layout.
  const identity = await readFolderIdentity(folder);
  // Loaded while the engine's process starts, and not before, as loading keeps this thread busy for
  // long.
  const modules = () =>
    Promise.all([import('./dataset.ts'), import('./engine/client.ts'), import('./functions.ts')]);
  let wanted: () => Promise<unknown> = modules;
  const starting =
    options.endpoint === undefined
      ? startPausableEngine(folder.databaseFile, () => void wanted())
      : Promise.resolve(undefined);
  starting.catch(() => undefined); // awaited below
  resources.defer(async () => (await starting.catch(() => undefined))?.stop());
  const tables = tablesOf(identity);
  const embedded = await starting;
  const [{ fillTables }, { guardEndpoint, localStoreClient }, { apiHandlers, loadHandlers }] =
    await modules();
  wanted = loadHandlers; // while the engine starts again after an import
  const endpoint = options.endpoint ?? (embedded as PausableEngine).endpoint;
  const engineEnded = embedded?.ended ?? new Promise<void>(() => undefined);

  const log = openLogFile(folder.logFile, options.announce);
  resources.defer(() => log.close());
  const client = localStoreClient(endpoint);
  resources.defer(() => client.destroy());
  const { dataset, apiKey } = await fillTables(
    options,
    { client, tables, folder, identity, embedded, discarded },
    resources,
  );
  let isToldOfDemo = !dataset.isDemo;
  // Not before: a function reads the accounts table as it starts.
  const routes = await apiHandlers({
    values: {
      [environment.addressesTable]: tables.addresses,
      [environment.accountsTable]: tables.accounts,
      [environment.branding]: brandingVariable(options.branding ?? {}, options.portalUrl),
      [metricNamespaceVariable]: metricNamespaceOf('local'),
      ...(objecten && { [environment.objecten]: 'on' }),
    },
    client,
    log: (line) => {
      log.write(line);
      if (isToldOfDemo || !line.includes('"outcome":"not_found"')) return;
      isToldOfDemo = true;
      void import('./demo.ts').then((demo) =>
        options.announce(demo.outsideDemoText(dataset.report.addresses)),
      );
    },
  });

  const gateway = await startGateway({
    routes,
    host,
    allowedHosts,
    port: options.port,
    drainMilliseconds,
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
    storageFolder: folder.storageFolder,
    mutations: options.mutations,
    objecten: options.objecten,
  });
  const logError = (error: unknown) => {
    const message = error instanceof Error ? (error.stack ?? String(error)) : String(error);
    log.write(JSON.stringify({ level: 'ERROR', message }));
  };
  return { baseUrl: url, apiKey, dataset, objecten, logError, engineEnded };
}

/** The tables of a data folder. Several folders can share one engine. */
function tablesOf({ suffix }: FolderIdentity): TableNames {
  return { addresses: `addresses-${suffix}`, accounts: `accounts-${suffix}` };
}

/** Longer than any request can take: functions end at their time limit. */
const drainMilliseconds =
  Math.max(...Object.values(apiFunctions).map(({ timeoutSeconds }) => timeoutSeconds)) * 1000 +
  1_000;
