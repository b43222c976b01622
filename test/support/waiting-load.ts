import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { localGuardDefaults } from '../../loader/names.ts';
import { runLoad } from '../../loader/run/run-load.ts';
import { RefusedLoadError } from '../../loader/steps/load-report.ts';
import { dynamoDbAddressTable } from '../../loader/storage/address-table.ts';
import { openStorage } from '../../loader/storage/open.ts';
import { writeExtract } from '../../local/demo/write-extract.ts';
import { january, type Month, march, voorkomensOf } from '../loader/steps/months.ts';
import { createTables } from './dynamodb.ts';

const thresholds = { ...localGuardDefaults, minimumAddresses: 1, alwaysAllowed: 0 };

let made = 0;

/** A register of its own in which January is live and March waits for an approval, since it removes too much. */
export async function createWaitingLoad(client: DynamoDBClient) {
  const storageFolder = await mkdtemp(join(tmpdir(), 'waiting-load-'));
  const addressesTable = `register-${++made}`;
  await createTables(client, { addresses: addressesTable, accounts: `unused-${made}` });
  const addresses = dynamoDbAddressTable(client, addressesTable, { transactions: true });
  const options = { storage: storageFolder, addresses, thresholds, workers: 0 };

  /** Loads a month; returns the id of its load where that waits. */
  async function load(month: Month): Promise<string | null> {
    const source = join(storageFolder, `${month.peildatum}-${Math.random()}.zip`);
    await writeFile(source, await writeExtract(month.peildatum, voorkomensOf(month)));
    try {
      await runLoad({ ...options, source });
      return null;
    } catch (error) {
      if (error instanceof RefusedLoadError) return error.report.load;
      throw error;
    } finally {
      await rm(source);
    }
  }

  await load(january);
  const waiting = (await load(march)) ?? '';
  return {
    storageFolder,
    storage: await openStorage(storageFolder),
    addresses,
    addressesTable,
    load,
    /** The id of the load that waits. */
    waiting,
    remove: () => rm(storageFolder, { recursive: true, force: true }),
  };
}
