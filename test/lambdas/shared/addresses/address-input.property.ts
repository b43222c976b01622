import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { readAddressInput } from '../../../../lambdas/shared/addresses/address-input.ts';
import { addressKey } from '../../../../lambdas/shared/addresses/address-key.ts';

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

describe('the input of a lookup', () => {
  it('is the same address however it is spaced, cased and padded', () => {
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

  it('is a valid address or at least one fault, whatever the query', () => {
    const parameter = fc.constantFrom('postcode', 'huisnummer', 'toevoeging', 'other');
    const query = fc
      .array(fc.tuple(parameter, fc.oneof(fc.string({ unit: 'binary' }), fc.string())))
      .map((pairs) => pairs.map(([name, value]) => `${name}=${value}`).join('&'));
    fc.assert(
      fc.property(query, (raw) => {
        const { request, faults } = readAddressInput(raw);
        if (request) expect(addressKey(request)).toMatch(/^[1-9][0-9]{3}[A-Z]{2}#[1-9][0-9]{0,4}#[0-9A-Z]{0,5}$/);
        else expect(new Set(faults.map(({ parameter }) => parameter)).size).toBe(Math.max(1, faults.length));
      }),
    );
  });
});
