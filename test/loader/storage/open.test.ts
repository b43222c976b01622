import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { openFirst, pdokExtract, pdokExtracts } from '../../../loader/storage/open.ts';
import { SourceError, SourceUnavailableError } from '../../../loader/storage/source.ts';

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

/** The address of a server that answers every request with this. */
async function serve(status: number, body: string): Promise<string> {
  const server = createServer((_, response) => void response.writeHead(status).end(body));
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/feed.xml`;
}

const link = (href: string) =>
  `<feed><entry><link rel="alternate" href="${href}" type="application/x-zip"/></entry></feed>`;
const known = ['https://service.pdok.nl/known/lvbag-extract-nl.zip'];

describe("the URL of PDOK's extract", () => {
  it('is the one in its feed, then the earlier ones', async () => {
    const linked = 'https://service.pdok.nl/new/place/lvbag-extract-nl.zip';
    const feed = await serve(200, `${link('https://service.pdok.nl/new/other.zip')}${link(linked)}`);
    expect(await pdokExtracts({ feeds: [feed], known })).toEqual([linked, ...known]);
  });

  it.each([
    ['is not there', 404, link('https://service.pdok.nl/x/lvbag-extract-nl.zip')],
    ['is empty', 200, ''],
    ['links elsewhere', 200, link('https://pdok.nl.example.com/lvbag-extract-nl.zip')],
    ['links without TLS', 200, link('http://service.pdok.nl/lvbag-extract-nl.zip')],
  ])('is a known one when the feed %s', async (_, status, body) => {
    expect(await pdokExtracts({ feeds: [await serve(status, body)], known })).toEqual(known);
  });

  it('is a known one when the feed is unreachable', async () => {
    expect(await pdokExtracts({ feeds: ['http://127.0.0.1:1/feed.xml', 'no address'], known })).toEqual(known);
    expect(pdokExtract).toMatch(/^https:\/\/service\.pdok\.nl\/.*\/lvbag-extract-nl\.zip$/);
  });
});

describe('several URLs', () => {
  const opening = (answers: Record<string, unknown>) => async (location: string) => {
    const answer = answers[location];
    if (answer instanceof Error) throw answer;
    return answer;
  };

  it('are tried in turn while the extract is not there', async () => {
    const moved = new SourceError('moved');
    expect(await openFirst(['a', 'b', 'c'], opening({ a: moved, b: 'found', c: 'other' }))).toBe('found');
    await expect(openFirst(['a', 'b'], opening({ a: moved, b: new SourceError('gone') }))).rejects.toBe(moved);
  });

  it('are not skipped while a server is unavailable, because the next may have an older file', async () => {
    const unavailable = new SourceUnavailableError('busy');
    await expect(openFirst(['a', 'b'], opening({ a: unavailable, b: 'older' }))).rejects.toBe(unavailable);
    const unchanged = await openFirst<unknown>(['a', 'b'], opening({ a: null, b: 'older' }));
    expect(unchanged).toBeNull();
  });
});
