import { once } from 'node:events';
import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

/**
 * What happens to a call: its answer is lost after the engine has done it; the engine fails before; half of the keys of
 * a `BatchGetItem` stay unprocessed; or whoever calls is killed, before the engine has the call or after it has done
 * it.
 */
export type CallFault = 'lost' | 'failed' | 'unprocessed' | 'killed before' | 'killed after';

/** The connection of one instance to the engine. */
export type EngineLink = {
  readonly endpoint: string;
  /** Resolves when no call is under way: what a killed instance has sent is done by then. */
  idle(): Promise<void>;
  stop(): Promise<void>;
};

/** Starts a connection to `engine`. `meddle` decides about each call, and kills where it says so. */
export async function startEngineLink(
  engine: string,
  meddle: (operation: string, body: string) => CallFault | undefined,
): Promise<EngineLink> {
  const agent = new Agent({ keepAlive: true });
  const calls = new Set<Promise<void>>();
  const server = createServer((incoming, outgoing) => {
    const call = pass(incoming, outgoing).catch(() => void outgoing.destroy());
    calls.add(call);
    void call.finally(() => calls.delete(call));
  });
  server.keepAliveTimeout = 600_000;

  async function pass(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const body = await buffer(incoming);
    const operation = String(incoming.headers['x-amz-target']).split('.').at(-1) ?? '';
    const fault = meddle(operation, String(body));
    if (fault === 'killed before') return void outgoing.destroy();
    if (fault === 'failed') {
      const error = JSON.stringify({ __type: 'com.amazonaws.dynamodb.v20120810#InternalServerError', message: 'no' });
      return void outgoing.writeHead(500, { 'content-type': 'application/x-amz-json-1.0' }).end(error);
    }
    const half = fault === 'unprocessed' ? halfOf(String(body)) : undefined;
    const answer = await forward(incoming, half ? half.first : body);
    if (fault === 'lost' || fault === 'killed after') return void outgoing.destroy();
    outgoing.writeHead(answer.statusCode ?? 502, { 'content-type': 'application/x-amz-json-1.0' });
    const text = String(await buffer(answer));
    outgoing.end(half ? JSON.stringify({ ...JSON.parse(text), UnprocessedKeys: half.rest }) : text);
  }

  async function forward({ method, url = '/', headers }: IncomingMessage, body: Buffer | string) {
    const { 'content-length': _, ...others } = headers;
    const outgoing = request(new URL(url, engine), { method, headers: others, agent });
    outgoing.end(body);
    const [answer] = (await once(outgoing, 'response')) as [IncomingMessage];
    return answer;
  }

  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async idle() {
      while (calls.size > 0) await Promise.all(calls);
    },
    async stop() {
      agent.destroy();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
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
