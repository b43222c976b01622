import { readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';

/** One change of one line of a file, which some test ought to notice. */
export type Mutant = { file: string; line: number; operator: string; before: string; after: string };

const opposite: Record<string, string> = {
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  '===': '!==',
  '!==': '===',
  '&&': '||',
  '||': '&&',
  '+': '-',
  '-': '+',
  true: 'false',
  false: 'true',
};
const swapped = (_: string, before: string, sign: string, after: string) => `${before}${opposite[sign]}${after}`;

/**
 * Each operator finds the places where it applies, and says what a place becomes. A constant is no repetition
 * (`{1,64}`) or range (`[0-9]`) of a regular expression, and no result of a comparison (`? -1 : 1`), of which only the
 * sign matters.
 */
const operators: [name: string, place: RegExp, becomes: string | typeof swapped][] = [
  ['flip a comparison', /( )(<=|>=|<|>|===|!==)( (?=[\w('"`-]))/g, swapped],
  ['swap and with or', /( )(&&|\|\|)( )/g, swapped],
  ['swap plus with minus', /([\w)\]] )(\+|-)( [\w(])/g, swapped],
  ['flip a boolean', /([=:(?,] )(true|false)\b()/g, swapped],
  ['negate a condition', /\bif \((.+)\) (?=\S)/g, 'if (!($1)) '],
  ['drop a clause', / (?:&&|\|\|) [^()&|]+(?=[);])/g, ''],
  ['drop a default', / \?\? [\w.'"]+(?![\w.'"(])/g, ''],
  ['change a constant', /(?<![\w'"`#.${,-]|\? -1 : )(\d[\d_]*)(?![\w'"`.]|-\d)/g, '($1 + 1)'],
  ['remove a statement', /^(\s+)(?:await )?[\w.?]+\([^{}]*\);$/g, '$1;'],
];

/** Every change that the operators can make to a file. What only changes types, or is no program, is none. */
export function mutantsOf(file: string): Mutant[] {
  const text = readFileSync(file, 'utf8');
  const program = programOf(text);
  return text.split('\n').flatMap((before, index) => {
    if (/^\s*(?:\*|\/\/|\/\*|import |export type |type )/.test(before)) return [];
    const code = before.split(' // ', 1)[0]?.length ?? 0;
    return operators.flatMap(([operator, place, becomes]) =>
      [...before.matchAll(place)].flatMap((match) => {
        if (match.index >= code) return [];
        const [found, ...groups] = match;
        const becoming = typeof becomes === 'string' ? filled(becomes, groups) : becomes(found, ...threeOf(groups));
        const after = before.slice(0, match.index) + becoming + before.slice(match.index + found.length);
        const mutant = { file, line: index + 1, operator, before, after };
        return isOtherProgram(mutate(text, mutant), program) ? [mutant] : [];
      }),
    );
  });
}

function filled(template: string, groups: readonly string[]): string {
  return template.replace(/\$(\d)/g, (_, number) => groups[Number(number) - 1] ?? '');
}

function threeOf([before = '', sign = '', after = '']: readonly string[]): [string, string, string] {
  return [before, sign, after];
}

/** The text of the file with the mutant in place. */
export function mutate(text: string, { line, after }: Mutant): string {
  const lines = text.split('\n');
  lines[line - 1] = after;
  return lines.join('\n');
}

function isOtherProgram(text: string, program: string): boolean {
  try {
    return programOf(text) !== program;
  } catch {
    return false;
  }
}

/** Without types, in whose place there are as many spaces as they had characters. */
function programOf(text: string): string {
  return stripTypeScriptTypes(text).replaceAll(/\s+/g, ' ');
}
