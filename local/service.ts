import { isIPv6 } from 'node:net';
import { environment } from '../core/names.ts';
import { brandingVariable, type LocalBranding } from './branding.ts';
import {
  type DataFolder,
  emptyDataFolder,
  openDataFolder,
  readFolderIdentity,
  removeLocalState,
  writeLocalState,
} from './data-folder.ts';
import type { ServedDataset, WantedDataset } from './dataset.ts';
import { type PausableEngine, startPausableEngine } from './engine/database-files.ts';
import { type Engine, localAws } from './engine/engine.ts';
import { type Answered, startGateway } from './gateway/gateway.ts';
import { startFunctions } from './lambda/functions.ts';
import { openLogFile } from './log-file.ts';
import { synthesize } from './synthesize.ts';
import type { StackTemplate } from './template/evaluate.ts';
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
  /** What the pages of the service link to. */
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
  /** Resolves when the engine has ended. */
  readonly engineEnded: Promise<void>;
};

/**
 * Starts the engine, the functions and the gateway, with the tables, an extract and a demo account. Everything that is
 * started is added to `resources` at once: disposing of them stops it all, also in the middle of a start.
 */
export async function startService(options: ServiceOptions, resources: AsyncDisposableStack): Promise<Service> {
  const folder = await openDataFolder(options.dataFolder);
  resources.defer(folder.release);
  await requireFreePort(options.host, options.port);
  let assembly: Promise<StackTemplate[]> | undefined;
  const describe = async () => {
    assembly ??= synthesize(() =>
      options.announce('Synthesizing the CDK templates because the sources have changed ...'),
    ).then(readAssembly);
    const stacks = await assembly;
    const identity = await readFolderIdentity(folder);
    const tableName = (logicalId: string) => `${logicalId}-${identity.suffix}`;
    return { identity, app: localApp(stacks, { tableName, secret: identity.checksumSecret }) };
  };

  const before = options.fresh ? await describe() : undefined;
  if (options.fresh) await emptyDataFolder(folder);
  const engine = startOrUseEngine(options, folder);
  engine.catch(() => undefined); // awaited below
  resources.defer(async () => (await engine.catch(() => undefined))?.stop());
  const { identity, app } = await describe();
  const { endpoint, ended: engineEnded, embedded } = await engine;
  const log = openLogFile(folder.logFile, options.announce);
  resources.defer(() => log.close());
  const functionsStart = startFunctions(app, {
    environment: {
      ...engineEnvironment(endpoint),
      ...(options.objecten && { [environment.objecten]: 'on' }),
      [environment.branding]: brandingVariable(options.branding ?? {}, options.portalUrl),
    },
    log: log.write,
  });
  functionsStart.catch(() => undefined);
  resources.defer(async () => (await functionsStart.catch(() => undefined))?.stop());
  // Loaded here, as that takes as long as the functions take to start, which they do meanwhile in their own threads.
  const { fillTables } = await import('./dataset.ts');
  const filled = await fillTables(
    options,
    { app, folder, identity, endpoint, embedded, before: before?.app },
    resources,
  );

  const { routes } = await functionsStart;
  const { host, allowedHosts = [], throttlePerSecond, onAnswer } = options;
  const gateway = await startGateway({
    routes,
    host,
    allowedHosts,
    port: options.port,
    drainMilliseconds: drainMilliseconds(app),
    throttlePerSecond,
    ...(onAnswer && { onAnswer }),
  });
  resources.defer(gateway.stop);
  const url = baseUrl(host, gateway.port);
  const { guardEndpoint } = await import('./engine/client.ts');
  const guarded = embedded && (await guardEndpoint(endpoint));
  if (guarded) resources.defer(guarded.stop);
  resources.defer(() => removeLocalState(folder.path));
  await writeLocalState(folder.path, {
    pid: process.pid,
    baseUrl: url,
    endpoint: guarded?.endpoint ?? endpoint,
    accessKeyId: guarded?.accessKeyId,
    addressesTable: filled.tables.addresses,
    accountsTable: filled.tables.accounts,
    checksumSecret: identity.checksumSecret,
    storageFolder: folder.storageFolder,
    mutations: options.mutations,
    objecten: options.objecten,
  });
  const { apiKey, dataset } = filled;
  return { baseUrl: url, apiKey, dataset, objecten: options.objecten ?? false, engineEnded };
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
async function startOrUseEngine({ endpoint }: ServiceOptions, { databaseFile }: DataFolder): Promise<UsedEngine> {
  if (endpoint === undefined) {
    const embedded = await startPausableEngine(databaseFile);
    return { endpoint: embedded.endpoint, ended: embedded.ended, embedded, stop: embedded.stop };
  }
  return { endpoint, ended: new Promise<void>(() => undefined), embedded: undefined, stop: async () => undefined };
}

type UsedEngine = Engine & { embedded: PausableEngine | undefined };

function engineEnvironment(endpoint: string): Record<string, string> {
  return {
    AWS_ENDPOINT_URL_DYNAMODB: endpoint,
    AWS_REGION: localAws.region,
    AWS_ACCESS_KEY_ID: localAws.credentials.accessKeyId,
    AWS_SECRET_ACCESS_KEY: localAws.credentials.secretAccessKey,
  };
}
