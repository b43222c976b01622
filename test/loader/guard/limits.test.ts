import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import {
  allowedBy,
  columns,
  type Limit,
  limitOf,
  type Most,
  oneChange,
  sizeNames,
  streetLimit,
} from '../../../loader/guard/limits.ts';
import { loadDefaults } from '../../../loader/names.ts';

const page = readFileSync(new URL('../../../docs/loading.md', import.meta.url), 'utf8');
const grouped = (number: number) => number.toLocaleString('en');

/** `5%, and 10`. */
function text({ share, number }: Most, of: Limit['of'] = 'addresses'): string {
  if (share === 0) return grouped(number);
  const among = of === 'addresses' ? '' : ` of ${sizeNames[of]}`;
  return `${Number((share * 100).toFixed(2))}%${among}, and ${grouped(number)}`;
}

/** The row of a column in the docs. */
function row({ code, what, of, total, place, also }: Limit): string {
  const totals = [text(total, of), ...(also ? [text(also.total, also.of)] : [])].join('; ');
  return `| ${what} | \`${code}\` | ${totals} | ${place ? text(place) : ''} |`;
}

describe('the limits of the guard', () => {
  it('are those of the docs, one row for each column', () => {
    const rows = page.split('\n').filter((line) => line.includes('| `too_many_'));
    expect(rows).toEqual(columns.map((column) => row(limitOf(column))));
  });

  it('on names, streets and days are those of the docs too', () => {
    const { woonplaatsen, addressesOfWoonplaatsen, addressesOfStreets } = oneChange;
    const promised = [
      `at least ${oneChange.renamedFrom * 100}% of its addresses`,
      `at most ${woonplaatsen.share * 100}% of the woonplaatsen, or ${woonplaatsen.number}`,
      `${addressesOfWoonplaatsen.share * 100}% of the addresses`,
      `${oneChange.streetsInWoonplaats} streets of a woonplaats`,
      `${addressesOfStreets.share * 100}% of the addresses or ${grouped(addressesOfStreets.number)}`,
      `at most ${oneChange.gemeenten} gemeenten, or ${oneChange.addressesOfGemeenten.share * 100}% of the addresses`,
      `more than ${streetLimit.number} addresses of one street`,
    ];
    const said = page.replace(/\s+/g, ' ').toLowerCase();
    expect(promised.filter((one) => !said.includes(one))).toEqual([]);
  });

  it('follow the thresholds of a deployment, and are twice the number in a gemeente', () => {
    const { guard } = loadDefaults;
    const thresholds = { ...guard, maximumShare: 0.2, maximumPlaceShare: 0.04 };
    const { total, place } = limitOf('removed');
    expect(allowedBy(total, thresholds, 'total')).toEqual({ share: 0.2, number: 10 });
    expect(allowedBy(place as Most, thresholds, 'place')).toEqual({ share: 0.04, number: 250 });
    expect(allowedBy(place as Most, guard, 'gemeente')).toEqual({ share: 0.02, number: 500 });
    expect(allowedBy(total, { ...guard, maximumShare: 1 }, 'total').share).toBe(1);
    const fixed = limitOf('lettersLost').total;
    expect(allowedBy(fixed, thresholds, 'total')).toEqual({ share: 0.5, number: 10 });
    const strict = { ...guard, alwaysAllowed: 0, alwaysAllowedInPlace: 100 };
    expect(allowedBy(total, strict, 'total').number).toBe(0);
    expect(allowedBy(place as Most, strict, 'place').number).toBe(100);
  });
});
