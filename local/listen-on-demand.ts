import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** Ports in front of servers that need not run yet. */
export type PortsInFront = { ports: number[]; stop: () => void };

/**
 * Listens on a port for each of `wanted`, or on another one where that is taken. The first connection to any of them
 * calls `start`, once unless it fails; it gives the ports of the servers behind them, in the same order, and from then
 * on each connection is forwarded. So servers that are rarely used take no memory until they are.
 */
export async function listenOnDemand(
  host: string,
  wanted: readonly number[],
  start: (ports: number[]) => Promise<number[]>,
): Promise<PortsInFront> {
  const ports: number[] = [];
  let started: Promise<number[]> | undefined;
  const forward = async (socket: Socket, index: number) => {
    socket.on('error', () => undefined);
    started ??= start(ports).catch((error: unknown) => {
      started = undefined;
      throw error;
    });
    const port = (await started.catch(() => []))[index];
    if (port === undefined) return void socket.destroy();
    const behind = connect(port, host);
    behind.on('error', () => socket.destroy());
    socket.on('close', () => behind.destroy());
    socket.pipe(behind).pipe(socket);
  };
  const sockets = new Set<Socket>();
  const servers = wanted.map((_, index) =>
    createServer((socket) => {
      sockets.add(socket);
      socket.on('close', () => sockets.delete(socket));
      void forward(socket, index);
    }),
  );
  for (const [index, server] of servers.entries()) {
    ports.push((await listen(server, host, wanted[index] ?? 0)) ?? (await listen(server, host, 0)) ?? 0);
  }
  return {
    ports,
    stop: () => {
      for (const server of servers) server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** The port that the server listens on; `undefined` where it can't. */
async function listen(server: Server, host: string, port: number): Promise<number | undefined> {
  server.listen(port, host);
  try {
    await once(server, 'listening');
    return (server.address() as AddressInfo).port;
  } catch {
    return undefined;
  }
}
