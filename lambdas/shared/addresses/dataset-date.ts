import { documents, type StoreClient } from '../dynamodb.ts';
import { addressesTable } from '../tables.ts';

/** The snapshot date of the live dataset, `2021-10-15`, if it is known. Never fails, and waits only briefly. */
export type DatasetDate = () => Promise<string | undefined>;

const refreshAfterMs = 5 * 60_000;
/** While it is unknown: nothing was loaded yet, or the read failed. */
const retryAfterMs = 1000;
const longestWaitMs = 250;

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
    if (clock() - readAt > (date === undefined ? retryAfterMs : refreshAfterMs)) refresh();
    if (date === undefined) await Promise.race([reading, pause(longestWaitMs)]);
    return date;
  };
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms).unref());
}
