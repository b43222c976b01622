import { readFile, writeFile } from 'node:fs/promises';
import { type ExplainedCode, explanations } from '../../lambdas/reference/explanations.ts';
import { headingOf } from '../../lambdas/reference/problem-page.ts';
import { openApiDocument } from './document.ts';

const begin = '<!-- problems -->\n';
const end = '<!-- /problems -->';

/** A Markdown text with its part about problems made anew: a heading for each problem and each code of a 422. */
export function withProblemSection(markdown: string): string {
  const [before, rest] = markdown.split(begin);
  const [, after] = rest?.split(end) ?? [];
  if (before === undefined || after === undefined)
    throw new Error(`the text has no part between ${begin.trim()} and ${end}`);
  const sections = (Object.keys(explanations) as ExplainedCode[]).map(section);
  return `${before}${begin}\n${sections.join('\n')}\n${end}${after}`;
}

function section(code: ExplainedCode): string {
  const { happened, remedy } = explanations[code];
  return `### ${headingOf(code)}\n\n\`/problems/${code}\`\n\n${happened}\n\n${remedy}\n`;
}

/** Makes `docs/openapi.json` and the problems in `docs/api.md` anew; `npm run openapi` formats the JSON after that. */
const docs = new URL('../../docs/', import.meta.url);
const reference = new URL('api.md', docs);

await writeFile(new URL('openapi.json', docs), JSON.stringify(openApiDocument(), null, 2));
await writeFile(reference, withProblemSection(await readFile(reference, 'utf8')));
