import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '../bench/generator/random.ts';

/** Stands between a client and the engine, and can be told to misbehave. */
export type EngineProxy = {
  readonly endpoint: string;
  /** Where requests go from now on. */
  target(endpoint: string): void;
  misbehave(mode: EngineFault): void;
  /**
   * When a write on an account's item was done without its answer, or later than its client waited for it:
   * milliseconds.
   */
  spoiledAt(account: string): number[];
  stop(): Promise<void>;
};

export const engineFaults = ['none', 'slow', 'cut', 'lose answers', 'fail', 'late'] as const;
export type EngineFault = (typeof engineFaults)[number];

/** Starts a proxy before no engine yet. */
export async function startEngineProxy(random: Random): Promise<EngineProxy> {
  const agent = new Agent({ keepAlive: true });
  const spoiled = new Map<string, number[]>();
  let engine = 'http://127.0.0.1:1';
  let mode: EngineFault = 'none';

  const server = createServer((incoming, response) => {
    pass(incoming, response).catch(() => response.destroy());
  });
  // An idle connection that ends just as a request comes is not what a run is about.
  server.keepAliveTimeout = 600_000;

  async function pass(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await buffer(incoming);
    const fault = mode !== 'slow' && random.chance(0.7) ? 'none' : mode;
    const isWrite = /\.(?:UpdateItem|TransactWriteItems|PutItem)$/.test(String(incoming.headers['x-amz-target']));
    if (fault === 'cut') return void response.destroy();
    if (fault === 'fail') {
      const error = JSON.stringify({ __type: 'com.amazonaws.dynamodb.v20120810#InternalServerError', message: 'no' });
      return void response.writeHead(500, { 'content-type': 'application/x-amz-json-1.0' }).end(error);
    }
    if (fault === 'slow') await sleep(random.int(150));
    if (isWrite && (fault === 'lose answers' || fault === 'late')) markSpoiled(body);
    if (fault === 'late') await sleep(500 + random.int(6_000));
    const answer = await forward(incoming, body);
    if (fault === 'lose answers') return void response.destroy();
    response.writeHead(answer.status, answer.headers).end(answer.body);
  }

  function markSpoiled(body: Buffer): void {
    for (const [, account] of body.toString().matchAll(/"account":\{"S":"([^"]+)"\}/g)) {
      spoiled.set(account ?? '', [...(spoiled.get(account ?? '') ?? []), Date.now()]);
    }
  }

  function forward({ method, url = '/', headers }: IncomingMessage, body: Buffer) {
    return new Promise<{ status: number; headers: IncomingMessage['headers']; body: Buffer }>((resolve, reject) => {
      const outgoing = request(new URL(url, engine), { method, headers, agent }, (answer) => {
        buffer(answer).then(
          (received) => resolve({ status: answer.statusCode ?? 502, headers: answer.headers, body: received }),
          reject,
        );
      });
      outgoing.on('error', reject).end(body);
    });
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    target(endpoint) {
      engine = endpoint;
    },
    misbehave(chosen) {
      mode = chosen;
    },
    spoiledAt: (account) => spoiled.get(account) ?? [],
    async stop() {
      agent.destroy();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
