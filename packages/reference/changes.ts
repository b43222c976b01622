import { escaped } from '../ui/samples.ts';
import { inline } from './html.ts';
import type { OpenApi } from './openapi-document.ts';
import { heading } from './reference-parts.ts';

/** The changes of each version that consumers of the API notice, newest first, as a list. */
export function changesList({ document }: OpenApi): string {
  return document['x-changes']
    .map(({ version, date, changes }) => {
      const title = heading(
        4,
        `version-${version.replaceAll('.', '-')}`,
        date ? `${version} (${date})` : version,
      );
      return `${title}\n${listOf(changes)}`;
    })
    .join('\n');
}

const listOf = (changes: string[]) =>
  `<ul>\n${changes.map((change) => `<li>${inline(change)}</li>`).join('\n')}\n</ul>`;

/** The same as a feed (RSS 2.0). A version that was not published yet has no date. */
export function changesFeed({ document }: OpenApi, baseUrl: string): string {
  const { title, summary } = document.info;
  const items = document['x-changes'].map(
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
<description>${escaped(summary)}</description>
<language>en</language>
${items.join('\n')}
</channel></rss>
`;
}
