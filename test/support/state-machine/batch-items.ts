import { StateError } from './errors.ts';
import { evaluate, evaluateInteger, type Names } from './evaluate.ts';
import { type Json, jsonBytes, payloadLimit } from './json.ts';
import type { MapState } from './schema.ts';

/**
 * The inputs of the child executions: `{BatchInput, Items}` with as many items as the batcher allows and as fit the
 * payload limit.
 * @throws StateError States.DataLimitExceeded when an item fits in no batch
 */
export async function batchItems(
  items: readonly Json[],
  { MaxItemsPerBatch, BatchInput: shared }: MapState['ItemBatcher'],
  names: Names,
): Promise<Json[]> {
  const most = await evaluateInteger(MaxItemsPerBatch, names, 'ItemBatcher/MaxItemsPerBatch', [1, 100_000_000]);
  const BatchInput = await evaluate(shared, names, 'ItemBatcher/BatchInput');
  const empty = jsonBytes({ BatchInput, Items: [] });
  const batches: Json[][] = [];
  let bytes = 0;
  for (const item of items) {
    const size = jsonBytes(item) + 1;
    const batch = batches.at(-1);
    if (batch && batch.length < most && bytes + size <= payloadLimit) {
      batch.push(item);
      bytes += size;
      continue;
    }
    bytes = empty + size;
    if (bytes > payloadLimit) {
      throw new StateError('States.DataLimitExceeded', `An item of ${size} bytes does not fit in a batch.`);
    }
    batches.push([item]);
  }
  return batches.map((Items) => ({ BatchInput, Items }));
}
