import { StateError } from './errors.ts';
import { evaluate, evaluateInteger, type Names } from './evaluate.ts';
import { type Json, type JsonObject, jsonBytes, payloadLimit } from './json.ts';
import type { ItemBatcher } from './schema.ts';

/** What one child execution gets, and how many items that is. */
export type ChildInput = { input: Json; items: number };

/**
 * The inputs of the child executions: each item by itself, or `{BatchInput, Items}` with as many items as the batcher
 * allows and as fit the payload limit.
 * @throws StateError States.DataLimitExceeded when an item fits in no batch
 */
export async function batchItems(
  items: readonly Json[],
  batcher: ItemBatcher | undefined,
  names: Names,
): Promise<ChildInput[]> {
  if (!batcher) return items.map((input) => ({ input, items: 1 }));
  const whole = async (value: Json | undefined, field: string, most: number) =>
    value === undefined ? most : evaluateInteger(value, names, `ItemBatcher/${field}`, [1, most]);
  const mostItems = await whole(batcher.MaxItemsPerBatch, 'MaxItemsPerBatch', 100_000_000);
  const mostBytes = await whole(batcher.MaxInputBytesPerBatch, 'MaxInputBytesPerBatch', payloadLimit);
  const shared: JsonObject =
    batcher.BatchInput === undefined
      ? {}
      : { BatchInput: await evaluate(batcher.BatchInput, names, 'ItemBatcher/BatchInput') };

  const empty = jsonBytes({ ...shared, Items: [] });
  const batches: Json[][] = [];
  let bytes = 0;
  for (const item of items) {
    const size = jsonBytes(item) + 1;
    const batch = batches.at(-1);
    if (batch && batch.length < mostItems && bytes + size <= mostBytes) {
      batch.push(item);
      bytes += size;
      continue;
    }
    bytes = empty + size;
    if (bytes > mostBytes) {
      throw new StateError('States.DataLimitExceeded', `An item of ${size} bytes does not fit in a batch.`);
    }
    batches.push([item]);
  }
  return batches.map((Items) => ({ input: { ...shared, Items }, items: Items.length }));
}
