import { connect } from 'node:net';
import { buffer } from 'node:stream/consumers';

/** An answer as it came over the wire; names of headers in lower case. */
export type RawAnswer = {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body: string;
};

/** A request to write as it is, whatever it holds: no library would send all of it. */
export type RawRequest = {
  readonly method: string;
  readonly target: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: string;
};

/** Sends a request, byte for byte (a character is a byte), and gives the one answer to it. */
export async function sendRaw(
  port: number,
  { method, target, headers, body }: RawRequest,
): Promise<RawAnswer> {
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  const length = body === '' ? '' : `Content-Length: ${Buffer.byteLength(body, 'latin1')}\r\n`;
  const head = `${method} ${target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n${length}${lines}\r\n`;
  const socket = connect(port, '127.0.0.1');
  socket.write(head + body, 'latin1');
  const interim = /^(?:HTTP\/1\.1 1\d\d [^\r]*\r\n\r\n)*/;
  return readAnswer((await buffer(socket)).toString().replace(interim, ''));
}

function readAnswer(text: string): RawAnswer {
  const end = text.indexOf('\r\n\r\n');
  const [statusLine = '', ...lines] = text.slice(0, end).split('\r\n');
  const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(statusLine)?.[1]);
  if (end < 0 || Number.isNaN(status)) {
    throw new Error(`Not an answer: ${JSON.stringify(text.slice(0, 200))}`);
  }
  const headers = Object.fromEntries(
    lines.map((line) => [
      line.slice(0, line.indexOf(':')).toLowerCase(),
      line.slice(line.indexOf(':') + 1).trim(),
    ]),
  );
  return { status, headers, body: text.slice(end + 4) };
}
