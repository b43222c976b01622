import { describe, expect, it } from '@jest/globals';
import { formatter, languageFor, texts } from '../../../portal/text/format.ts';

/** `errors.notFound`, for every sentence. */
function keysOf(text: object, path = ''): string[] {
  return Object.entries(text).flatMap(([name, value]) =>
    typeof value === 'object' ? keysOf(value, `${path}${name}.`) : [`${path}${name}`],
  );
}

describe('the texts', () => {
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

  it('write numbers and times as their language does, in Dutch time', () => {
    const [nl, en] = [formatter('nl'), formatter('en')];
    expect([nl.number(1234567), en.number(1234567)]).toEqual(['1.234.567', '1,234,567']);
    expect(nl.instant('2026-07-01T22:30:00Z')).toMatch(/2 jul 2026.*00:30/);
    expect(en.instant('2026-01-01T12:30:00Z')).toMatch(/1 Jan 2026.*13:30/);
  });
});
