import { escaped } from '../look/samples.ts';
import { inline } from './html.ts';
import { openApiDocument } from './openapi-document.ts';
import { heading } from './parts.ts';

/** What consumers of the API notice of each version, newest first, as a list. */
export function changesList(): string {
  return openApiDocument['x-changes']
    .map(({ version, date, changes }) => {
      const title = heading(4, `version-${version.replaceAll('.', '-')}`, date ? `${version} (${date})` : version);
      return `${title}\n${listOf(changes)}`;
    })
    .join('\n');
}

const listOf = (changes: string[]) => `<ul>\n${changes.map((one) => `<li>${inline(one)}</li>`).join('\n')}\n</ul>`;

/** The same as a feed (RSS 2.0). A version that was not published yet has no date. */
export function changesFeed(baseUrl: string): string {
  const { title } = openApiDocument.info;
  const items = openApiDocument['x-changes'].map(
    ({ version, date, changes }) => `<item>
<title>${version}</title>
<guid isPermaLink="false">${version}</guid>
<link>${baseUrl}/docs#changes</link>
${date ? `<pubDate>${new Date(date).toUTCString()}</pubDate>\n` : ''}<description>${escaped(listOf(changes))}</description>
</item>`,
  );
  return `<?xml version="1.0" encoding="utf-8"?>
<rss version="2.0"><channel>
<title>${escaped(title)}</title>
<link>${baseUrl}/docs#changes</link>
<description>${escaped(openApiDocument.info.summary)}</description>
<language>en</language>
${items.join('\n')}
</channel></rss>
`;
}
