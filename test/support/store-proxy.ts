import { once } from 'node:events';
import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

/**
 * A request to the engine: what it is to do, and what sends it on, with its own body or another
 * one.
 */
export type Passing = {
  operation: string;
  body: Buffer;
  forward(body?: string): Promise<{ status: number; body: Buffer }>;
};

/**
 * Starts a server that stands between clients and an engine: `pass` answers each request, or
 * destroys the response.
 */
export async function startProxy(
  engine: () => string,
  pass: (passing: Passing, response: ServerResponse) => Promise<void>,
) {
  const agent = new Agent({ keepAlive: true });
  const passOn = async (incoming: IncomingMessage, response: ServerResponse) => {
    const received = await buffer(incoming);
    const { method, url = '/', headers } = incoming;
    const { 'content-length': _, ...others } = headers;
    const operation = String(headers['x-amz-target']).split('.').at(-1) ?? '';
    const forward: Passing['forward'] = async (body) => {
      const outgoing = request(new URL(url, engine()), { method, headers: others, agent });
      outgoing.end(body ?? received);
      const [answer] = (await once(outgoing, 'response')) as [IncomingMessage];
      return { status: answer.statusCode ?? 502, body: await buffer(answer) };
    };
    await pass({ operation, body: received, forward }, response);
  };
  const calls = new Set<Promise<void>>();
  const server = createServer((incoming, response) => {
    const call = passOn(incoming, response).catch(() => void response.destroy());
    calls.add(call);
    void call.finally(() => calls.delete(call));
  });
  // An idle connection that ends just as a request comes is not what a run is about.
  server.keepAliveTimeout = 600_000;
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** Resolves when no call is under way: what a killed client has sent is done by then. */
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

/** Answers as DynamoDB does. */
export function answer(response: ServerResponse, status: number, body: string | Buffer): void {
  response.writeHead(status, { 'content-type': 'application/x-amz-json-1.0' }).end(body);
}

/** Answers that the engine has failed. */
export function answerFailure(response: ServerResponse): void {
  const error = { __type: 'com.amazonaws.dynamodb.v20120810#InternalServerError', message: 'no' };
  answer(response, 500, JSON.stringify(error));
}
