import { describe, expect, it } from '@jest/globals';
import { environment } from '../../core/environment.ts';
import { problems } from '../../core/problems.ts';
import { changesFeed } from '../../packages/reference/changes.ts';
import { OpenApi } from '../../packages/reference/openapi-document.ts';
import { lookupRequest, programSources } from '../../packages/ui/samples.ts';
import { newAccount } from '../support/address-service.ts';
import { htmlText } from '../support/html-text.ts';
import { startHttpService } from '../support/http-service.ts';
import { startForTests } from '../support/start-for-tests.ts';

const service = startForTests(startHttpService);

const forReaders = ['/docs', '/docs.md', '/llms.txt', '/changes.xml'];
const always = ['/v1/openapi.json', '/openapi.json', '/postman.json', '/favicon.ico'];

describe('what is published about the API', () => {
  it.each([...forReaders, ...always])(
    '%s can be read without a key, by GET only, and never twice',
    async (path) => {
      const { status, headers, body } = await service.send(path);
      expect([status, body.length > 100]).toEqual([200, true]);
      const again = await service.send(path, { headers: { 'if-none-match': headers.etag ?? '' } });
      expect([again.status, again.body]).toEqual([304, '']);
      expect((await service.send(path, { method: 'POST' })).status).toBe(405);
      expect((await service.send(`${path}/`)).status).toBe(404);
    },
  );

  it('leaves out what is made of the reference where that is turned off', async () => {
    process.env[environment.referencePage] = 'off';
    try {
      for (const path of forReaders) {
        expect([path, (await service.send(path)).status]).toEqual([path, 404]);
      }
      for (const path of always) {
        expect([path, (await service.send(path)).status]).toEqual([path, 200]);
      }
      expect((await service.send('/', { headers: { accept: 'text/html' } })).status).toBe(404);
      expect((await service.send('/problems/huisnummer-range')).body).not.toContain('/docs');
    } finally {
      delete process.env[environment.referencePage];
    }
  });
});

describe('/openapi.json', () => {
  it('is the document, where tools look for it', async () => {
    expect((await service.send('/openapi.json')).json).toEqual(
      (await service.send('/v1/openapi.json')).json,
    );
  });
});

describe('/docs.md', () => {
  it.each(['en', 'nl'])('says in %s what the page says, as Markdown', async (language) => {
    const [page, markdown] = await Promise.all(
      ['/docs', '/docs.md'].map((path) => service.send(`${path}?lang=${language}`)),
    );
    const words = (text: string) => text.replaceAll(/[\s`*|#[\]()\\-]/g, '');
    const said = words((markdown?.body ?? '').replaceAll(/\]\([^)\s]+\)/g, ''));
    const [, main = ''] = /<main id="top">([\s\S]*)<\/main>/.exec(page?.body ?? '') ?? [];
    const once = main.replaceAll(/<div class="program-[1-9]">[\s\S]*?<\/div>/g, '');
    const parts = [...once.matchAll(/<(h[1-4]|p|li|td|th|pre)\b[^>]*>([\s\S]*?)<\/\1>/g)].map(
      ([, , html = '']) => words(htmlText(html)),
    );
    expect(parts.length).toBeGreaterThan(150);
    expect(parts.filter((text) => !said.includes(text))).toEqual([]);
    expect(markdown?.body).not.toMatch(/<\/?[a-z]+[ >]|&(amp|lt|quot);|\n{3}/);
    expect([page, markdown].map((one) => one?.headers['content-language'])).toEqual([
      language,
      language,
    ]);
  });

  it('has tables, lists in lists, code as it is, and each language once', async () => {
    const { body } = await service.send('/docs.md');
    expect(body).toMatch(
      /^- `address` object \| null .* Members of `address`\n {2}- `straat` string /m,
    );
    for (const { label } of programSources(lookupRequest('')).slice(1)) {
      expect(body.split(`\n${label}:\n`).length).toBe(2);
    }
    expect(body).toMatch(
      /\n\| Name \| Form \|\n\| --- \| --- \|\n\| `postcode` required \| Four digits/,
    );
    expect(body).toContain('```\ncurl -H "X-API-Key: YOUR_KEY" "');
  });
});

describe('/llms.txt', () => {
  it('names the documents, each of which is there', async () => {
    const { body } = await service.send('/llms.txt');
    expect(body).toMatch(/^# Dutch addresses\n\n> Looks up/);
    const links = [...body.matchAll(/\]\((http:[^)]+)\)/g)].map(([, url = '']) =>
      url.slice(service.baseUrl.length),
    );
    expect(links).toEqual(['/docs.md', '/v1/openapi.json', '/postman.json', '/changes.xml']);
    for (const link of links) expect((await service.send(link)).status).toBe(200);
  });
});

describe('/postman.json', () => {
  type Item = { name: string; item?: Item[]; request: Request };
  type Request = {
    method: string;
    url: { raw: string };
    auth?: object;
    header?: { value: string }[];
    body?: { raw: string };
  };
  type Collection = { auth: object; variable: { key: string; value: string }[]; item: Item[] };

  it('has a request for each example, which gets a 200 with the key that somebody sets', async () => {
    const { key } = await newAccount(service, { minute: 1000 });
    const collection = (await service.send('/postman.json')).json as Collection;
    const set = new Map(collection.variable.map(({ key: name, value }) => [name, value]));
    expect([...set]).toEqual([
      ['baseUrl', service.baseUrl],
      ['key', ''],
    ]);
    expect(JSON.stringify(collection.auth)).toContain('{{key}}');
    const requests = collection.item.flatMap(({ item = [] }) => item);
    for (const { name, request } of requests) {
      const path = request.url.raw.replace('{{baseUrl}}', '');
      const headers = {
        ...(!request.auth && { 'x-api-key': key }),
        ...(request.body && { 'content-type': 'application/json' }),
      };
      const sent = await service.send(path, {
        method: request.method,
        headers,
        ...(request.body && { body: request.body.raw }),
      });
      expect([name, sent.status]).toEqual([name, 200]);
    }
    expect(collection.item.map(({ name }) => name)).toEqual([
      'Look up one address',
      'Look up many addresses',
      'Check a key',
      'This document',
    ]);
  });
});

describe('the changes', () => {
  it('are those of the changelog, on the page and in a feed', async () => {
    const [{ changes = [] } = {}] = new OpenApi([]).document['x-changes'];
    expect(changes.length).toBeGreaterThan(5);
    const feed = (await service.send('/changes.xml')).body;
    const page = htmlText((await service.send('/docs')).body);
    for (const change of changes) {
      const text = change.replaceAll('`', '');
      expect([htmlText(htmlText(feed)).includes(text), page.includes(text)]).toEqual([true, true]);
    }
    expect(feed).toMatch(/^<\?xml version="1.0" encoding="utf-8"\?>\n<rss version="2.0">/);
  });

  it('have the date of a version that was published', () => {
    const api = new OpenApi([]);
    const document = api.document['x-changes'];
    document.unshift({ version: '9.0.0', date: '2031-01-02', changes: ['One & two'] });
    try {
      expect(changesFeed(api, 'https://adres.example.nl')).toContain(
        '<pubDate>Thu, 02 Jan 2031 00:00:00 GMT</pubDate>\n<description>&lt;ul&gt;\n&lt;li&gt;One &amp;amp; two',
      );
    } finally {
      document.shift();
    }
  });
});

describe('the address of a problem that does not exist', () => {
  it('is a page for a browser that leads to those that do, and a 404 for a program', async () => {
    const headers = { accept: 'text/html,*/*;q=0.8', 'accept-language': 'nl' };
    const { status, body, headers: got } = await service.send('/problems/nope', { headers });
    expect([status, got['content-type'], got['content-language']]).toEqual([
      404,
      'text/html; charset=utf-8',
      'nl',
    ]);
    for (const code of Object.keys(problems)) {
      expect(body).toContain(`<a href="/problems/${code}?lang=nl">`);
    }
    expect((await service.send('/problems/nope')).json).toMatchObject({
      type: '/problems/not-found',
    });
  });
});

describe('a path where nothing is', () => {
  it.each(['/', '/v1', '/nope'])('%s says where to look', async (path) => {
    const { status, json } = await service.send(path);
    const { detail } = json as { detail: string };
    expect([status, detail]).toEqual([404, expect.stringContaining('/v1/openapi.json')]);
  });
});

describe('a page', () => {
  it.each(['/docs?lang=nl', '/problems/missing'])(
    '%s describes itself, and has its icon in it',
    async (path) => {
      const { body } = await service.send(path);
      expect(body).toMatch(/<meta name="description" content="[^"<`]{40,}">/);
      expect(body).toContain('<link rel="icon" href="data:image/svg+xml,');
    },
  );
});
