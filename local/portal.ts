import { dirname } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { dynamoDbAddressTable } from '../loader/storage/address-table.ts';
import { openStorage } from '../loader/storage/open.ts';
import { createAdminStore } from '../packages/admin/accounts/admin-store.ts';
import { loadsOf } from '../packages/admin/load-approvals.ts';
import { statementsOf } from '../packages/admin/monthly-statements.ts';
import type { LocalPortal, LocalPortalOptions } from '../portal/local/start-portal.ts';
import { localDynamoDb } from './engine/client.ts';
import { startGateway } from './gateway/gateway.ts';
import { localLoadRunner } from './load/load-runner.ts';

export type LocalServicesOptions = Omit<
  LocalPortalOptions,
  'client' | 'loadsAs' | 'statements' | 'startGateway'
> & {
  /** The DynamoDB engine, and the secret that it requires. */
  endpoint: string;
  accessKeyId?: string | undefined;
  addressesTable: string;
  /** The loader's storage. */
  storageFolder: string;
};

/**
 * Starts the portal on the engine, the loader and the gateway of this machine. Adds everything that
 * it starts to `resources`.
 */
export async function startLocalPortal(
  { endpoint, accessKeyId, addressesTable, storageFolder, ...options }: LocalServicesOptions,
  resources: AsyncDisposableStack,
): Promise<LocalPortal> {
  const { startPortal } = await import('../portal/local/start-portal.ts');
  const connection = localDynamoDb(endpoint, accessKeyId);
  resources.defer(() => connection.destroy());
  const client = DynamoDBDocumentClient.from(connection);
  const adminStore = (actor: string) =>
    createAdminStore(client, options.accountsTable, actor, Date.now);
  const storage = await openStorage(storageFolder);
  const addresses = dynamoDbAddressTable(connection, addressesTable, { transactions: true });
  const runner = announced(localLoadRunner({ storage: storageFolder, addresses }));
  // A killed load can continue, so stopping does not wait long for it.
  resources.defer(() =>
    Promise.race([runner.settle(), setTimeout(5000, undefined, { ref: false })]),
  );
  return startPortal(
    {
      ...options,
      client,
      loadsAs: async (actor) => loadsOf(adminStore(actor), storage, runner),
      statements: async () =>
        statementsOf(adminStore('statements'), await openStorage(dirname(storageFolder))),
      startGateway: (target, at) => startGateway({ routes: [{ key: '$default', target }], ...at }),
    },
    resources,
  );
}

/** Prints how each load ends that was approved or rejected in the portal. */
function announced(runner: ReturnType<typeof localLoadRunner>): typeof runner {
  return {
    ...runner,
    async start(name, load, decision) {
      await runner.start(name, load, decision);
      const done = `Load ${load} was ${decision === 'approve' ? 'approved' : 'rejected'} in the portal`;
      runner.reportOf(name)?.then(
        ({ peildatum }) => console.log(`${done}: the snapshot of ${peildatum} is live.`),
        (error: unknown) =>
          console.log(`${done} and failed: ${error instanceof Error ? error.message : error}`),
      );
    },
  };
}
