import { globSync, readFileSync } from 'node:fs';
import { normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** A test by its titles: those of the groups around it, from the outermost, and its own. */
type Titles = { file: string; groups: string[]; own: string };

/** The titles in a test file. The indentation, which the formatter holds, says what is in which group. */
function titlesOf(file: string): Titles[] {
  const groups: { indent: number; title: string }[] = [];
  // `describe('...'`, `it.each(...)('...'`, and the `])('...'` that ends a table.
  const form = /^( *)(?:(describe|it|test)(?:\.[\w.]+)?(?:\(.*\))?|\]?\))\((['"`])((?:\\.|(?!\3).)+)\3,/;
  let table = { indent: -1, kind: '' };
  const text = readFileSync(`${root}/${file}`, 'utf8').replaceAll(/\(\n\s*(?=['"`])/g, '(');
  // `const given = sample ? describe : describe.skip`, or the same in brackets.
  const [, alias = 'describe'] = /^const (\w+) = .*\? describe/m.exec(text) ?? [];
  const conditional = new RegExp(`^(?:${alias}|\\(.*\\? describe.*\\))\\((.+), \\(\\) => \\{$`);
  return text.split('\n').flatMap((line) => {
    const [, given] = conditional.exec(line) ?? [];
    if (given !== undefined) {
      groups.splice(0, groups.length, { indent: 0, title: given.replaceAll(/['"`]/g, '') });
      return [];
    }
    const [, space = '', opening] = /^( *)(describe|it|test)\.each\b/.exec(line) ?? [];
    if (opening !== undefined) table = { indent: space.length, kind: opening };
    const [, indentation = '', named, , title = ''] = form.exec(line) ?? [];
    const indent = indentation.length;
    const kind = named ?? (table.indent === indent ? table.kind : undefined);
    if (title === '' || kind === undefined) return [];
    while ((groups.at(-1)?.indent ?? -1) >= indent) groups.pop();
    if (kind !== 'describe') return [{ file, groups: groups.map((group) => group.title), own: title }];
    groups.push({ indent, title });
    return [];
  });
}

const tests = globSync('test/**/*.{test,property,fuzz}.ts', { cwd: root }).map(normalize).sort().flatMap(titlesOf);
/** Verbs that are no nouns as well, so that a title that begins with one has its subject elsewhere. */
const verbs =
  'returns|refuses|emits|holds|admits|sorts|matches|paces|keeps|leaves|gives|adds|includes|reads|writes|throws|fails|serves|accepts|' +
  'rejects|ignores|uses|makes|stops|starts|waits|finds|applies|deletes|creates|removes|prints|sends|takes|tells|says|calls|begins';
const predicate = /^(is|are|was|were|has|have|does|do|can|can't|may|must|never)\b/;
const sentence = ({ file, groups, own }: Titles) => `${file}: ${[...groups, own].join(' | ')}`;

describe('the titles of a test', () => {
  it('are found in every folder of tests', () => {
    expect(tests.length).toBeGreaterThan(1_700);
    expect(tests.filter(({ own }) => predicate.test(own)).length).toBeGreaterThan(500);
  });

  it('are a sentence: one that begins with a verb has its subject in the group around it', () => {
    const verb = new RegExp(`${predicate.source}|^(${verbs})\\b`);
    const subjectless = tests.filter(({ groups, own }) => verb.test(own) && groups.length === 0);
    expect(subjectless.map(sentence)).toEqual([]);
  });

  it('name the subject first: a group on the outside is a noun, not a verb or a condition', () => {
    const condition = /^(when|if|while|after|before|with|without|in|on|at|by|of|for|from|to)\b/;
    const wrong = tests.filter(({ groups: [outer = ''], own }) => {
      return predicate.test(own) && (predicate.test(outer) || condition.test(outer));
    });
    expect(wrong.map(sentence)).toEqual([]);
  });

  it('agree: one thing is or has, several are or have', () => {
    const wrong = tests.filter(({ groups, own }) => {
      const isOne = /^(a|an|one|each|every)\b(?!.*\b(and|or)\b)/.test(groups.at(-1) ?? '');
      return isOne && /^(are|were|have|do)\b/.test(own);
    });
    expect(wrong.map(sentence)).toEqual([]);
  });
});
