import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { gemeenteOf, isKnownGemeente } from '../../core/gemeenten.ts';

describe('a gemeente', () => {
  it.each([
    ['0457', 'Weesp', 'Noord-Holland'],
    ['0820', 'Nuenen, Gerwen en Nederwetten', 'Noord-Brabant'],
    ['0106', 'Assen', 'Drenthe'],
    ['1900', 'Súdwest-Fryslân', 'Fryslân'],
    ['1992', 'Voorne aan Zee', 'Zuid-Holland'],
    ['9999', null, null],
    ['', null, null],
  ])('%s has the names %s and %s', (code, naam, provincie) => {
    expect(gemeenteOf(code)).toEqual({ code, naam, provincie });
    expect(isKnownGemeente(code)).toBe(naam !== null);
  });

  it('has a name of its own, and one of the twelve provincies', () => {
    const codes =
      readFileSync(new URL('../../core/gemeenten.ts', import.meta.url), 'utf8').match(
        /\b\d{4}(?= ['\p{L}])/gu,
      ) ?? [];
    expect(codes).toHaveLength(480);
    const found = codes.map(gemeenteOf);
    expect(new Set(found.map(({ code }) => code)).size).toBe(480);
    expect(new Set(found.map(({ provincie }) => provincie)).size).toBe(12);
    for (const { naam } of found) expect(naam).toMatch(/^[\p{L}'’][\p{L}'’(),. -]+[\p{L})]$/u);
  });
});
