import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { readAddressInput } from '../../../core/addresses/address-input.ts';
import { addressKey, isAddressKey } from '../../../core/addresses/address-key.ts';
import { faultCodes } from '../../../core/contract.ts';

const letter = fc.constantFrom(...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz');
const alphanumeric = fc.oneof(letter, fc.constantFrom(...'0123456789'));
const address = fc.record({
  postcode: fc.tuple(fc.integer({ min: 1000, max: 9999 }), letter, letter).map((parts) => parts.join('')),
  huisnummer: fc.integer({ min: 1, max: 99999 }),
  toevoeging: fc.string({ unit: alphanumeric, maxLength: 5 }),
});

/** The same text with spaces put in anywhere. */
function spaced(text: string) {
  return fc
    .array(fc.nat({ max: 2 }), { minLength: text.length + 1, maxLength: text.length + 1 })
    .map((spaces) => spaces.map((count, at) => ' '.repeat(count) + (text[at] ?? '')).join(''));
}

/** Values that are often nearly right. */
const value = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ unit: fc.constantFrom(...' 0123456789aAbBzZ-/.,+_&\tß\u00a0é１') }),
  fc.constantFrom('12A', '12-14', '147 ', '0', '-12', '000147', 'A-2', '2-hoog', 'tweehoog', 'a/b', '0123AB', '1012 J'),
);
const parameter = fc.constantFrom(
  'postcode',
  'huisnummer',
  'toevoeging',
  'other',
  'huisletter',
  'huisnummertoevoeging',
  'house_number',
  'number',
  'Toevoeging',
  'zipcode',
);
const query = fc
  .array(fc.tuple(parameter, value), { maxLength: 6 })
  .map((pairs) => pairs.map(([name, text]) => `${name}=${encodeURIComponent(text.toWellFormed())}`).join('&'));

describe('the input of a lookup', () => {
  it('is the same address with any spacing, letter case and leading zeros', () => {
    const spelling = address.chain(({ postcode, huisnummer, toevoeging }) =>
      fc.record({
        address: fc.constant({ postcode, huisnummer, toevoeging }),
        postcode: spaced(postcode),
        huisnummer: fc.integer({ min: String(huisnummer).length, max: 5 }).map((n) => `${huisnummer}`.padStart(n, '0')),
        toevoeging: spaced(toevoeging),
      }),
    );
    fc.assert(
      fc.property(spelling, ({ address, ...query }) => {
        const { request } = readAddressInput(new URLSearchParams(query).toString());
        expect(request).toEqual({
          postcode: address.postcode.toUpperCase(),
          huisnummer: address.huisnummer,
          toevoeging: address.toevoeging || null,
        });
      }),
    );
  });

  it('is a valid address or has documented error codes, for any query', () => {
    fc.assert(
      fc.property(query, (raw) => {
        const { request, faults } = readAddressInput(raw);
        if (request) {
          expect(isAddressKey(addressKey(request))).toBe(true);
          return;
        }
        expect(faults.length).toBeGreaterThan(0);
        expect(new Set(faults.map(({ parameter }) => parameter)).size).toBe(faults.length);
        for (const { code } of faults) expect(faultCodes).toContain(code);
      }),
      { numRuns: 1000 },
    );
  });

  it('is valid with the values that an error suggests', () => {
    fc.assert(
      fc.property(query, (raw) => {
        for (const { detail } of readAddressInput(raw).faults) {
          for (const [, name = '', value = ''] of detail.matchAll(/\b(postcode|huisnummer|toevoeging)=(\S*\w)/g)) {
            const corrected = new URLSearchParams({ postcode: '1381AA', huisnummer: '9', [name]: value });
            expect([detail, readAddressInput(String(corrected)).faults]).toEqual([detail, []]);
          }
        }
      }),
      { numRuns: 1000 },
    );
  });
});
