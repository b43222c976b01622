import { setTimeout as sleep } from 'node:timers/promises';
import { BatchGetItemCommand, GetItemCommand } from '@aws-sdk/client-dynamodb';
import type { AddressRequest } from '../contract.ts';
import { documents, orUnavailable, type StoreClient } from '../dynamodb.ts';
import type { IncludeName } from '../place-fields.ts';
import { addressesTable } from '../tables.ts';
import { keyItem, keyOfItem, type StoredAddress, storedAddress } from './address-item.ts';
import { addressKey, bareKey } from './address-key.ts';

/** The dataset's items for a lookup. */
export type FoundItems = {
  /** The item under the key of the lookup. */
  address: StoredAddress | undefined;
  /** The item under the same key without its toevoeging, if the response needs it. */
  bare: StoredAddress | undefined;
};

/** Finds addresses. The `include` of a request decides which items are read. */
export type AddressStore = {
  /** @throws StoreUnavailable */
  find(
    request: AddressRequest,
    include: readonly IncludeName[],
    signal: AbortSignal,
  ): Promise<FoundItems>;
  /**
   * What `find` returns for each of at most 100 lookups, in their order. @throws StoreUnavailable
   */
  findAll(
    requests: readonly AddressRequest[],
    include: readonly IncludeName[],
    signal: AbortSignal,
  ): Promise<FoundItems[]>;
};

/**
 * Reads are eventually consistent: half a read unit an item. `find` reads one item for a bare
 * number and for an address that exists; for a missing address, or to include its toevoegingen,
 * also the item without its toevoeging, which lists the existing toevoegingen (decision 0121).
 * `findAll` reads each item once, however many lookups need it.
 */
export function createAddressStore(client: StoreClient, table: string): AddressStore {
  async function read(key: string, signal: AbortSignal): Promise<StoredAddress | undefined> {
    const command = new GetItemCommand({ TableName: table, Key: keyItem(key) });
    const { Item } = await orUnavailable(client.send(command, { abortSignal: signal }), signal);
    return Item && storedAddress(Item);
  }

  /** One batch; keys that the store leaves unprocessed are read again until the signal aborts. */
  async function readBatch(
    keys: readonly string[],
    signal: AbortSignal,
    found: Map<string, StoredAddress>,
  ) {
    let Keys = keys.map(keyItem);
    for (
      let pause = firstPauseMilliseconds;
      ;
      pause = Math.min(2 * pause, longestPauseMilliseconds)
    ) {
      const command = new BatchGetItemCommand({ RequestItems: { [table]: { Keys } } });
      const { Responses, UnprocessedKeys } = await orUnavailable(
        client.send(command, { abortSignal: signal }),
        signal,
      );
      for (const item of Responses?.[table] ?? []) found.set(keyOfItem(item), storedAddress(item));
      Keys = UnprocessedKeys?.[table]?.Keys ?? [];
      if (Keys.length === 0) return;
      await orUnavailable(sleep(pause * (1 - Math.random() / 2), undefined, { signal }), signal);
    }
  }

  async function readAll(
    keys: ReadonlySet<string>,
    signal: AbortSignal,
    found: Map<string, StoredAddress>,
  ) {
    const left = [...keys];
    const batches: string[][] = [];
    while (left.length > 0) batches.push(left.splice(0, largestBatch));
    await Promise.all(batches.map((batch) => readBatch(batch, signal, found)));
  }

  return {
    async find(request, include, signal) {
      const [key, bare] = keysOf(request);
      const isListed = include.includes('toevoegingen');
      const [address, list] = await Promise.all([
        read(key, signal),
        isListed && bare !== key ? read(bare, signal) : undefined,
      ]);
      if (bare === key) return { address, bare: address };
      return { address, bare: address || isListed ? list : await read(bare, signal) };
    },

    async findAll(requests, include, signal) {
      const keys = requests.map(keysOf);
      const isListed = include.includes('toevoegingen');
      const first = new Set(isListed ? keys.flat() : keys.map(([key]) => key));
      const found = new Map<string, StoredAddress>();
      await readAll(first, signal, found);
      const missing = keys.flatMap(([key, bare]) =>
        found.has(key) || first.has(bare) ? [] : [bare],
      );
      await readAll(new Set(missing), signal, found);
      return keys.map(([key, bare]) => ({ address: found.get(key), bare: found.get(bare) }));
    },
  };
}

const largestBatch = 100;
const firstPauseMilliseconds = 20;
const longestPauseMilliseconds = 500;

function keysOf(request: AddressRequest): [key: string, bare: string] {
  const key = addressKey(request);
  return [key, bareKey(key)];
}

/**
 * The peildatum of the live dataset, `2021-10-15`, if it is known. Never fails, and waits only
 * briefly.
 */
export type DatasetDate = () => Promise<string | undefined>;

const refreshAfterMilliseconds = 5 * 60_000;
/** While it is unknown: nothing was loaded yet, or the read failed. */
const retryAfterMilliseconds = 1000;
const longestWaitMilliseconds = 250;

/**
 * Caches the date and reads it again in the background after five minutes. Lookups wait, briefly,
 * while it is unknown.
 */
export function createDatasetDate(
  client: StoreClient,
  table: string,
  clock = Date.now,
): DatasetDate {
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
    if (
      clock() - readAt >
      (date === undefined ? retryAfterMilliseconds : refreshAfterMilliseconds)
    ) {
      refresh();
    }
    if (date === undefined) await Promise.race([reading, pause(longestWaitMilliseconds)]);
    return date;
  };
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms).unref());
}
