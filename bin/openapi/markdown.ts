import { type ExplainedCode, explanations } from '../../lambdas/reference/explanations.ts';
import { headingOf } from '../../lambdas/reference/problem-page.ts';
import { otherNames } from '../../lambdas/shared/addresses/address-input.ts';

/** The generated parts of `docs/api.md`, by the comments around them. */
const parts: Record<string, () => string> = {
  problems: () => (Object.keys(explanations) as ExplainedCode[]).map(problemSection).join('\n'),
  names: namesTable,
};

/** A Markdown text with each of its generated parts made anew. @throws Error when a part is not in the text */
export function withGeneratedParts(markdown: string): string {
  return Object.entries(parts).reduce((text, [name, generate]) => {
    const [begin, end] = [`<!-- ${name} -->\n`, `<!-- /${name} -->`];
    const [before, rest] = text.split(begin);
    const [, after] = rest?.split(end) ?? [];
    if (before === undefined || after === undefined) throw new Error(`The text has no ${begin.trim()} ... ${end}.`);
    return `${before}${begin}\n${generate()}\n${end}${after}`;
  }, markdown);
}

function problemSection(code: ExplainedCode): string {
  const { happened, remedy } = explanations[code];
  return `### ${headingOf(code)}\n\n\`/problems/${code}\`\n\n${happened}\n\n${remedy}\n`;
}

function namesTable(): string {
  const { huisnummer, huisletter, toevoeging } = otherNames;
  const names = (list: readonly string[]) =>
    list
      .filter((name) => name !== 'toevoeging')
      .map((name) => `\`${name.replaceAll(' ', '_')}\``)
      .join(', ');
  return [
    '| send | instead of |',
    '|---|---|',
    `| \`huisnummer\` | ${names(huisnummer)} |`,
    `| \`toevoeging\` | ${names([...huisletter, ...toevoeging])} |`,
    '',
  ].join('\n');
}
