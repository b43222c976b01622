import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { BatchWriteItemCommand, type DynamoDBClient, ScanCommand } from '@aws-sdk/client-dynamodb';
import { type LoadProposal, RefusedLoadError } from '../../loader/guard/load-report.ts';
import { localGuardDefaults } from '../../loader/names.ts';
import { dynamoDbAddressTable } from '../../loader/storage/address-table.ts';
import { openStorage } from '../../loader/storage/open.ts';
import { getJson, paths, putJson, type Storage } from '../../loader/storage/storage.ts';
import { runLoad } from '../../local/load/run-load.ts';
import { january, type Month, march, voorkomensOf } from '../loader/steps/months.ts';
import { createAddressesTable } from './dynamodb.ts';
import { writeExtract } from './write-extract.ts';

const thresholds = { ...localGuardDefaults, minimumAddresses: 1, alwaysAllowed: 1 };

let made = 0;

/**
 * A register of its own in which January is live and March waits for an approval, since it removes
 * too much.
 */
export async function createWaitingLoad(client: DynamoDBClient) {
  const storageFolder = await makeStorageFolder();
  const addressesTable = `register-${++made}`;
  await createAddressesTable(client, addressesTable);
  const places = { client, storageFolder, addressesTable };
  await load(places, january);
  return registerAt(places, (await load(places, march)) ?? '');
}

/** Lets a refused load change the objects of 3,000 addresses too; returns what takes that back. */
export async function withObjects(storage: Storage, load: string): Promise<() => Promise<unknown>> {
  const key = paths.proposal(load);
  const stored = await getJson<LoadProposal>(storage, key);
  const counts = { ...stored.counts, objecten: { live: 9_000, changed: 3_000, lost: 0, moved: 0 } };
  await putJson(storage, key, { ...stored, counts });
  return () => putJson(storage, key, stored);
}

/**
 * In a folder of its own: beside it is what else a service on one machine keeps, such as
 * statements.
 */
async function makeStorageFolder(): Promise<string> {
  const folder = join(await mkdtemp(join(tmpdir(), 'waiting-load-')), 'storage');
  await mkdir(folder);
  return folder;
}

/** Where a register is kept. */
type Places = { client: DynamoDBClient; storageFolder: string; addressesTable: string };

const addressesOf = ({ client, addressesTable }: Places) =>
  dynamoDbAddressTable(client, addressesTable, { transactions: true });

async function registerAt(places: Places, waiting: string) {
  const { client, storageFolder, addressesTable } = places;
  return {
    storageFolder,
    storage: await openStorage(storageFolder),
    addresses: addressesOf(places),
    addressesTable,
    /** The id of the load that waits. */
    waiting,
    /** Another register with the same content. */
    async copy() {
      const copied = {
        client,
        storageFolder: await makeStorageFolder(),
        addressesTable: `register-${++made}`,
      };
      await cp(storageFolder, copied.storageFolder, { recursive: true });
      await createAddressesTable(client, copied.addressesTable);
      const { Items = [] } = await client.send(
        new ScanCommand({ TableName: addressesTable, ConsistentRead: true }),
      );
      const puts = Items.map((Item) => ({ PutRequest: { Item } }));
      await client.send(
        new BatchWriteItemCommand({ RequestItems: { [copied.addressesTable]: puts } }),
      );
      return registerAt(copied, waiting);
    },
    stop: () => rm(dirname(storageFolder), { recursive: true, force: true }),
  };
}

/** Loads a month; returns the id of its load where that waits. */
async function load(places: Places, month: Month): Promise<string | null> {
  const { storageFolder: storage } = places;
  const source = join(storage, `${month.peildatum}-${Math.random()}.zip`);
  await writeFile(source, await writeExtract(month.peildatum, voorkomensOf(month)));
  try {
    await runLoad({ storage, addresses: addressesOf(places), thresholds, workers: 0, source });
    return null;
  } catch (error) {
    if (error instanceof RefusedLoadError) return error.report.load;
    throw error;
  } finally {
    await rm(source);
  }
}

export type WaitingLoad = Awaited<ReturnType<typeof createWaitingLoad>>;
