import { describe, expect, it } from '@jest/globals';
import { readableOn, styleSheet } from '../../../lambdas/portal/layout.ts';
import { formatter, preferredLanguage, texts } from '../../../lambdas/portal/text/format.ts';
import { identityOf, isOperator } from '../../../lambdas/portal/visit/sign-in.ts';

/** `errors.notFound`, for every sentence. */
function keysOf(text: object, path = ''): string[] {
  return Object.entries(text).flatMap(([name, value]) =>
    typeof value === 'object' ? keysOf(value, `${path}${name}.`) : [`${path}${name}`],
  );
}

describe('the texts', () => {
  it('are there in both languages, each of them', () => {
    expect(keysOf(texts.nl)).toEqual(keysOf(texts.en));
    expect(keysOf(texts.nl).length).toBeGreaterThan(100);
  });

  it.each([
    ['nl', undefined, 'nl'],
    ['en-US,en;q=0.9', undefined, 'en'],
    ['de, en;q=0.5, nl;q=0.8', undefined, 'nl'],
    ['fr', undefined, 'nl'],
    ['en;q=0', undefined, 'nl'],
    [undefined, undefined, 'nl'],
    ['nl', 'en', 'en'],
    ['en', 'xx', 'en'],
  ])('are in the language that a browser asks for, %s, unless one was chosen, %s: %s', (accept, chosen, language) => {
    expect(preferredLanguage(chosen, accept)).toBe(language);
  });

  it('write numbers and times as their language does, in Dutch time', () => {
    const [nl, en] = [formatter('nl'), formatter('en')];
    expect([nl.number(1234567), en.number(1234567)]).toEqual(['1.234.567', '1,234,567']);
    expect(nl.instant('2026-07-01T22:30:00Z')).toMatch(/2 jul 2026.*00:30/);
    expect(en.instant('2026-01-01T12:30:00Z')).toMatch(/1 Jan 2026.*13:30/);
  });
});

describe('the colour of the company', () => {
  it.each(['#000000', '#ffffff', '#ffd400', '#0b4f8a', '#777777', '#00ff00', '#c01010', '#767676'])(
    'has text on it that can be read: %s',
    (colour) => {
      expect(contrast(colour, readableOn(colour))).toBeGreaterThanOrEqual(4.5);
      expect(styleSheet(colour)).toContain(`--brand:${colour};--on-brand:${readableOn(colour)}`);
    },
  );
});

function contrast(one: string, other: string): number {
  const luminance = (colour: string) => {
    const channel = (at: number) => {
      const value = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
      return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
    };
    return 0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5);
  };
  const [dark = 0, light = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
}

describe('somebody who signed in', () => {
  const settings = { operators: ['olaf@example.nl'], operatorClaim: { name: 'groups', value: 'ops' } };

  it.each([
    [
      'has no e-mail address that is not verified',
      { email: 'olaf@example.nl', email_verified: false },
      false,
      undefined,
    ],
    ['has no e-mail address that nobody vouches for', { email: 'olaf@example.nl' }, false, undefined],
    [
      'is an operator by a verified e-mail address',
      { email: 'Olaf@Example.nl', email_verified: true },
      true,
      'olaf@example.nl',
    ],
    ['is an operator by one of the values of a claim', { groups: ['staff', 'ops'] }, true, undefined],
    ['is an operator by the value of a claim', { groups: 'ops' }, true, undefined],
    ['is no operator by part of a value', { groups: 'ops-readers' }, false, undefined],
  ])('%s', (_, claims, operator, email) => {
    const identity = identityOf({ sub: '1', ...claims }, settings);
    expect([isOperator(identity, settings), identity.email, identity.subject]).toEqual([operator, email, 'sub:1']);
  });
});
