import { describe, expect, it } from '@jest/globals';
import { languages } from '../../../../core/languages.ts';
import { availableIncludes } from '../../../../core/place-fields.ts';
import { OpenApi } from '../../../../packages/reference/openapi-document.ts';
import { textsIn } from '../../../../packages/reference/text/texts.ts';

/** Each text of a record by its path, without what both languages have by nature. */
function texts(value: unknown, path = ''): [string, string][] {
  if (typeof value === 'string') return [[path, value]];
  return Object.entries(value as object).flatMap(([name, part]) => texts(part, `${path}/${name}`));
}

/** What is between backticks is the same in every language. */
function codeOf(text: string): string[] {
  return [...text.matchAll(/`([^`]+)`/g)].map(([, code]) => code ?? '').sort();
}

const available = availableIncludes(true);
const api = new OpenApi(available);

describe.each(languages)('the texts in %s', (language) => {
  const english = texts({ ...api.descriptions(), ...textsIn('en', available) });
  const translated = texts({ ...api.descriptions(), ...textsIn(language, available) });

  it('exist for each English text, and no others', () => {
    const paths = (of: [string, string][]) => of.map(([path]) => path).sort();
    expect(paths(translated)).toEqual(paths(english));
  });

  it('name the same code as the English ones', () => {
    const others = new Map(translated);
    for (const [path, text] of english) {
      expect([path, codeOf(others.get(path) ?? '')]).toEqual([path, codeOf(text)]);
    }
  });
});
