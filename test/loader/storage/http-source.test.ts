import type { IncomingMessage, ServerResponse } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { httpSource } from '../../../loader/storage/http-source.ts';
import { startHttpServer } from '../../support/http-server.ts';
import { startForTests } from '../../support/start-for-tests.ts';

const file = Buffer.from(Array.from({ length: 300_000 }, (_, index) => index % 251));

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

let answer: Answer;
let requests: IncomingMessage[] = [];
const server = startForTests(() =>
  startHttpServer((request, response) => {
    requests.push(request);
    answer(request, response);
  }),
);
beforeEach(() => {
  requests = [];
});

/** A server as PDOK's: ranges, an ETag, a date, and conditional requests. */
const ranges =
  ({ etag = '"one"', bytes = file, cutAfter = Number.POSITIVE_INFINITY } = {}): Answer =>
  (request, response) => {
    if (request.headers['if-none-match'] === etag) return response.writeHead(304).end();
    const [, from = '0', to = ''] = /bytes=(\d+)-(\d*)/.exec(request.headers.range ?? '') ?? [];
    const body = bytes.subarray(Number(from), to === '' ? undefined : Number(to) + 1);
    response.writeHead(206, {
      etag,
      'content-length': body.length,
      'content-range': `bytes ${from}-${Number(from) + body.length - 1}/${bytes.length}`,
    });
    if (body.length <= cutAfter) return response.end(body);
    response.write(body.subarray(0, cutAfter), () => response.destroy());
  };

const noRanges: Answer = (_, response) =>
  response.writeHead(200, { 'content-length': file.length }).end(file);

const url = () => `${server.url}/extract.zip`;
const open = (known?: Parameters<typeof httpSource>[1]) => httpSource(url(), known, { pause: 1 });

describe('an extract on an HTTP server', () => {
  it('that answers 304 to a request without a condition is an error, not nothing new', async () => {
    answer = (_, response) => response.writeHead(304).end();
    await expect(open()).rejects.toThrow('returned 304 to a request without a condition');
  });

  it('is read by range, and the server sends only the requested bytes', async () => {
    answer = ranges();
    const source = await open();
    expect(source?.version).toEqual({
      location: url(),
      size: 300_000,
      etag: '"one"',
      lastModified: null,
    });
    expect((await source?.access?.read(1000, 50))?.equals(file.subarray(1000, 1050))).toBe(true);
    // Without a date it asks twice, as the ETag may be another one each time.
    expect(requests.map(({ headers }) => headers.range)).toEqual([
      'bytes=0-0',
      'bytes=0-0',
      'bytes=1000-1049',
    ]);
  });

  it.each([
    ['and no date', undefined],
    ['but one date', 'Sat, 10 Jan 2026 03:00:00 GMT'],
  ])('is read from a server that sends another ETag in each response, %s', async (_, date) => {
    let answers = 0;
    answer = (request, response) => {
      if (date) response.setHeader('last-modified', date);
      ranges({ etag: `"${answers++}"` })(request, response);
    };
    const source = await open();
    expect((await source?.access?.read(1000, 50))?.equals(file.subarray(1000, 1050))).toBe(true);
  });

  it('cancels the body when the server answers a probe with the whole file without a length', async () => {
    answer = (_, response) => {
      response.writeHead(200, { connection: 'close' });
      for (let part = 0; part < 50; part++) response.write(file);
      response.end();
    };
    const failures: unknown[] = [];
    const onFailure = (error: unknown) => failures.push(error);
    process.on('uncaughtExceptionMonitor', onFailure);
    for (let attempt = 0; attempt < 10; attempt++) expect((await open())?.version.size).toBeNull();
    process.off('uncaughtExceptionMonitor', onFailure);
    expect(failures).toEqual([]);
  });

  it('reports a broken transfer when a connection without a length is reset before its bytes are read', async () => {
    const raw = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.once('data', () => {
        socket.write('HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n');
        socket.write(Buffer.alloc(160_000));
        setTimeout(() => socket.resetAndDestroy(), 20);
      });
    });
    await new Promise<void>((resolve) => raw.listen(0, '127.0.0.1', resolve));
    const { port } = raw.address() as AddressInfo;
    const source = await httpSource(`http://127.0.0.1:${port}/extract.zip`, undefined, {
      pause: 1,
    });
    const readSlowly = async () => {
      for await (const _ of source?.stream() ?? []) await sleep(50);
    };
    await expect(readSlowly()).rejects.toMatchObject({
      name: 'SourceUnavailableError',
      message: expect.stringMatching(
        /^The connection to .* broke at byte \d+\. Run the load again\.$/,
      ),
    });
    raw.close();
  });

  it('is not opened when it has not changed since', async () => {
    answer = ranges();
    const source = await open();
    expect(await open(source?.version)).toBeNull();
    answer = ranges({ etag: '"two"' });
    expect(await open(source?.version)).not.toBeNull();
  });

  it('counts as unchanged even if the server ignores the condition', async () => {
    answer = (request, response) => {
      delete request.headers['if-none-match'];
      ranges()(request, response);
    };
    const source = await open();
    expect(await open(source?.version)).toBeNull();
  });

  it('follows a redirect', async () => {
    answer = (request, response) => {
      if (request.url === '/extract.zip') {
        return response.writeHead(302, { location: '/moved.zip' }).end();
      }
      ranges()(request, response);
    };
    const source = await open();
    expect((await source?.access?.read(0, 3))?.length).toBe(3);
  });

  it('continues where a connection broke', async () => {
    answer = ranges({ cutAfter: 100_000 });
    const source = await open();
    expect((await source?.access?.read(0, 250_000))?.equals(file.subarray(0, 250_000))).toBe(true);
    expect(source && (await buffer(source.stream())).equals(file)).toBe(true);
  });

  it('gives up on a server that sends nothing, and says so', async () => {
    answer = (_, response) => response.destroy();
    await expect(open()).rejects.toMatchObject({
      name: 'SourceUnavailableError',
      message: expect.stringMatching(
        /^127\.0\.0\.1:\d+ could not be read \(socket hang up\)\. Check the URL/,
      ),
    });
  });

  it('continues where a server fell silent', async () => {
    answer = ranges();
    const source = await httpSource(url(), undefined, { pause: 1, idle: 500 });
    answer = (request, response) => {
      answer = ranges();
      const from = /bytes=(\d+)/.exec(request.headers.range ?? '')?.[1];
      response.writeHead(206, {
        etag: '"one"',
        'content-range': `bytes ${from}-299999/300000`,
        'content-length': 9_000,
      });
      response.write(file.subarray(Number(from), Number(from) + 1_000));
    };
    expect((await source?.access?.read(5_000, 9_000))?.equals(file.subarray(5_000, 14_000))).toBe(
      true,
    );
    expect(requests.at(-1)?.headers.range).toBe('bytes=6000-13999');
  });

  it('retries transient errors', async () => {
    let failures = 3;
    answer = (request, response) =>
      failures-- > 0 ? response.writeHead(503).end() : ranges()(request, response);
    expect((await open())?.version.size).toBe(300_000);
  });

  it.each([
    [404, 'SourceError', /does not exist \(404\)\. Check the URL/],
    [401, 'SourceError', /asks for a sign-in \(401\)\. Use a URL/],
    [
      403,
      'SourceError',
      /may not be read from here \(403\).*signed URL has expired.*Get a new URL/,
    ],
    [416, 'SourceError', /has no bytes \(416\): it is empty/],
    [500, 'SourceUnavailableError', /returned 500\. Try again later/],
  ])('says what to do about %d', async (status, name, message) => {
    answer = (_, response) => response.writeHead(status).end();
    await expect(open()).rejects.toMatchObject({ name, message: expect.stringMatching(message) });
  });

  it('refuses to join two versions of the file', async () => {
    answer = ranges();
    const source = await open();
    answer = ranges({ etag: '"two"', bytes: Buffer.alloc(300_000) });
    await expect(source?.access?.read(5, 5)).rejects.toMatchObject({ name: 'SourceChangedError' });
  });

  it('says that it changed when it has become shorter than the requested bytes', async () => {
    answer = ranges();
    const source = await open();
    answer = (_, response) => response.writeHead(416).end();
    await expect(source?.access?.read(5, 5)).rejects.toMatchObject({ name: 'SourceChangedError' });
  });

  it('refuses another range than the requested one', async () => {
    answer = ranges();
    const source = await open();
    answer = (request, response) => {
      request.headers.range = 'bytes=0-9';
      ranges()(request, response);
    };
    await expect(source?.access?.read(5, 5)).rejects.toThrow(/another range/);
  });

  it('can only be streamed if the server does not support ranges', async () => {
    answer = noRanges;
    const source = await open();
    expect(source?.access).toBeNull();
    expect(source && (await buffer(source.stream())).equals(file)).toBe(true);
  });

  it("reports a broken stream if it can't be resumed", async () => {
    answer = noRanges;
    const source = await open();
    answer = (_, response) => {
      response.writeHead(200, { 'content-length': file.length });
      response.write(file.subarray(0, 1000), () => response.destroy());
    };
    await expect(source && buffer(source.stream())).rejects.toThrow(/broke at byte/);
  });
});
