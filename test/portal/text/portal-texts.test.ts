import { describe, expect, it } from '@jest/globals';
import { languages } from '../../../core/languages.ts';
import { formatter, texts } from '../../../portal/text/portal-texts.ts';

/** `errors.notFound`, for every sentence. */
function keysOf(text: object, path = ''): string[] {
  return Object.entries(text).flatMap(([name, value]) =>
    typeof value === 'object' ? keysOf(value, `${path}${name}.`) : [`${path}${name}`],
  );
}

describe('the texts', () => {
  it.each(languages)('exist in each language, such as %s', (language) => {
    expect(keysOf(texts[language])).toEqual(keysOf(texts.en));
    expect(keysOf(texts[language]).length).toBeGreaterThan(100);
  });

  it.each([
    ['nl', 0, '0 accounts'],
    ['nl', 1, '1 adres'],
    ['nl', 2, '2 adressen'],
    ['nl', 1, '1 update wacht op goedkeuring'],
    ['nl', 1200, '1.200 updates wachten op goedkeuring'],
    ['en', 1, '1 address'],
    ['en', 21, '21 addresses'],
    ['en', 1, '1 load waits for approval'],
  ] as const)('say in %s for %d: %s', (language, count, words) => {
    const { counted } = texts[language];
    const names = Object.keys(counted) as (keyof typeof counted)[];
    expect(names.map((name) => formatter(language).count(count, name))).toContain(words);
    // A language with more forms than two needs more texts.
    expect(new Intl.PluralRules(language).resolvedOptions().pluralCategories).toEqual([
      'one',
      'other',
    ]);
  });

  it('write numbers and times as their language does, in Dutch time, which they name', () => {
    const nl = formatter('nl');
    const en = formatter('en');
    expect([nl.number(1234567), en.number(1234567)]).toEqual(['1.234.567', '1,234,567']);
    expect(nl.instant('2026-07-01T22:30:00Z')).toBe('2 jul 2026, 00:30 CEST');
    const ages = [-1, 0.9, 119, 120, 47.9 * 60, 48 * 60].map((minutes) => en.ago(minutes * 60_000));
    expect(ages.slice(0, 3)).toEqual(['0 minutes ago', '0 minutes ago', '119 minutes ago']);
    expect(ages.slice(3)).toEqual(['2 hours ago', '47 hours ago', '2 days ago']);
    expect(en.instant('2026-01-01T12:30:00Z')).toBe('1 Jan 2026, 13:30 CET');
  });
});
