import { describe, expect, it } from '@jest/globals';
import { acceptedBy, preferredLanguage } from '../../../lambdas/reference/accept.ts';

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

describe('the language that a client prefers', () => {
  it.each([
    ['nl-BE,nl;q=0.9,en;q=0.8', 'nl'],
    ['fr, de;q=0.9, en;q=0.1, nl;q=0.5', 'nl'],
    ['fr, *', undefined],
    ['', undefined],
    [undefined, undefined],
  ])('by "%s" is %s of English and Dutch', (header, language) => {
    expect(preferredLanguage(['en', 'nl'], header)).toBe(language);
  });
});
