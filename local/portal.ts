import { dirname } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { createAdminStore } from '../core/accounts/admin/admin-store.ts';
import { statementsOf } from '../core/accounts/admin/statements.ts';
import { type AddressTable, dynamoDbAddressTable } from '../loader/storage/address-table.ts';
import { openStorage } from '../loader/storage/open.ts';
import { type LoadRunner, loadsOf } from '../packages/admin/load-approvals.ts';
import type { LoadDecision } from '../packages/admin/load-views.ts';
import type { LocalPortal, LocalPortalOptions } from '../portal/local/portal.ts';
import { localDynamoDb } from './engine/client.ts';
import { startGateway } from './gateway/gateway.ts';
import { runLoad } from './load/run-load.ts';
import { statementFolder } from './statement-folder.ts';

export type LocalServicesOptions = Omit<LocalPortalOptions, 'client' | 'loadsAs' | 'statements' | 'startGateway'> & {
  /** The DynamoDB engine, and the secret that it requires. */
  endpoint: string;
  accessKeyId?: string | undefined;
  addressesTable: string;
  /** The loader's storage. */
  storageFolder: string;
};

/**
 * Starts the portal on the engine, the loader and the gateway of this machine. Adds everything that it starts to
 * `resources`.
 */
export async function startLocalPortal(
  { endpoint, accessKeyId, addressesTable, storageFolder, ...options }: LocalServicesOptions,
  resources: AsyncDisposableStack,
): Promise<LocalPortal> {
  const { startPortal } = await import('../portal/local/portal.ts');
  const connection = localDynamoDb(endpoint, accessKeyId);
  resources.defer(() => connection.destroy());
  const client = DynamoDBDocumentClient.from(connection);
  const adminStore = (actor: string) => createAdminStore(client, options.accountsTable, actor, Date.now);
  const storage = await openStorage(storageFolder);
  const addresses = dynamoDbAddressTable(connection, addressesTable, { transactions: true });
  const runner = localLoadRunner({ storageFolder, addresses, report: console.log });
  // A killed load continues where it stopped, so stopping does not wait long for one.
  resources.defer(() => Promise.race([runner.settle(), setTimeout(5000, undefined, { ref: false })]));
  return startPortal(
    {
      ...options,
      client,
      loadsAs: async (actor) => loadsOf(adminStore(actor), storage, runner),
      statements: async () => statementsOf(adminStore('statements'), statementFolder(dirname(storageFolder))),
      startGateway: (target, at) => startGateway({ routes: [{ key: '$default', target }], ...at }),
    },
    resources,
  );
}

export type LocalLoadRunnerOptions = {
  /** The loader's storage. */
  storageFolder: string;
  addresses: AddressTable;
  /** Called with how each load ended. */
  report: (text: string) => void;
};

/**
 * Runs approved loads in this process. What it knows of them ends with it; a load that it began can be approved again.
 */
export function localLoadRunner({ storageFolder, addresses, report }: LocalLoadRunnerOptions) {
  const runs = new Map<string, { since: string; state: 'running' | 'done' | 'failed'; end: Promise<void> }>();

  async function run(load: string, decision: LoadDecision, end: (state: 'done' | 'failed') => void): Promise<void> {
    const done = decision === 'approve' ? 'approved' : 'rejected';
    try {
      const { peildatum } = await runLoad({ storage: storageFolder, addresses, [decision]: load });
      end('done');
      report(`Load ${load} was ${done} in the portal: the snapshot of ${peildatum} is live.`);
    } catch (error) {
      end('failed');
      report(`Load ${load} was ${done} in the portal and failed: ${error instanceof Error ? error.message : error}`);
    }
  }

  const runner: LoadRunner = {
    running: async () =>
      [...runs].flatMap(([name, { since, state }]) => (state === 'running' ? [{ name, since }] : [])),
    async start(name, load, decision) {
      if (runs.has(name)) return;
      const since = new Date().toISOString();
      const end = run(load, decision, (state) => runs.set(name, { since, state, end }));
      runs.set(name, { since, state: 'running', end });
    },
    stateOf: async (name) => runs.get(name)?.state ?? 'none',
  };
  /** Waits until no load is running. */
  const settle = async () => void (await Promise.all([...runs.values()].map(({ end }) => end)));
  return { ...runner, settle };
}
