import { describe, expect, it } from '@jest/globals';
import { languageOf } from '../../../lambdas/reference/request.ts';

describe('the language of a page', () => {
  it.each([
    ['', undefined, 'en'],
    ['', 'nl', 'nl'],
    ['', 'nl-BE,nl;q=0.9,en;q=0.8', 'nl'],
    ['', 'en-GB,en;q=0.9,nl;q=0.8', 'en'],
    ['', 'fr, de;q=0.9, nl;q=0.5', 'nl'],
    ['', 'nl;q=0, en;q=0.1', 'en'],
    ['', 'nl;q=high', 'en'],
    ['', '*', 'en'],
    ['lang=nl', 'en', 'nl'],
    ['lang=NL', undefined, 'nl'],
    ['lang=en', 'nl', 'en'],
    ['lang=de', 'nl', 'nl'],
    ['lang=toString', undefined, 'en'],
  ])('for the query "%s" and Accept-Language %s is %s', (rawQueryString, acceptLanguage, language) => {
    const headers = acceptLanguage === undefined ? {} : { 'accept-language': acceptLanguage };
    expect(languageOf({ rawQueryString, headers })).toBe(language);
  });

  it.each([
    ['lang=en', 'en', ['nl'], 'nl'],
    ['', 'fr', ['nl', 'en'], 'nl'],
    ['', 'en', ['nl', 'en'], 'en'],
  ] as const)('for "%s" and Accept-Language %s, of %j, is %s', (rawQueryString, acceptLanguage, offered, language) => {
    expect(languageOf({ rawQueryString, headers: { 'accept-language': acceptLanguage } }, offered)).toBe(language);
  });
});
