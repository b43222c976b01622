import type { Progress } from '../../loader/progress.ts';
import { repairTable } from '../../loader/repair/repair-table.ts';
import { scanAddresses } from '../../loader/repair/scan-addresses.ts';
import { planLoad, rollbackLoad, runLoad } from '../../loader/run-load.ts';
import { dynamoDbAddressTable } from '../../loader/storage/dynamodb-address-table.ts';
import { pdokExtract } from '../../loader/storage/open-source.ts';
import { openStorage } from '../../loader/storage/open-storage.ts';
import { localDynamoDb } from '../../local/dynamodb-client.ts';
import { readLocalState } from '../../local/local-state.ts';
import { CommandError } from '../commands/command-error.ts';
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
      if (rollback !== undefined) return rollbackLoad({ ...options, state: rollback, ...approved });
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
