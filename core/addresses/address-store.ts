import { GetItemCommand } from '@aws-sdk/client-dynamodb';
import type { AddressRequest } from '../contract.ts';
import { documents, orUnavailable, type StoreClient } from '../dynamodb.ts';
import { addressesTable } from '../names.ts';
import { keyItem, type Place, type StoredAddress, storedAddress, type Toevoeging } from './address-item.ts';
import { addressKey } from './address-key.ts';

/** What the dataset has for a lookup. */
export type Found = {
  /** The distinct places of the address, sorted; none if there is no such address. */
  places: Place[];
  /** Where there is no such address: the toevoegingen that do exist at its postcode and huisnummer, sorted. Otherwise none. */
  toevoegingen: Toevoeging[];
};

export type AddressStore = {
  /** @throws StoreUnavailable */
  find(request: AddressRequest, signal: AbortSignal): Promise<Found>;
};

/**
 * One eventually consistent `GetItem` for an address that exists: half a read unit. For one that does not, one more at most:
 * the item of the same key without its toevoeging lists those that exist (decision 0121).
 */
export function createAddressStore(client: StoreClient, table: string): AddressStore {
  async function read(request: AddressRequest, signal: AbortSignal): Promise<StoredAddress | undefined> {
    const command = new GetItemCommand({ TableName: table, Key: keyItem(addressKey(request)) });
    const { Item } = await orUnavailable(client.send(command, { abortSignal: signal }), signal);
    return Item && storedAddress(Item);
  }

  return {
    async find(request, signal) {
      const found = await read(request, signal);
      if (found && found.places.length > 0) return { places: found.places, toevoegingen: [] };
      const bare = request.toevoeging === null ? found : await read({ ...request, toevoeging: null }, signal);
      return { places: [], toevoegingen: existing(bare, request) };
    },
  };
}

/** A load may write between the two reads: a toevoeging that was just not found is not listed. */
function existing(bare: StoredAddress | undefined, { toevoeging }: AddressRequest): Toevoeging[] {
  const asked = toevoeging?.toUpperCase();
  const listed = bare?.toevoegingen ?? (bare ? [null] : []);
  return listed.filter((one) => one !== asked);
}

/** Never issued: postcodes don't use the letters SA, SD and SS (decision 0122). */
const testPostcode = '9999SD';

const dorp = { straat: 'Teststraat', woonplaats: 'Testdorp' };
const stad = { straat: 'Teststraat', woonplaats: 'Teststad' };

/** By huisnummer, then by toevoeging: one that is found, one with toevoegingen only, one in several places. */
const testPlaces: Record<number, Record<string, Place[]>> = {
  1: { '': [dorp] },
  2: { A: [dorp], B: [dorp] },
  3: { '': [dorp, stad] },
};

/**
 * What a lookup of a test address finds, the same in every deployment and with any data. `null` for every other
 * postcode; this one is never looked up in the dataset.
 */
export function findTestAddress({ postcode, huisnummer, toevoeging }: AddressRequest): Found | null {
  if (postcode !== testPostcode) return null;
  const existing = testPlaces[huisnummer] ?? {};
  const found = existing[(toevoeging ?? '').toUpperCase()];
  if (found) return { places: found, toevoegingen: [] };
  return { places: [], toevoegingen: Object.keys(existing).map((one) => one || null) };
}

/** The snapshot date of the live dataset, `2021-10-15`, if it is known. Never fails, and waits only briefly. */
export type DatasetDate = () => Promise<string | undefined>;

const refreshAfterMilliseconds = 5 * 60_000;
/** While it is unknown: nothing was loaded yet, or the read failed. */
const retryAfterMilliseconds = 1000;
const longestWaitMilliseconds = 250;

/**
 * Caches the date: it is read when the instance starts, and again in the background after five minutes. Lookups wait
 * for it, briefly, only while it is unknown.
 */
export function createDatasetDate(client: StoreClient, table: string, clock = Date.now): DatasetDate {
  const { get } = documents(client);
  let date: string | undefined;
  let readAt = 0;
  let reading: Promise<void> = Promise.resolve();

  function refresh(): void {
    readAt = clock();
    const Key = { [addressesTable.partitionKey]: addressesTable.datasetKey };
    reading = get({ TableName: table, Key }).then(
      (item) => {
        date = item?.[addressesTable.datasetDate] ?? date;
      },
      () => {
        // A lookup must not fail because the date is unknown; the next refresh reads it again.
      },
    );
  }

  refresh();
  return async () => {
    if (clock() - readAt > (date === undefined ? retryAfterMilliseconds : refreshAfterMilliseconds)) refresh();
    if (date === undefined) await Promise.race([reading, pause(longestWaitMilliseconds)]);
    return date;
  };
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms).unref());
}
