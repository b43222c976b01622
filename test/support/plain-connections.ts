import { connect, type Socket } from 'node:net';

/** What the engine answered. */
export type PlainResponse = { readonly status: number; readonly body: string };

/** Connections to an engine that stay open. */
export type PlainConnections = {
  /** Sends a POST and resolves with its response. Rejects when the connection ends first, or with an `AbortError`. */
  post(head: string, body: string, signal?: AbortSignal): Promise<PlainResponse>;
  /** Ends all connections. */
  destroy(): void;
};

/** One socket, on which one request is sent at a time. */
type Connection = { socket: Socket; call: PromiseWithResolvers<PlainResponse> | undefined };

const maxConnections = 50;

/**
 * Connections that speak just as much HTTP as the embedded engine does: responses with a `content-length`, one after
 * the other. Node's own HTTP client takes two to three times the CPU, and the tests make hundreds of thousands of
 * calls.
 */
export function plainConnections(endpoint: string): PlainConnections {
  const { hostname, port, host } = new URL(endpoint);
  const all = new Set<Connection>();
  const idle: Connection[] = [];
  const waiting: ((connection: Connection) => void)[] = [];

  function open(): Connection {
    const socket = connect({ host: hostname, port: Number(port), noDelay: true });
    const connection: Connection = { socket, call: undefined };
    all.add(connection);
    let received: Buffer = Buffer.alloc(0);
    let failure: Error | undefined;
    socket.on('data', (chunk) => {
      received = received.length === 0 ? chunk : Buffer.concat([received, chunk]);
      const response = readResponse(received);
      if (response === undefined) return;
      if (response instanceof Error) {
        socket.destroy(response);
        return;
      }
      received = Buffer.alloc(0);
      const { call } = connection;
      connection.call = undefined;
      next(connection);
      call?.resolve(response);
    });
    socket.on('error', (error) => {
      failure = error;
    });
    socket.on('end', () => remove(connection));
    socket.on('close', () => {
      remove(connection);
      connection.call?.reject(failure ?? Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' }));
      const turn = waiting.shift();
      if (turn) turn(open());
    });
    return connection;
  }

  function remove(connection: Connection): void {
    all.delete(connection);
    const place = idle.indexOf(connection);
    if (place >= 0) idle.splice(place, 1);
  }

  /** Gives the connection to the next call, or keeps it; an idle one does not keep the process alive. */
  function next(connection: Connection): void {
    const turn = waiting.shift();
    if (turn) {
      turn(connection);
      return;
    }
    connection.socket.unref();
    idle.push(connection);
  }

  async function acquire(): Promise<Connection> {
    const connection = idle.pop();
    if (connection) {
      connection.socket.ref();
      return connection;
    }
    return all.size < maxConnections ? open() : await new Promise((turn) => waiting.push(turn));
  }

  return {
    async post(head, body, signal) {
      const connection = await acquire();
      if (signal?.aborted) {
        next(connection);
        throw abortError(signal.reason);
      }
      const call = Promise.withResolvers<PlainResponse>();
      connection.call = call;
      const abort = () => connection.socket.destroy(abortError(signal?.reason));
      signal?.addEventListener('abort', abort);
      connection.socket.write(
        `POST / HTTP/1.1\r\nhost: ${host}\r\n${head}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
      );
      try {
        return await call.promise;
      } finally {
        signal?.removeEventListener('abort', abort);
      }
    },
    destroy() {
      for (const connection of all) {
        remove(connection);
        connection.socket.destroy();
      }
    },
  };
}

/** As the SDK's HTTP handler throws. */
function abortError(cause: unknown): Error {
  return Object.assign(new Error('Request aborted', { cause }), { name: 'AbortError' });
}

const endOfHead = '\r\n\r\n';

/** The response, once all of it has been received. */
function readResponse(received: Buffer): PlainResponse | Error | undefined {
  const end = received.indexOf(endOfHead);
  if (end < 0) return undefined;
  const head = received.toString('latin1', 0, end);
  const length = /\r\ncontent-length: (\d+)/i.exec(head)?.[1];
  if (length === undefined) return new Error(`A response without content-length: ${head}`);
  const from = end + endOfHead.length;
  if (received.length < from + Number(length)) return undefined;
  return { status: Number(head.slice(9, 12)), body: received.toString('utf8', from) };
}
