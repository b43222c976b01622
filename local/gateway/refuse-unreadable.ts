import type { Duplex } from 'node:stream';
import { type Answer, ownAnswer } from './answer.ts';

const lingerMilliseconds = 500;
const answers: Record<string, Answer> = {
  HPE_HEADER_OVERFLOW: ownAnswer(431, 'Request Header Fields Too Large'),
  ERR_HTTP_REQUEST_TIMEOUT: ownAnswer(408, 'Request Timeout'),
};
const refused = new WeakSet<Duplex>();

/** Answers on the bare socket what Node's parser could not read, and so never becomes a request; a `clientError` listener. */
export function refuseUnreadable(error: NodeJS.ErrnoException, socket: Duplex): void {
  refuse(socket, answers[error.code ?? ''] ?? ownAnswer(400, 'Bad Request'));
}

/** Writes an answer to a bare socket and closes it; the parser may report one socket many times, which changes nothing. */
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
  // What is still on its way is thrown away for a moment: closing at once would take our answer with it.
  socket.resume();
  setTimeout(() => socket.destroy(), lingerMilliseconds).unref();
}
