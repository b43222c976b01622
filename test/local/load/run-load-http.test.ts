import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { startLoadBench } from '../../loader/steps/load-bench.ts';
import { february, january, tableOf } from '../../loader/steps/months.ts';
import { startHttpServer } from '../../support/http-server.ts';
import { answerWith } from '../../support/range-server.ts';
import { startForTests } from '../../support/start-for-tests.ts';

const bench = startForTests(startLoadBench);
/** What lies on the server, how it answers, and what it has sent. */
const served = { bytes: Buffer.alloc(0), etag: '', ranges: true, sent: 0, requests: 0 };
let beforeAnswer: () => void;
const server = startForTests(() =>
  startHttpServer((request, response) => {
    served.requests++;
    beforeAnswer();
    served.sent += answerWith(served, request, response, served.ranges);
  }),
);

/** A dataset that is loaded from the server, which has this extract. */
async function datasetOf(extract: Promise<string>, etag = '"january"') {
  Object.assign(served, {
    bytes: readFileSync(await extract),
    etag,
    ranges: true,
    sent: 0,
    requests: 0,
  });
  beforeAnswer = () => undefined;
  return bench.newDataset({
    source: `${server.url}/lvbag-extract-nl.zip`,
    storage: bench.newFolder(),
  });
}

describe('a load over HTTP', () => {
  it('fetches only the members that it needs, and nothing when nothing has changed', async () => {
    const other = {
      '9999VBO08012026.zip': randomBytes(3_000_000),
      '9999PND08012026.zip': randomBytes(3_000_000),
    };
    const dataset = await datasetOf(bench.extractOf(january, { extra: other }));
    await dataset.load();
    expect(await dataset.served()).toEqual(tableOf(january));
    expect(served.bytes.length).toBeGreaterThan(6_000_000);
    // Mostly the end of the file, where the directory is.
    expect(served.sent).toBeLessThan(600_000);

    served.requests = 0;
    expect((await dataset.load()).outcome).toBe('unchanged');
    expect(served.requests).toBe(1);
  });

  it('starts again when the extract is replaced in the meantime', async () => {
    const dataset = await datasetOf(bench.extractOf(january));
    const newer = readFileSync(await bench.extractOf(february));
    beforeAnswer = () => {
      if (served.requests === 6) Object.assign(served, { bytes: newer, etag: '"february"' });
    };
    const report = await dataset.load();
    expect(report.peildatum).toBe(february.peildatum);
    expect(await dataset.served()).toEqual(tableOf(february));
  });

  it('of a server without ranges and versions downloads the extract twice: to look into it, and to copy it', async () => {
    const dataset = await datasetOf(bench.extractOf(january), '');
    served.ranges = false;
    await dataset.load();
    expect(await dataset.served()).toEqual(tableOf(january));
    // Each time one more to learn that there are no ranges, of which it does not read the body.
    expect(served.requests).toBe(4);
  });

  it('of a server without ranges downloads a damaged copy again, although its ETag is the same', async () => {
    const packing = { layout: 'municipality', inner: 'deflated' } as const;
    const dataset = await datasetOf(bench.extractOf(january, packing), '"same"');
    served.ranges = false;
    const whole = served.bytes;
    served.bytes = Buffer.from(whole);
    const half = Math.floor(whole.length / 2);
    served.bytes.fill(0, half, half + 200);
    await expect(dataset.load()).rejects.toMatchObject({ name: 'ExtractError' });
    served.bytes = whole;
    expect(await dataset.load()).toMatchObject({ outcome: 'published' });
    expect(await dataset.served()).toEqual(tableOf(january));
  });
});
