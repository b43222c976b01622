import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { noProgress } from '../../loader/steps/step.ts';
import { type LocalState, readLocalState } from '../../local/data-folder.ts';
import { localDynamoDb } from '../../local/engine/client.ts';
import { type Service, type ServiceOptions, startService } from '../../local/service.ts';
import { type Admin, createAdmin } from '../../packages/admin/admin.ts';

/**
 * The whole service as `npm start` runs it: engine, bundled functions, gateway. Its data is removed
 * when it stops.
 */
export interface TestService extends Service {
  readonly state: LocalState;
  readonly admin: Admin;
  /** The functions' log so far. */
  functionsLog(): Promise<string>;
  stop(): Promise<void>;
}

/**
 * Starts the service on free ports, with the demo extract by default. May take a minute if it has
 * to synthesize.
 */
export async function startTestService({
  extract,
}: {
  extract?: string;
} = {}): Promise<TestService> {
  const dataFolder = await mkdtemp(join(tmpdir(), 'service-'));
  const resources = new AsyncDisposableStack();
  resources.defer(() => rm(dataFolder, { recursive: true, force: true }));
  try {
    const service = await startService(serviceOptions({ dataFolder, extract }), resources);
    const state = await readLocalState(dataFolder);
    const client = localDynamoDb(state.endpoint, state.accessKeyId);
    resources.defer(() => client.destroy());
    const admin = createAdmin({
      client: DynamoDBDocumentClient.from(client),
      table: state.accountsTable,
    });
    const functionsLog = () => readFile(join(dataFolder, 'functions.log'), 'utf8');
    return { ...service, state, admin, functionsLog, stop: () => resources.disposeAsync() };
  } catch (error) {
    await resources.disposeAsync();
    throw error;
  }
}

/**
 * What a service that is started in this process needs; on a free port unless the options name one.
 */
export function serviceOptions(
  options: Partial<ServiceOptions> & { dataFolder: string },
): ServiceOptions {
  const fixed = {
    host: '127.0.0.1',
    port: 0,
    fresh: false,
    progress: noProgress,
    announce: () => undefined,
  };
  return { ...fixed, ...options };
}

/**
 * Runs the service in this process while `work` runs: a third of the cost of a process of its own.
 */
export async function whileServing<T>(
  options: ServiceOptions,
  work: (service: Service) => Promise<T>,
): Promise<T> {
  await using resources = new AsyncDisposableStack();
  return await work(await startService(options, resources));
}

/** Creates an API key of a new account with an unlimited plan. */
export async function unlimitedKey(admin: Admin, label = 'test'): Promise<string> {
  await admin.plans.put({ code: 'unlimited', limits: { day: null } });
  const id = `unlimited-${Math.random().toString(36).slice(2, 8)}`;
  await admin.accounts.create({ id, plan: 'unlimited' });
  return (await admin.keys.create({ account: id, label })).key;
}
