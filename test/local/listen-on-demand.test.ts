import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { listenOnDemand } from '../../local/listen-on-demand.ts';

const host = '127.0.0.1';
const resources: (() => unknown)[] = [];
afterEach(async () => {
  for (const stop of resources.splice(0)) await stop();
});

/** Servers that answer with the port in front of them. */
async function startServers(ports: number[]): Promise<number[]> {
  const behind: number[] = [];
  for (const port of ports) {
    const server = createServer((_, response) => response.end(String(port))).listen(0, host);
    await once(server, 'listening');
    behind.push((server.address() as AddressInfo).port);
    resources.push(
      () => server.closeAllConnections(),
      () => server.close(),
    );
  }
  return behind;
}

const bodyOf = async (port = 0) => (await fetch(`http://${host}:${port}`)).text();

describe('a port that listens before its server runs', () => {
  it('starts the servers once, at the first connection to any of the ports, and answers those that waited', async () => {
    let starts = 0;
    const waiting = await listenOnDemand(host, [0, 0], async (ports) => {
      starts++;
      return startServers(ports);
    });
    resources.push(waiting.stop);
    expect(starts).toBe(0);
    const [first, second] = waiting.ports;
    const bodies = await Promise.all([bodyOf(second), bodyOf(second), bodyOf(first)]);
    expect(bodies).toEqual([second, second, first].map(String));
    expect(await bodyOf(first)).toBe(String(first));
    expect(starts).toBe(1);
  });

  it('is another one if the requested one is in use', async () => {
    const taken = createTcpServer().listen(0, host);
    await once(taken, 'listening');
    resources.push(() => taken.close());
    const { port } = taken.address() as AddressInfo;
    const waiting = await listenOnDemand(host, [port], startServers);
    resources.push(waiting.stop);
    expect(waiting.ports[0]).not.toBe(port);
    expect(await bodyOf(waiting.ports[0])).toBe(String(waiting.ports[0]));
  });

  it('tries again at the next connection when the servers did not start', async () => {
    let starts = 0;
    const waiting = await listenOnDemand(host, [0], async (ports) => {
      if (starts++ === 0) throw new Error('no');
      return startServers(ports);
    });
    resources.push(waiting.stop);
    await expect(bodyOf(waiting.ports[0])).rejects.toThrow('fetch failed');
    expect(await bodyOf(waiting.ports[0])).toBe(String(waiting.ports[0]));
  });

  it('ends the connection when the servers do not start, and after a stop', async () => {
    const waiting = await listenOnDemand(host, [0], () => Promise.reject(new Error('no')));
    resources.push(waiting.stop);
    await expect(bodyOf(waiting.ports[0])).rejects.toThrow('fetch failed');
    const stopped = await listenOnDemand(host, [0], startServers);
    stopped.stop();
    await expect(bodyOf(stopped.ports[0])).rejects.toThrow('fetch failed');
  });
});
