import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import {
  type GatewayAnswer,
  gatewayEvent,
  integrationAnswer,
  integrationFailed,
  matchRoute,
  ownAnswer,
  type RequestTarget,
  type Route,
  requestTarget,
} from './gateway-request.ts';
import { type OwnNames, refuseForeignName } from './own-names.ts';

/** API Gateway's limit for a request body. */
const bodyLimitBytes = 10 * 1024 * 1024;

const noBody = Buffer.alloc(0);

/** Reads the whole body; resolves with `undefined` when it exceeds the gateway's limit. */
async function readBody(request: IncomingMessage): Promise<Buffer | undefined> {
  const { 'content-length': length, 'transfer-encoding': encoding } = request.headers;
  // Such a request has no body (RFC 9112), and reading nothing takes time.
  if (length === undefined && encoding === undefined) return noBody;
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > bodyLimitBytes) {
      request.resume();
      return undefined;
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Passes an event to a function and resolves with what that returned. */
export type Integration = (event: APIGatewayProxyEventV2, requestId: string) => Promise<unknown>;

export type GatewayOptions = OwnNames & {
  readonly routes: readonly Route<Integration>[];
  /** 0 picks a free one. */
  readonly port: number;
  /** How long `stop` waits for requests in progress. */
  readonly drainMilliseconds?: number;
  /**
   * Requests a second of each route, and as many at once; any others get API Gateway's own 429.
   * Unlimited if absent.
   */
  readonly throttlePerSecond?: number | undefined;
  /** Called after each response. */
  readonly onAnswer?: (answered: Answered) => void;
};

/**
 * The parts of a request that may be logged: not its path and query, which may hold an API key by
 * mistake.
 */
export type Answered = {
  readonly method: string;
  /** The key of its route, if one matched. */
  readonly route: string | undefined;
  readonly statusCode: number;
  readonly milliseconds: number;
};

/** A running gateway. */
export type Gateway = {
  readonly port: number;
  /**
   * Accepts no new requests, lets those in progress finish for up to `drainMilliseconds`, then
   * resolves.
   */
  stop(): Promise<void>;
};

/** API Gateway's limit for the request line and the header values together. */
const headLimitBytes = 10_240;
/**
 * The limit of Node's parser, far above ours so that a request over our limit still gets our
 * response.
 */
const parserLimitBytes = 1024 * 1024;
/** A request that has not arrived completely by then gets a 408. */
const arrivalMilliseconds = 30_000;
const defaultDrainMilliseconds = 10_000;
/**
 * Idle connections stay open longer than clients and proxies keep theirs, usually up to a minute:
 * closing one just as a request arrives on it resets that request. Shorter, clients that ignore
 * `Keep-Alive: timeout` run into that.
 */
const keepAliveMilliseconds = 75_000;

/**
 * Serves `routes` like an HTTP API of API Gateway with payload format 2.0 (decision 0166).
 * @throws an error with code `EADDRINUSE`, `EACCES` or `EADDRNOTAVAIL` when it can't listen
 */
export async function startGateway(options: GatewayOptions): Promise<Gateway> {
  const running = { ...options, isThrottled: throttle(options.throttlePerSecond) };
  const server = createServer({
    maxHeaderSize: parserLimitBytes,
    requireHostHeader: false,
    requestTimeout: arrivalMilliseconds,
    keepAliveTimeout: keepAliveMilliseconds,
  });
  // Also with an unknown `Expect` header, which Node would otherwise answer itself.
  for (const event of ['request', 'checkExpectation']) {
    server.on(event, (request, response) => void serve(running, server, request, response));
  }
  // What Node's HTTP parser rejects, and so never becomes a request.
  server.on('clientError', (error: NodeJS.ErrnoException, socket) =>
    refuse(socket, parserAnswers[error.code ?? ''] ?? badRequest),
  );
  server.on('connect', (_request, socket) => refuse(socket, badRequest));
  server.listen(options.port, options.host);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { port, stop: () => stop(server, options.drainMilliseconds ?? defaultDrainMilliseconds) };
}

type Throttle = (route: string, time: Date) => boolean;

/**
 * A token bucket for each route, as API Gateway has: this many requests a second, and as many at
 * once.
 */
function throttle(perSecond = Number.POSITIVE_INFINITY): Throttle {
  const buckets = new Map<string, { left: number; at: number }>();
  return (route, time) => {
    const now = time.getTime();
    const { left, at } = buckets.get(route) ?? { left: perSecond, at: now };
    const available = Math.min(perSecond, left + ((now - at) / 1000) * perSecond);
    const isThrottled = available < 1;
    buckets.set(route, { left: isThrottled ? available : available - 1, at: now });
    return isThrottled;
  };
}

async function serve(
  options: GatewayOptions & { isThrottled: Throttle },
  server: Server,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const time = new Date();
  const id = requestId();
  request.on('error', () => undefined);
  response.on('error', () => undefined);
  const target = requestTarget(request.url ?? '');
  const route = target && matchRoute(options.routes, request.method ?? '', target.path);
  // API Gateway tells a caller nothing of why a function failed.
  const answer = await answerTo(request, route, target, { id, time }, options).catch(
    () => integrationFailed,
  );
  if (response.destroyed) return;
  const isLast = !request.complete || !server.listening;
  write(
    response,
    answer,
    ['apigw-requestid', id, ...(isLast ? ['connection', 'close'] : [])],
    request.method === 'HEAD',
  );
  options.onAnswer?.({
    method: request.method ?? '',
    route: route?.key,
    statusCode: answer.statusCode,
    milliseconds: Date.now() - time.getTime(),
  });
}

async function answerTo(
  request: IncomingMessage,
  route: Route<Integration> | undefined,
  target: RequestTarget | undefined,
  { id, time }: { id: string; time: Date },
  options: OwnNames & { isThrottled: Throttle },
): Promise<GatewayAnswer> {
  const requestLine = `${request.method} ${request.url} HTTP/1.1`.length;
  const { length: headers, hosts } = measured(request.rawHeaders);
  if (requestLine > headLimitBytes) return ownAnswer(414, 'URI Too Long');
  if (requestLine + headers > headLimitBytes) {
    return ownAnswer(431, 'Request Header Fields Too Large');
  }
  if (target === undefined || !(hosts === 1 || (hosts === 0 && request.httpVersion !== '1.1'))) {
    return badRequest;
  }
  const refusal = refuseForeignName(request.headers.host ?? 'localhost', options);
  if (refusal !== undefined) return refusal;
  if (route === undefined) return ownAnswer(404, 'Not Found');
  if (options.isThrottled(route.key, time)) return ownAnswer(429, 'Too Many Requests');
  const body = await readBody(request);
  if (body === undefined) return ownAnswer(413, 'Request Entity Too Large');
  const event = gatewayEvent(
    {
      id,
      method: request.method ?? '',
      target,
      protocol: `HTTP/${request.httpVersion}`,
      rawHeaders: request.rawHeaders,
      body,
      sourceIp: (request.socket.remoteAddress ?? '127.0.0.1').replace(/^::ffff:/, ''),
      port: request.socket.localPort ?? 0,
      time,
    },
    route.key,
  );
  return integrationAnswer(await route.target(event, id));
}

/**
 * The length of all header values, and how often there is a `Host`: HTTP/1.1 requires exactly one,
 * and Node would silently take the first of two.
 */
function measured(rawHeaders: readonly string[]): { length: number; hosts: number } {
  let length = 0;
  let hosts = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    length += rawHeaders[index + 1]?.length ?? 0;
    if (rawHeaders[index]?.toLowerCase() === 'host') hosts++;
  }
  return { length, hosts };
}

function write(
  response: ServerResponse,
  answer: GatewayAnswer,
  own: string[],
  withoutBody: boolean,
): void {
  const { statusCode, headers, body } = answer;
  const hasBody = ![204, 304].includes(statusCode);
  const length = hasBody ? ['content-length', `${Buffer.byteLength(body)}`] : [];
  response.writeHead(statusCode, [...own, ...headers.flat(), ...length]);
  response.end(withoutBody || !hasBody ? undefined : body);
}

async function stop(server: Server, drainMilliseconds: number): Promise<void> {
  const closed = once(server, 'close');
  server.close();
  server.closeIdleConnections();
  const cut = setTimeout(() => server.closeAllConnections(), drainMilliseconds);
  await closed;
  clearTimeout(cut);
}

/**
 * In API Gateway's form: `bs3xyj-EoAMEMEw=`. Node draws the random bits of UUIDs in advance, for
 * many at once.
 */
function requestId(): string {
  return `${Buffer.from(randomUUID().replaceAll('-', '').slice(0, 22), 'hex').toString('base64url')}=`;
}

const badRequest = ownAnswer(400, 'Bad Request');
const lingerMilliseconds = 500;
const parserAnswers: Record<string, GatewayAnswer> = {
  HPE_HEADER_OVERFLOW: ownAnswer(431, 'Request Header Fields Too Large'),
  ERR_HTTP_REQUEST_TIMEOUT: ownAnswer(408, 'Request Timeout'),
};
const refused = new WeakSet<Duplex>();

/**
 * Writes a response to a raw socket and closes it. Safe to call again: the parser may report one
 * socket several times.
 */
function refuse(socket: Duplex, { statusCode, body }: GatewayAnswer): void {
  if (refused.has(socket)) return;
  refused.add(socket);
  socket.on('error', () => undefined);
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  socket.end(
    `HTTP/1.1 ${statusCode} Refused\r\nContent-Type: application/json\r\nConnection: close\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
  // Discards the rest of the body: closing at once would reset the connection and lose our
  // response.
  socket.resume();
  setTimeout(() => socket.destroy(), lingerMilliseconds).unref();
}
