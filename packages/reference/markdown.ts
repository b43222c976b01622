import { plain } from './html.ts';
import type { OpenApi } from './openapi-document.ts';

/** The content of a page of this folder as Markdown, for programs that read text. */
export function markdownOf(html: string): string {
  const [, main = ''] = /<main id="top">([\s\S]*)<\/main>/.exec(html) ?? [];
  const text = main
    .replaceAll(/<div class="programs">[\s\S]*?\n<\/div>\n/g, languagesOnce())
    .replaceAll(
      /<details class="contents">[\s\S]*?<\/details>|<div class="tabs"[\s\S]*?<\/div>/g,
      '',
    )
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
    .replaceAll(/<(\/?)(ul|ol|li)\b.*?>/g, listMarks())
    .replaceAll('</p>', '\n')
    .replaceAll(/<br>|\n<details><summary>/g, ' ')
    .replaceAll(/<a [^>]*href="([^"#]+)"[^>]*>(.*?)<\/a>/g, '[$2]($1)')
    .replaceAll(/<\/?code.*?>/g, '`')
    .replaceAll(/<\/?strong>/g, '**');
  return `${plain(text)
    .replaceAll(/\n{3,}/g, '\n\n')
    .replaceAll(/^( *- .*)\n\n(?= *- )/gm, '$1\n')
    .trim()}\n`;
}

/** Leaves the first program in every language, and of the others, which differ little, curl. */
function languagesOnce(): (programs: string) => string {
  let isFirst = true;
  return (programs) => {
    const kept = isFirst
      ? programs
      : programs.replaceAll(/<div class="program-[1-9]\d*">[\s\S]*?<\/div>/g, '');
    isFirst = false;
    return kept;
  };
}

/** Lists within lists are indented. */
function listMarks(): (tag: string, end: string, name: string) => string {
  let depth = 0;
  return (_, end, name) => {
    if (name === 'li') return end ? '' : `${'  '.repeat(depth - 1)}- `;
    depth += end ? -1 : 1;
    return end && depth === 0 ? '\n' : '';
  };
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
