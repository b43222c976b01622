import { describe, expect, it } from '@jest/globals';
import { branding } from '../../../lib/config/setting-fields.ts';
import { acceptedBy, languageFor } from '../../../packages/ui/language.ts';

describe('what a client accepts', () => {
  it.each([
    ['gzip', ['gzip']],
    ['br;q=0.5, GZIP', ['gzip', 'br']],
    ['gzip;q=0, br', ['br']],
    ['gzip ; q=high, br', ['br']],
    ['gzip;level=9;q=0.1, br;q=0.2', ['br', 'gzip']],
    ['a, b, c', ['a', 'b', 'c']],
    ['gzip;q=1, br', ['gzip', 'br']],
    ['gzip;q=', ['gzip']],
    [';q=1,,', ['', '', '']],
  ])('by "%s" is, in order of preference, %j', (header, names) => {
    expect(acceptedBy(header)).toEqual(names);
  });
});

describe('the language of a page', () => {
  it.each([
    [undefined, undefined, undefined, 'en'],
    [null, 'nl', undefined, 'nl'],
    ['', 'nl-BE,nl;q=0.9,en;q=0.8', undefined, 'nl'],
    ['', 'tlh, x-elvish;q=0.9, en;q=0.1, nl;q=0.5', undefined, 'nl'],
    ['', 'nl;q=0, en;q=0.1', undefined, 'en'],
    ['', 'nl;q=high', undefined, 'en'],
    ['', 'tlh, *', undefined, 'en'],
    ['nl', 'en', undefined, 'nl'],
    ['NL', undefined, undefined, 'nl'],
    ['NL-be', 'en', undefined, 'nl'],
    ['', 'NL-BE', undefined, 'nl'],
    ['xx', 'nl', undefined, 'nl'],
    ['toString', undefined, undefined, 'en'],
    ['en', 'en', ['nl'], 'nl'],
    ['', 'tlh', ['nl', 'en'], 'nl'],
    ['', 'en', ['nl', 'en'], 'en'],
  ] as const)(
    'that somebody chose as %j, with Accept-Language %j, of %j on offer, is %s',
    (chosen, accept, offered, language) => {
      expect(languageFor(chosen, accept, offered, 'en')).toBe(language);
    },
  );

  it('can be offered by the configuration, each once', () => {
    for (const offered of [['nl'], ['en', 'nl']]) {
      expect(branding.safeParse({ languages: offered }).success).toBe(true);
    }
    for (const wrong of [[], ['xx'], ['nl', 'nl']]) {
      expect(branding.safeParse({ languages: wrong }).success).toBe(false);
    }
  });
});
