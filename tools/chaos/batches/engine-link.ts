import { answer, answerFailure, startProxy } from '../proxy.ts';

/**
 * What happens to a call: its answer is lost after the engine has done it; the engine fails before; half of the keys of
 * a `BatchGetItem` stay unprocessed; or whoever calls is killed, before the engine has the call or after it has done
 * it.
 */
export type CallFault = 'lost' | 'failed' | 'unprocessed' | 'killed before' | 'killed after';

/** The connection of one instance to the engine. */
export type EngineLink = Awaited<ReturnType<typeof startEngineLink>>;

/** Starts a connection to `engine`. `meddle` decides about each call, and kills where it says so. */
export function startEngineLink(engine: string, meddle: (operation: string) => CallFault | undefined) {
  return startProxy(
    () => engine,
    async ({ operation, body, forward }, response) => {
      const fault = meddle(operation);
      if (fault === 'killed before') return void response.destroy();
      if (fault === 'failed') return answerFailure(response);
      const half = fault === 'unprocessed' ? halfOf(String(body)) : undefined;
      const { status, body: text } = await forward(half?.first);
      if (fault === 'lost' || fault === 'killed after') return void response.destroy();
      answer(response, status, half ? JSON.stringify({ ...JSON.parse(`${text}`), UnprocessedKeys: half.rest }) : text);
    },
  );
}

type Batch = { RequestItems: Record<string, { Keys: unknown[] }> };

/** A `BatchGetItem` of the first half of the keys, and the other half as the store returns what it did not process. */
function halfOf(body: string): { first: string; rest: Batch['RequestItems'] } {
  const { RequestItems, ...options } = JSON.parse(body) as Batch;
  const [[table, { Keys }] = ['', { Keys: [] }]] = Object.entries(RequestItems);
  const middle = Math.ceil(Keys.length / 2);
  const first = { ...options, RequestItems: { [table]: { Keys: Keys.slice(0, middle) } } };
  const rest = Keys.slice(middle);
  return { first: JSON.stringify(first), rest: rest.length > 0 ? { [table]: { Keys: rest } } : {} };
}
