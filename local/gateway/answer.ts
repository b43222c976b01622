import { validateHeaderName, validateHeaderValue } from 'node:http';
import type { Duplex } from 'node:stream';
import * as z from 'zod';

/** A response to the client, with its headers in order. */
export interface Answer {
  readonly statusCode: number;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Buffer;
}

/** A response of the gateway itself: `{"message":"Not Found"}`. */
export function ownAnswer(statusCode: number, message: string): Answer {
  return {
    statusCode,
    headers: [['Content-Type', 'application/json']],
    body: Buffer.from(JSON.stringify({ message })),
  };
}

/** The response when an integration failed or returned something that is not a response. */
export const integrationFailed = ownAnswer(500, 'Internal Server Error');

const headerValue = z.union([z.string(), z.number(), z.boolean()]).transform(String);

const formattedResponse = z.object({
  statusCode: z.int().min(200).max(599),
  headers: z.record(z.string(), headerValue).nullish(),
  cookies: z.array(z.string()).nullish(),
  body: z.string().nullish(),
  isBase64Encoded: z.boolean().nullish(),
});

/** These describe the connection, which belongs to the gateway. */
const connectionHeaders = new Set([
  'connection',
  'content-length',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/**
 * Turns what a function returned, as JSON text, into a response by the rules of payload format 2.0: an object with a
 * `statusCode` is a response; anything else is the body of a 200.
 */
export function integrationAnswer(payload: string): Answer {
  const returned: unknown = JSON.parse(payload);
  if (typeof returned !== 'object' || returned === null || !('statusCode' in returned)) {
    const body = typeof returned === 'string' ? returned : payload;
    return { statusCode: 200, headers: [['Content-Type', 'application/json']], body: Buffer.from(body) };
  }
  const response = formattedResponse.safeParse(returned);
  if (!response.success) return integrationFailed;
  const { statusCode, headers, cookies, body, isBase64Encoded } = response.data;
  const sent = [
    ...Object.entries(headers ?? {}).filter(([name]) => !connectionHeaders.has(name.toLowerCase())),
    ...(cookies ?? []).map((cookie) => ['Set-Cookie', cookie] as const),
  ];
  if (!sent.every(([name, value]) => isSendable(name, value))) return integrationFailed;
  if (!sent.some(([name]) => name.toLowerCase() === 'content-type')) {
    sent.push(['Content-Type', 'text/plain; charset=utf-8']);
  }
  return { statusCode, headers: sent, body: Buffer.from(body ?? '', isBase64Encoded ? 'base64' : 'utf8') };
}

function isSendable(name: string, value: string): boolean {
  try {
    validateHeaderName(name);
    validateHeaderValue(name, value);
    return true;
  } catch {
    return false;
  }
}

const lingerMilliseconds = 500;
const answers: Record<string, Answer> = {
  HPE_HEADER_OVERFLOW: ownAnswer(431, 'Request Header Fields Too Large'),
  ERR_HTTP_REQUEST_TIMEOUT: ownAnswer(408, 'Request Timeout'),
};
const refused = new WeakSet<Duplex>();

/** A `clientError` listener: answers what Node's HTTP parser rejects, and so never becomes a request. */
export function refuseUnreadable(error: NodeJS.ErrnoException, socket: Duplex): void {
  refuse(socket, answers[error.code ?? ''] ?? ownAnswer(400, 'Bad Request'));
}

/** Writes a response to a raw socket and closes it. Safe to call again: the parser may report one socket several times. */
export function refuse(socket: Duplex, { statusCode, body }: Answer): void {
  if (refused.has(socket)) return;
  refused.add(socket);
  socket.on('error', () => undefined);
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  socket.end(
    `HTTP/1.1 ${statusCode} Refused\r\nContent-Type: application/json\r\nConnection: close\r\n` +
      `Content-Length: ${body.length}\r\n\r\n${body}`,
  );
  // Discards what is still arriving: closing at once would reset the connection and lose our response.
  socket.resume();
  setTimeout(() => socket.destroy(), lingerMilliseconds).unref();
}
