import type { Progress } from '../../loader/progress.ts';
import { repairTable } from '../../loader/run/repair.ts';
import { planLoad, rollbackLoad, runLoad } from '../../loader/run/run-load.ts';
import { dynamoDbAddressTable, scanAddresses } from '../../loader/storage/dynamodb-address-table.ts';
import { openStorage, pdokExtract } from '../../loader/storage/open.ts';
import { localDynamoDb } from '../../local/engine/tables.ts';
import { readLocalState } from '../../local/state.ts';
import { CommandError } from '../cli/arguments.ts';
import type { Loads } from './loads.ts';

/**
 * Loads in this process, on the data of the running `npm start`, which serves what they publish at once.
 * @throws NotRunningError
 */
export async function localLoads(dataFolder: string | undefined, progress: Progress): Promise<Loads> {
  const { endpoint, addressesTable, storageFolder } = await readLocalState(dataFolder);
  const client = localDynamoDb(endpoint);
  const addresses = dynamoDbAddressTable(client, addressesTable);
  const options = { storage: storageFolder, addresses, progress };
  return {
    places: { storage: await openStorage(storageFolder), addresses },
    where: dataFolder === undefined ? '--local' : `--local --data ${dataFolder}`,
    start({ source = pdokExtract, again = false, planOnly = false, rollback, approve }) {
      const approved = approve === undefined ? {} : { approve };
      if (rollback !== undefined) return rollbackLoad({ ...options, snapshot: rollback, ...approved });
      return (planOnly ? planLoad : runLoad)({ ...options, source, again, ...approved });
    },
    follow: async () => {
      throw new CommandError(
        'not_here',
        'A load with --local runs in the command that began it; there is none to follow.',
      );
    },
    running: async () => [],
    repair: ({ planOnly }) => repairTable({ ...options, planOnly, scan: () => scanAddresses(client, addressesTable) }),
    close: () => client.destroy(),
  };
}
