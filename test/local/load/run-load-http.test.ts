import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { dynamoDbAddressTable } from '../../../loader/storage/address-table.ts';
import { runLoad } from '../../../local/load/run-load.ts';
import { type LoadBench, startLoadBench } from '../../loader/steps/load-bench.ts';
import { february, january, tableOf } from '../../loader/steps/months.ts';

let bench: LoadBench;
let server: Server;
let url: string;
/** What lies on the server, how it answers, and what it has sent. */
const served = { bytes: Buffer.alloc(0), etag: '', ranges: true, sent: 0, requests: 0 };
let beforeAnswer: (request: IncomingMessage) => void;

beforeAll(async () => {
  bench = await startLoadBench();
  server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/lvbag-extract-nl.zip`;
});
beforeEach(() => {
  Object.assign(served, { ranges: true, sent: 0, requests: 0 });
  beforeAnswer = () => undefined;
});
afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await bench.stop();
});

function answer(request: IncomingMessage, response: ServerResponse): void {
  served.requests++;
  beforeAnswer(request);
  if (request.url?.startsWith('/missing')) return void response.writeHead(404).end();
  const { bytes, etag, ranges } = served;
  if (request.headers['if-none-match'] === etag) return void response.writeHead(304).end();
  const [, from, to] = /bytes=(\d+)-(\d*)/.exec(request.headers.range ?? '') ?? [];
  const asked = ranges && from !== undefined;
  const body = asked ? bytes.subarray(Number(from), to ? Number(to) + 1 : undefined) : bytes;
  const range = asked && { 'content-range': `bytes ${from}-${Number(from) + body.length - 1}/${bytes.length}` };
  served.sent += body.length;
  response.writeHead(asked ? 206 : 200, { ...(etag && { etag }), 'content-length': body.length, ...range });
  response.end(body);
}

async function serve(file: Promise<string>, etag: string): Promise<void> {
  Object.assign(served, { bytes: readFileSync(await file), etag });
}

async function newPlace() {
  const table = await bench.newTable();
  return {
    table,
    options: { storage: bench.newFolder(), addresses: dynamoDbAddressTable(bench.client, table), source: url },
  };
}

describe('a load over HTTP', () => {
  it('fetches only the members that it needs, and nothing when nothing has changed', async () => {
    const other = { '9999VBO08012026.zip': randomBytes(3_000_000), '9999PND08012026.zip': randomBytes(3_000_000) };
    await serve(bench.extractOf(january, { extra: other }), '"january"');
    const { table, options } = await newPlace();
    await runLoad(options);
    expect(await bench.addressesIn(table)).toEqual(tableOf(january));
    expect(served.bytes.length).toBeGreaterThan(6_000_000);
    // Mostly the end of the file, where the directory is.
    expect(served.sent).toBeLessThan(600_000);

    served.requests = 0;
    expect((await runLoad(options)).outcome).toBe('unchanged');
    expect(served.requests).toBe(1);
  });

  it.each([
    ['the national layout', { layout: 'national' as const }],
    ['a municipality, deflated', { layout: 'municipality' as const, inner: 'deflated' as const }],
  ])('of %s can be loaded from a server without ranges too', async (_, packing) => {
    served.ranges = false;
    await serve(bench.extractOf(january, packing), '"january"');
    const { table, options } = await newPlace();
    await runLoad(options);
    expect(await bench.addressesIn(table)).toEqual(tableOf(january));
  });

  it('starts again when the extract is replaced in the meantime', async () => {
    await serve(bench.extractOf(january), '"january"');
    const newer = readFileSync(await bench.extractOf(february));
    beforeAnswer = () => {
      if (served.requests === 6) Object.assign(served, { bytes: newer, etag: '"february"' });
    };
    const { table, options } = await newPlace();
    const report = await runLoad(options);
    expect(report.peildatum).toBe(february.peildatum);
    expect(await bench.addressesIn(table)).toEqual(tableOf(february));
  });

  it('of a server without ranges and versions downloads the extract twice: to look into it, and to copy it', async () => {
    await serve(bench.extractOf(january), '');
    served.ranges = false;
    const { table, options } = await newPlace();
    await runLoad(options);
    expect(await bench.addressesIn(table)).toEqual(tableOf(january));
    // Each time one more to learn that there are no ranges, of which it does not read the body.
    expect(served.requests).toBe(4);
  });

  it('of a server without ranges downloads a damaged copy again, although its ETag is the same', async () => {
    await serve(bench.extractOf(january), '"same"');
    served.ranges = false;
    const whole = served.bytes;
    served.bytes = Buffer.from(whole);
    const half = Math.floor(whole.length / 2);
    served.bytes.fill(0, half, half + 200);
    const { table, options } = await newPlace();
    await expect(runLoad(options)).rejects.toMatchObject({ name: 'ExtractError' });
    served.bytes = whole;
    expect(await runLoad(options)).toMatchObject({ outcome: 'published' });
    expect(await bench.addressesIn(table)).toEqual(tableOf(january));
  });
});
