import { readFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { basename } from 'node:path';
import type { Random } from '../bench/generator/random.ts';

/** A server of extracts and mutations that can be told to misbehave. */
export type ExtractServer = {
  url(file: string): string;
  /** From now on so many answers of a thousand are bad ones, of a kind that `choose` names. */
  misbehave(perMille: number): void;
  stop(): Promise<void>;
};

type Answer = { status: number; headers: Record<string, string | number>; body: Buffer };

const hangMilliseconds = 3_000;

/** How an answer is spoiled; each gives what is sent, or sends it by itself and gives `null`. */
const faults: Record<
  string,
  (answer: Answer, response: ServerResponse, random: Random) => Answer | null
> = {
  cut: ({ status, headers, body }, response, random) => {
    response.writeHead(status, headers);
    response.write(body.subarray(0, random.int(body.length + 1)), () => response.destroy());
    return null;
  },
  refuse: () => ({ status: 503, headers: {}, body: Buffer.alloc(0) }),
  break: () => ({ status: 500, headers: {}, body: Buffer.from('<html>oops</html>') }),
  'flip a bit': (answer, _, random) => {
    const body = Buffer.from(answer.body);
    const at = random.int(body.length);
    body[at] = (body[at] ?? 0) ^ (1 << random.int(8));
    return { ...answer, body };
  },
  'change the etag': (answer, _, random) => ({
    ...answer,
    headers: { ...answer.headers, etag: `"${random.int(1e6)}"` },
  }),
  'send another range': (answer) => ({
    ...answer,
    headers: { ...answer.headers, 'content-range': `bytes 7-9/${answer.body.length + 10}` },
  }),
  'send zeros': (answer) => ({ ...answer, body: Buffer.alloc(answer.body.length) }),
  'send less than it says': (answer, _, random) => {
    const body = answer.body.subarray(0, random.int(answer.body.length));
    return { ...answer, headers: { ...answer.headers, 'content-length': body.length }, body };
  },
  hang: (_, response) => {
    setTimeout(() => response.destroy(), hangMilliseconds).unref();
    return null;
  },
};

/** Serves these files with ranges, an ETag and a date, as PDOK does. */
export async function startExtractServer(
  files: readonly string[],
  random: Random,
): Promise<ExtractServer> {
  const contents = new Map(files.map((file) => [`/${basename(file)}`, readFileSync(file)]));
  let badPerMille = 0;
  let withoutRanges = false;
  const server = createServer((request, response) => {
    const bytes = contents.get(request.url ?? '');
    if (!bytes) return void response.writeHead(404).end();
    const etag = `"${bytes.length}-${request.url}"`;
    const isBad = random.int(1_000) < badPerMille;
    if (!isBad && request.headers['if-none-match'] === etag) {
      return void response.writeHead(304, { etag }).end();
    }
    const [, from, to] =
      /^bytes=(\d+)-(\d*)$/.exec(withoutRanges ? '' : (request.headers.range ?? '')) ?? [];
    const start = Number(from ?? 0);
    const body = bytes.subarray(start, to ? Number(to) + 1 : undefined);
    const headers = {
      etag,
      'last-modified': 'Sat, 10 Jan 2026 03:00:00 GMT',
      'content-length': body.length,
      ...(from && { 'content-range': `bytes ${start}-${start + body.length - 1}/${bytes.length}` }),
    };
    const answer = { status: from === undefined ? 200 : 206, headers, body };
    const fault = faults[random.pick(Object.keys(faults))];
    const sent = isBad && fault ? fault(answer, response, random) : answer;
    if (sent) response.writeHead(sent.status, sent.headers).end(sent.body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: (file) => `http://127.0.0.1:${port}/${basename(file)}`,
    misbehave(perMille) {
      badPerMille = perMille;
      withoutRanges = perMille > 0 && random.chance(0.3);
    },
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
