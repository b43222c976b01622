import { Agent } from 'node:http';
import { type AgentOptions, Agent as TlsAgent } from 'node:https';
import type { Socket } from 'node:net';
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';

/**
 * Opening a connection within AWS takes milliseconds; another attempt is worth more than waiting
 * longer.
 */
const opensWithinMilliseconds = 800;

/**
 * A connection that was idle for longer is not used. Networks drop idle connections silently, the
 * first after a minute, and a function that was frozen has run no timers meanwhile. Opening a
 * connection takes milliseconds.
 */
export const idleAtMostSeconds = 10;

/**
 * Options of the SDK's own agents that follow Node's switch for proxies, `NODE_USE_ENV_PROXY=1`
 * with `HTTPS_PROXY` and `NO_PROXY`. By itself the switch is for Node's global agents only.
 */
export function followingProxySwitch(env: NodeJS.ProcessEnv = process.env): {
  httpAgent?: { proxyEnv: NodeJS.ProcessEnv };
  httpsAgent?: { proxyEnv: NodeJS.ProcessEnv };
} {
  if (env.NODE_USE_ENV_PROXY !== '1') return {};
  return { httpAgent: { proxyEnv: env }, httpsAgent: { proxyEnv: env } };
}

const neverOpened = new WeakSet<object>();

/**
 * Whether a call failed because its connection was never opened, so that nothing was sent. The
 * socket decides: the SDK has one name for the timeouts of connections and of requests, and a reset
 * can end a TLS handshake.
 */
export function wasNeverOpened(error: unknown): boolean {
  return typeof error === 'object' && error !== null && neverOpened.has(error);
}

const idleSince = new WeakMap<Socket, number>();

/** An agent for the connections to the store, whose failures `wasNeverOpened` knows. */
export function storeAgent(protocol: 'http' | 'https'): Agent {
  const options: AgentOptions = { keepAlive: true, maxSockets: 50 };
  const agent = protocol === 'https' ? new TlsAgent(options) : new Agent(options);
  const opens = protocol === 'https' ? 'secureConnect' : 'connect';
  const { createConnection } = agent;
  agent.createConnection = (...of) => {
    const socket = createConnection.apply(agent, of) as Socket;
    watchOpening(socket, opens);
    return socket;
  };
  agent.on('free', (socket: Socket) => idleSince.set(socket, Date.now()));
  return agent;
}

function watchOpening(socket: Socket, opens: string): void {
  const remember = (error: Error) => void neverOpened.add(error);
  const timer = setTimeout(() => {
    const message = `The connection was not opened in ${opensWithinMilliseconds} ms.`;
    socket.destroy(Object.assign(new Error(message), { code: 'ETIMEDOUT' }));
  }, opensWithinMilliseconds);
  socket.once('error', remember);
  socket.once('close', () => clearTimeout(timer));
  socket.once(opens, () => {
    clearTimeout(timer);
    socket.off('error', remember);
  });
}

/**
 * Lets a client close the connections of its agent that were idle too long, by the wall clock,
 * before each call.
 */
export function discardIdle(client: DynamoDBClient, agent: Agent): void {
  const { requestHandler } = client.config;
  const handle = requestHandler.handle.bind(requestHandler);
  requestHandler.handle = (...call) => {
    const now = Date.now();
    for (const host in agent.freeSockets) {
      for (const socket of agent.freeSockets[host] ?? []) {
        const idle = now - (idleSince.get(socket) ?? 0);
        // A clock that was set back says nothing about how long it was.
        if (idle < 0 || idle > idleAtMostSeconds * 1000) socket.destroy();
      }
    }
    return handle(...call);
  };
}
