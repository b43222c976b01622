import { documents, type StoreClient } from '../dynamodb.ts';
import { addressesTable } from '../tables.ts';

/** Tells the date of the state being served, `2021-10-15`, as far as it is known; never fails and hardly waits. */
export type DatasetDate = () => Promise<string | undefined>;

const refreshAfterMs = 5 * 60_000;
/** Nothing was loaded yet, or the answer was lost. */
const askAgainAfterMs = 1000;
const longestWaitMs = 250;

/**
 * Keeps the dataset's date at hand beside the lookups: it is read when the instance starts and again, in the
 * background, when it is older than five minutes. Lookups wait for it only while it is unknown, and briefly.
 */
export function createDatasetDate(client: StoreClient, table: string, clock = Date.now): DatasetDate {
  const { get } = documents(client);
  let date: string | undefined;
  let askedAt = 0;
  let answer: Promise<void> = Promise.resolve();

  function refresh(): void {
    askedAt = clock();
    const Key = { [addressesTable.partitionKey]: addressesTable.datasetKey };
    answer = get({ TableName: table, Key }).then(
      (item) => {
        date = item?.[addressesTable.datasetDate] ?? date;
      },
      () => {
        // A lookup never fails for want of the date: it is asked again after the same while.
      },
    );
  }

  refresh();
  return async () => {
    if (clock() - askedAt > (date === undefined ? askAgainAfterMs : refreshAfterMs)) refresh();
    if (date === undefined) await Promise.race([answer, pause(longestWaitMs)]);
    return date;
  };
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms).unref());
}
