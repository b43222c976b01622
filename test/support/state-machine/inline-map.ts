import { evaluate, evaluateInteger, queryError } from './evaluate.ts';
import { type Entered, type Frame, innerFrame, limited, namesAt } from './frame.ts';
import type { Json, JsonObject } from './json.ts';
import { pool } from './pool.ts';
import type { MapState } from './schema.ts';

const mostAtOnce = 40;

/** Runs the states once for each item, within this execution; the first iteration that fails fails the state. */
export async function runInlineMap(state: MapState, entered: Entered, frame: Frame): Promise<Json> {
  const names = namesAt(frame, entered);
  const items = await stateItems(state, entered, frame);
  const limit = (await evaluateInteger(state.MaxConcurrency, names, 'MaxConcurrency', [0, mostAtOnce])) || mostAtOnce;
  const results: Json[] = [];
  const siblings = new AbortController();
  let failure: unknown;
  await pool(
    items,
    limit,
    async (item, index) => {
      const context = itemContext(index, item, 'STATE_DATA');
      try {
        const input = await selectItem(state, item, context, entered, frame);
        results[index] = await frame.run.runBranch(
          state.ItemProcessor,
          input,
          innerFrame(frame, siblings.signal, context),
        );
      } catch (error) {
        failure ??= error;
        siblings.abort();
      }
    },
    () => failure !== undefined,
  );
  if (failure !== undefined) throw failure;
  return limited(results, 'result of the Map');
}

/** The items that the state's own data holds. */
export async function stateItems(state: MapState, entered: Entered, frame: Frame): Promise<Json[]> {
  const items =
    state.Items === undefined ? entered.input : await evaluate(state.Items, namesAt(frame, entered), 'Items');
  // The service takes an object too, and iterates over its members: JSONata's unwrapped array of one would do that.
  if (!Array.isArray(items)) throw queryError(`The Items of the Map are no array but ${JSON.stringify(items)}.`);
  return items;
}

/** What `$states.context.Map` holds for one item. */
export function itemContext(index: number, value: Json, source: string): JsonObject {
  return { Map: { Item: { Index: index, Value: value, Source: source } } };
}

/** The item as ItemSelector makes it. */
export async function selectItem(
  { ItemSelector }: MapState,
  item: Json,
  context: JsonObject,
  entered: Entered,
  frame: Frame,
): Promise<Json> {
  if (ItemSelector === undefined) return item;
  const around = { ...frame, context: { ...frame.context, ...context } };
  return limited(await evaluate(ItemSelector, namesAt(around, entered), 'ItemSelector'), 'item');
}
