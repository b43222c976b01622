import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { DescribeTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import {
  discardIdle,
  idleAtMostSeconds,
  storeAgent,
  wasNeverOpened,
} from '../../core/connections.ts';
import { localAws } from '../../local/engine/engine.ts';

const stops: (() => void)[] = [];
afterEach(() => {
  jest.restoreAllMocks();
  for (const stop of stops.splice(0)) stop();
});

/** A client whose agent is ours, without retries, for what listens at a port. */
function clientOf(protocol: 'http' | 'https', port: number) {
  const agent = storeAgent(protocol);
  const client = new DynamoDBClient({
    ...localAws,
    endpoint: `${protocol}://127.0.0.1:${port}`,
    requestHandler: { httpAgent: agent, httpsAgent: agent },
    maxAttempts: 1,
  });
  discardIdle(client, agent);
  stops.push(() => client.destroy());
  // A call of these tests takes milliseconds; one on a silent connection has no end of its own.
  const inTime = () => ({ abortSignal: AbortSignal.timeout(10_000) });
  const call = () => client.send(new DescribeTableCommand({ TableName: 't' }), inTime());
  return { agent, call };
}

async function listening(server: ReturnType<typeof createServer>): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  stops.push(() => server.close());
  return (server.address() as AddressInfo).port;
}

/** A server that does this with each connection. */
const server = (connected: (socket: Socket) => void) => listening(createServer(connected));

/** A server that answers as DynamoDB does, with the connections that it has. */
async function answering() {
  const sockets = new Set<Socket>();
  const http = createHttpServer({ keepAliveTimeout: 0 }, (request, response) => {
    request.resume().on('end', () => response.end('{"Table":{}}'));
  });
  http.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket)).on('error', () => undefined);
  });
  stops.push(() => http.closeAllConnections());
  return { port: await listening(http), sockets };
}

const failure = (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    () => undefined,
    (error: unknown) => error,
  );

describe('a connection to the store', () => {
  it('was never opened where nothing listens', async () => {
    const port = await server(() => undefined);
    for (const stop of stops.splice(0)) stop();
    expect(wasNeverOpened(await failure(clientOf('http', port).call()))).toBe(true);
  });

  it.each([
    ['ended', (socket: Socket) => socket.end()],
    ['reset', (socket: Socket) => socket.resetAndDestroy()],
  ])('was never opened where the TLS handshake is %s', async (_, connected) => {
    const port = await server((socket) =>
      socket.once('data', () => connected(socket)).on('error', () => undefined),
    );
    expect(wasNeverOpened(await failure(clientOf('https', port).call()))).toBe(true);
  });

  it('was never opened where the TLS handshake is not answered in time', async () => {
    const sockets: Socket[] = [];
    const port = await server((socket) => void sockets.push(socket.on('error', () => undefined)));
    const error = await failure(clientOf('https', port).call());
    for (const socket of sockets) socket.destroy();
    expect([wasNeverOpened(error), error]).toEqual([
      true,
      expect.objectContaining({ name: 'TimeoutError' }),
    ]);
  });

  it.each([
    ['ends', (socket: Socket) => socket.end()],
    ['is reset', (socket: Socket) => socket.resetAndDestroy()],
  ])('was opened if it %s after the call was sent', async (_, connected) => {
    const port = await server((socket) =>
      socket.once('data', () => connected(socket)).on('error', () => undefined),
    );
    const error = await failure(clientOf('http', port).call());
    expect([wasNeverOpened(error), error]).toEqual([
      false,
      expect.objectContaining({ code: 'ECONNRESET' }),
    ]);
  });
});

describe('five connections that were idle too long by the wall clock', () => {
  const count = 5;

  async function pooled() {
    const { port, sockets } = await answering();
    const { agent, call } = clientOf('http', port);
    await Promise.all(Array.from({ length: count }, call));
    const free = () => Object.values(agent.freeSockets).flatMap((some) => some ?? []);
    expect([sockets.size, free().length]).toEqual([count, count]);
    return { sockets, call, free };
  }

  /** Time passes, for a process that ran no timers. */
  const sleepFor = (milliseconds: number) => {
    const now = Date.now() + milliseconds;
    jest.spyOn(Date, 'now').mockReturnValue(now);
  };

  it.each([
    ['went silent', (socket: Socket) => void socket.removeAllListeners('data').pause()],
    ['were reset at once', (socket: Socket) => void socket.resetAndDestroy()],
  ])('are not used when they %s', async (_, die) => {
    const { sockets, call, free } = await pooled();
    const dead = free();
    sleepFor(idleAtMostSeconds * 1000 + 1);
    for (const socket of [...sockets]) die(socket);
    await Promise.all(Array.from({ length: count }, call));
    expect(dead.every(({ destroyed }) => destroyed)).toBe(true);
  });

  it('are not used when the clock was set back', async () => {
    const { call, free } = await pooled();
    const before = free();
    sleepFor(-60_000);
    await call();
    expect(before.every(({ destroyed }) => destroyed)).toBe(true);
  });

  it('are used until then', async () => {
    const { sockets, call } = await pooled();
    sleepFor(idleAtMostSeconds * 1000 - 100);
    await Promise.all(Array.from({ length: count }, call));
    expect(sockets.size).toBe(count);
  });
});
