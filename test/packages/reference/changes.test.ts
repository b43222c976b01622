import { expect, it } from '@jest/globals';
import { SaxesParser } from 'saxes';
import { changesFeed } from '../../../packages/reference/changes.ts';
import type { OpenApi } from '../../../packages/reference/openapi-document.ts';

it('the feed is well-formed, and has an item for each version and no text between them', () => {
  const versions = [
    { version: '1.2.0', changes: ['`a` & <b>'] },
    { version: '1.1.0', date: '2026-11-01', changes: ['c', 'd'] },
    { version: '1.0.0', date: '2026-10-01', changes: ['e'] },
  ];
  const document = { info: { title: 'T', summary: 'S' }, 'x-changes': versions };
  const api = { document } as unknown as OpenApi;
  const path: string[] = [];
  const texts: [path: string, text: string][] = [];
  const parser = new SaxesParser();
  parser.on('error', (error) => {
    throw error;
  });
  parser.on('opentag', ({ name }) => void path.push(name));
  parser.on('closetag', () => void path.pop());
  parser.on('text', (text) => {
    if (text.trim()) texts.push([path.join('/'), text]);
  });
  parser.write(changesFeed(api, 'https://api.example')).close();
  const at = (name: string) =>
    texts.filter(([path]) => path === `rss/channel/item/${name}`).map(([, text]) => text);
  expect(at('title')).toEqual(['1.2.0', '1.1.0', '1.0.0']);
  expect(at('pubDate')).toHaveLength(2);
  expect(at('description')[0]).toContain('<code>a</code> &amp; &lt;b&gt;');
  expect(texts.filter(([path]) => path === 'rss/channel' || path.endsWith('/item'))).toEqual([]);
});
