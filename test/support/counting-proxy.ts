import { Agent, createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

/** Stands before an engine, counts what is written to it, and may hold calls and lose answers. */
export type CountingProxy = {
  readonly endpoint: string;
  /** The puts and deletes in batches since this was last called. */
  takeBatched(): number;
  /**
   * Decides, after the engine has done a call, whether its answer is lost. It may wait, for instance for other calls.
   */
  loses: (operation: string, body: string, answer: EngineAnswer) => boolean | Promise<boolean>;
  /** Holds a call before the engine has it; the connection is lost if this fails. */
  holds: (operation: string, body: string) => void | Promise<void>;
  stop(): Promise<void>;
};

export type EngineAnswer = { status: number; milliseconds: number };

/** Starts a proxy before a DynamoDB engine on a free port; `stop` in `afterAll`. */
export async function startCountingProxy(engine: string): Promise<CountingProxy> {
  const agent = new Agent({ keepAlive: true });
  let batched = 0;
  const server = createServer(async (incoming, outgoing) => {
    const operation = String(incoming.headers['x-amz-target']).split('.').at(-1) ?? '';
    const { method = 'POST', url = '/', headers } = incoming;
    let sent: Buffer | undefined;
    let sentAt = 0;
    const forwarded = request(new URL(url, engine), { method, headers, agent }, async (answer) => {
      const milliseconds = performance.now() - sentAt;
      if (await proxy.loses(operation, String(sent), { status: answer.statusCode ?? 502, milliseconds })) {
        answer.resume();
        return void outgoing.destroy();
      }
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    forwarded.on('error', () => outgoing.destroy());
    const body = await buffer(incoming).catch(() => undefined); // whoever asked may hang up
    if (!body) return void forwarded.destroy();
    sent = body;
    if (operation === 'BatchWriteItem') batched += writesIn(body);
    try {
      await proxy.holds(operation, String(body));
    } catch {
      forwarded.destroy();
      return;
    }
    sentAt = performance.now();
    forwarded.end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const proxy: CountingProxy = {
    loses: () => false,
    holds: () => undefined,
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    takeBatched() {
      const taken = batched;
      batched = 0;
      return taken;
    },
    async stop() {
      agent.destroy();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return proxy;
}

function writesIn(body: Buffer): number {
  const { RequestItems } = JSON.parse(body.toString()) as { RequestItems: Record<string, unknown[]> };
  return Object.values(RequestItems).reduce((sum, writes) => sum + writes.length, 0);
}
