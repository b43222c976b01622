import { globSync, readFileSync } from 'node:fs';
import { normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';

const root = fileURLToPath(new URL('../..', import.meta.url));
const folders = 'core,loader,lambdas,lib,packages,portal,local,operator,bin';
const exclude = ['**/dist/**', '**/node_modules/**'];
const product = globSync(`{${folders}}/**/*.ts`, { cwd: root, exclude }).map(normalize).sort();
const all = globSync('{*,.ci}/**/*.ts', { cwd: root, exclude: [...exclude, 'cdk.out/**'] })
  .map(normalize)
  .sort();
const linesOf = (file: string) => readFileSync(`${root}/${file}`, 'utf8').split('\n');

/** Exported names that several files may have, with the reason. */
const shared: Record<string, string> = {
  handler: 'Lambda calls the export of this name.',
  createHandler: 'The table of routes makes a handler with the export of this name.',
  step: 'The table of steps runs the export of this name.',
};

type Declaration = { name: string; file: string; isExported: boolean };

/**
 * What the files declare at their top level: `what` is a part of a regular expression, such as
 * `type|class`.
 */
function declarations(what: string): Declaration[] {
  const form = new RegExp(`^(export )?(?:declare )?(?:async )?(?:abstract )?(?:${what}) (\\w+)`);
  return product.flatMap((file) =>
    linesOf(file).flatMap((line) => {
      const [found, exported, name = ''] = form.exec(line) ?? [];
      return found === undefined ? [] : [{ name, file, isExported: exported !== undefined }];
    }),
  );
}

/** The names that several files declare, if one of them exports it, as `Name: file, file`. */
function repeated(found: Declaration[]): string[] {
  const byName = Map.groupBy(found, ({ name }) => name);
  return [...byName]
    .filter(
      ([name, some]) =>
        some.length > 1 && some.some(({ isExported }) => isExported) && !(name in shared),
    )
    .map(([name, some]) => `${name}: ${some.map(({ file }) => file).join(', ')}`);
}

/** The lines that `isWrong` finds among the comments of files, as `file:line`. */
function comments(files: string[], isWrong: (line: string) => boolean): string[] {
  const isComment = (line: string) => /^\s*(\/\/|\/\*|\* |\*\/)/.test(line);
  return files.flatMap((file) =>
    linesOf(file).flatMap((line, i) =>
      isComment(line) && isWrong(line) ? [`${file}:${i + 1}`] : [],
    ),
  );
}

describe('names', () => {
  it('stand for one thing when they are exported', () => {
    const found = declarations('function\\*?|const|let|class|type|enum').filter(
      ({ isExported }) => isExported,
    );
    expect(found.length).toBeGreaterThan(1000);
    expect(repeated(found)).toEqual([]);
  });

  it('of exported types are those of no other type, not even of one inside a file', () => {
    expect(repeated(declarations('class|type'))).toEqual([]);
  });

  it('have their unit in full', () => {
    const abbreviated =
      /\b(?:const|let|readonly|function)\s+#?\w*[a-z](?:Ms|MS|Secs?|Mins?|Hrs?)\b/;
    const found = all.flatMap((file) =>
      linesOf(file).flatMap((line, i) =>
        abbreviated.test(line) ? [`${file}:${i + 1}: ${line.trim()}`] : [],
      ),
    );
    expect(found).toEqual([]);
  });
});

describe('comments', () => {
  it('have at most 100 columns, but for tables', () => {
    expect(comments(all, (line) => line.length > 100 && !/^\s*\* \|/.test(line))).toEqual([]);
  });

  it('name errors by `@throws`', () => {
    expect(comments(product, (line) => /\bThrows\b/.test(line))).toEqual([]);
  });
});

describe('the English of code and pages', () => {
  const pages = globSync(['{README,CONTRIBUTING,SECURITY}.md', '{docs,packages}/**/*.md'], {
    cwd: root,
    exclude,
  }).map(normalize);
  /**
   * The lines with a habit if there are more than `most`: rewrite one that is new, in fewer words.
   */
  const tooMany = (files: string[], habit: RegExp, most: number) => {
    const found = files.flatMap((file) =>
      linesOf(file).flatMap((line, i) =>
        Array.from(line.matchAll(habit), () => `${file}:${i + 1}: ${line.trim()}`),
      ),
    );
    return found.length > most ? found : [];
  };

  // Sentences that a native reader reads twice. Lower a number when the count falls; never raise
  // one.
  it.each<[string, RegExp, code: number, pages: number]>([
    [
      'a preposition before "which"',
      /\b(of|by|from|with|in|on|for|to|under|after|before) wh(ich|om)\b/g,
      4,
      3,
    ],
    ['"what ..." for a noun', /\bwhat (is|was|has|it|they|a|an|the|this)\b|\bWhat [a-z]/g, 5, 17],
    [
      '"where" for if or when',
      /\b[Ww]here (it|there|an?|the|this|that|none|nothing|one|all) /g,
      10,
      3,
    ],
    [
      '"of" for every relation',
      /\b(that|those|the ones?) of\b|\bof (several|these|them)\b|\bOf (an?|the|all|one|several|some|these|those|them|each|two)\b/g,
      3,
      7,
    ],
    [
      '"one that" for the noun',
      /\bone (that|who|which|whose)\b|\bthose (that|who|which|whose)\b/g,
      0,
      5,
    ],
    [
      '"is there" for exists',
      /\b(is|are|was|were)( not)? there\b|\bthere (is|are) (none|one|such)\b/g,
      1,
      2,
    ],
  ])('has no more of %s than before', (_, habit, inCode, inPages) => {
    expect(tooMany(product, habit, inCode)).toEqual([]);
    expect(tooMany(pages, habit, inPages)).toEqual([]);
  });
});
