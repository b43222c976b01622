import { describe, expect, it } from '@jest/globals';
import { pageLanguages } from '../../../lambdas/reference/request.ts';
import { branding } from '../../../lib/config/fields.ts';
import { formatter, languageFor, languages, texts } from '../../../portal/text/format.ts';

/** `errors.notFound`, for every sentence. */
function keysOf(text: object, path = ''): string[] {
  return Object.entries(text).flatMap(([name, value]) =>
    typeof value === 'object' ? keysOf(value, `${path}${name}.`) : [`${path}${name}`],
  );
}

describe('the texts', () => {
  it('exist in each language that the configuration and the reference know', () => {
    expect([...languages].sort()).toEqual([...pageLanguages].sort());
    for (const code of languages) expect(branding.safeParse({ languages: [code] }).success).toBe(true);
    for (const wrong of [[], ['xx'], ['nl', 'nl']])
      expect(branding.safeParse({ languages: wrong }).success).toBe(false);
  });

  it('exist in both languages', () => {
    expect(keysOf(texts.nl)).toEqual(keysOf(texts.en));
    expect(keysOf(texts.nl).length).toBeGreaterThan(100);
  });

  it.each([
    ['nl', undefined, 'nl'],
    ['en-US,en;q=0.9', undefined, 'en'],
    ['eo, en;q=0.5, nl;q=0.8', undefined, 'nl'],
    ['fr', undefined, 'nl'],
    ['en;q=0', undefined, 'nl'],
    [undefined, undefined, 'nl'],
    ['nl', 'en', 'en'],
    ['en', 'xx', 'en'],
  ])("are in the browser's language, %s, unless one was chosen, %s: %s", (accept, chosen, language) => {
    expect(languageFor(chosen, accept)).toBe(language);
  });

  it.each([
    ['en', undefined, ['nl'], 'nl'],
    ['nl', 'en', ['nl'], 'nl'],
    ['fr', undefined, ['en', 'nl'], 'en'],
    ['nl', undefined, ['en', 'nl'], 'nl'],
  ] as const)(
    'are in a language that the operator offers: for %s, chosen %s, of %j: %s',
    (accept, chosen, offered, language) => {
      expect(languageFor(chosen, accept, offered)).toBe(language);
    },
  );

  it('write numbers and times as their language does, in Dutch time', () => {
    const [nl, en] = [formatter('nl'), formatter('en')];
    expect([nl.number(1234567), en.number(1234567)]).toEqual(['1.234.567', '1,234,567']);
    expect(nl.instant('2026-07-01T22:30:00Z')).toMatch(/2 jul 2026.*00:30/);
    expect(en.instant('2026-01-01T12:30:00Z')).toMatch(/1 Jan 2026.*13:30/);
  });
});
