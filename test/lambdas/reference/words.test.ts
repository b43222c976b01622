import { describe, expect, it } from '@jest/globals';
import { explanations } from '../../../lambdas/reference/explanations.ts';
import { descriptions, responseExamples } from '../../../lambdas/reference/openapi-document.ts';
import { dutch, english } from '../../../lambdas/reference/words.ts';

/** Each text of a record by its path, without what both languages have by nature. */
function texts(value: unknown, path = ''): [string, string][] {
  if (typeof value === 'string') return [[path, value]];
  return Object.entries(value as object).flatMap(([name, part]) => texts(part, `${path}/${name}`));
}

/** What is between backticks is the same in every language. */
function codeOf(text: string): string[] {
  return [...text.matchAll(/`([^`]+)`/g)].map(([, code]) => code ?? '').sort();
}

describe('the Dutch texts', () => {
  const pairs = [
    ['of the page', { ...english, ...descriptions() }, dutch],
    ['of the problems', explanations.en, explanations.nl],
  ] as const;

  it.each(pairs)('%s exist for each English text, and no others', (_name, first, second) => {
    const paths = (value: unknown) => texts(value).map(([path]) => path);
    expect(paths(second).sort()).toEqual(paths(first).sort());
  });

  it.each(pairs)('%s name the same code as the English ones', (_name, first, second) => {
    const translated = new Map(texts(second));
    for (const [path, text] of texts(first)) {
      expect([path, codeOf(translated.get(path) ?? '')]).toEqual([path, codeOf(text)]);
    }
  });
});

describe('the members that the page explains', () => {
  const membersOf = (operation: string) =>
    new Set(Object.values(responseExamples(operation, '200')).flatMap(({ value }) => Object.keys(value as object)));

  it('are those of the responses', () => {
    expect(new Set(Object.keys(english.members))).toEqual(membersOf('lookUpAddress'));
    expect(new Set(Object.keys(english.validationMembers))).toEqual(membersOf('validateKey'));
  });
});
