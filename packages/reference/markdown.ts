import { plain } from './html.ts';
import type { OpenApi } from './openapi-document.ts';

/** The content of a page of this folder as Markdown, for programs that read text. */
export function markdownOf(html: string): string {
  const [, main = ''] = /<main id="top">([\s\S]*)<\/main>/.exec(html) ?? [];
  const text = main
    .replaceAll(/<details[\s\S]*?<\/details>|<label.*?<\/label>/g, '')
    .replaceAll(
      /<figure.*?><figcaption>(.*?)<\/figcaption><pre.*?><code>([\s\S]*?)<\/code><\/pre><\/figure>/g,
      sample,
    )
    .replaceAll(
      /<h([1-4]).*?>(.*?)<\/h\1>/g,
      (_, level, title) => `\n${'#'.repeat(level)} ${title}\n`,
    )
    .replaceAll(/<\/tr><\/thead>\s*<tbody.*?>/g, '|\n| --- | --- |')
    .replaceAll(
      /<t[hd]\b.*?>(.*?)<\/t[hd]>/g,
      (_, cell: string) => `| ${cell.replaceAll('|', '\\|')} `,
    )
    .replaceAll('</tr>', '|')
    .replaceAll(/<\/(p|ol|ul)>/g, '\n')
    .replaceAll('<li>', '- ')
    .replaceAll('<br>', ' ')
    .replaceAll(/<a [^>]*href="([^"#]+)"[^>]*>(.*?)<\/a>/g, '[$2]($1)')
    .replaceAll(/<\/?code.*?>/g, '`')
    .replaceAll(/<\/?strong>/g, '**');
  return `${plain(text)
    .replaceAll(/\n{3,}/g, '\n\n')
    .trim()}\n`;
}

function sample(_: string, caption: string, code: string): string {
  return `\n${caption}:\n\n\`\`\`\n${code}\n\`\`\`\n`;
}

/**
 * The index that programs which read texts look for, by the convention of `llms.txt`. In English.
 */
export function indexForPrograms(api: OpenApi, baseUrl: string): string {
  const { lead, paragraphs } = api.descriptions();
  return `# ${api.document.info.title}

> ${lead}

${paragraphs.Keys} ${paragraphs['Test addresses']}

## Documents

- [Reference](${baseUrl}/docs.md): every operation, error and header
- [OpenAPI 3.1](${baseUrl}/v1/openapi.json): the same for programs, with complete examples in several languages
- [Postman collection](${baseUrl}/postman.json): a request for each example
- [Changes](${baseUrl}/changes.xml): a feed of what changed in each version
`;
}
