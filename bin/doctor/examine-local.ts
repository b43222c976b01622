import { localDynamoDb } from '../../local/engine/tables.ts';
import { type LocalState, readLocalState } from '../../local/state.ts';
import { checkInterface, checkKey, checkLookup, someAddress } from './check-service.ts';
import { checkDataset, checkTable } from './check-tables.ts';
import type { LookupOptions } from './examine-stack.ts';
import { examine, type Finding, ok } from './finding.ts';

/** Looks at the running `npm start`: the part of the checks that makes sense without an account. */
export async function examineLocal(data: string | undefined, { key, address }: LookupOptions): Promise<Finding[]> {
  let state: LocalState | undefined;
  const running = await examine('npm start', async () => {
    state = await readLocalState(data);
    return ok('npm start', `process ${state.pid} serves ${state.baseUrl}`);
  });
  if (!state) return [running];
  const { endpoint, addressesTable, accountsTable, baseUrl } = state;
  const client = localDynamoDb(endpoint);
  try {
    const find = async () => address ?? (await someAddress(client, addressesTable));
    const where = data === undefined ? '--local' : `--local --data ${data}`;
    return [
      running,
      await examine('addresses table', () => checkTable(client, 'addresses table', addressesTable)),
      await examine('accounts table', () => checkTable(client, 'accounts table', accountsTable)),
      await examine('dataset', () => checkDataset(client, addressesTable, where)),
      await examine('interface', () => checkInterface(baseUrl)),
      await examine('key', () => checkKey(baseUrl, key)),
      await examine('lookup', () => checkLookup(baseUrl, key, find)),
    ];
  } finally {
    client.destroy();
  }
}
