import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  addressKey,
  addressText,
  isAddressKey,
  parseAddressKey,
} from '../../../core/addresses/address-key.ts';

const postcode = fc.stringMatching(/^[1-9][0-9]{3}[A-Z]{2}$/);
const huisnummer = fc.integer({ min: 1, max: 99_999 });
const huisletter = fc.stringMatching(/^[A-Za-z]?$/);
const huisnummertoevoeging = fc.stringMatching(/^[0-9A-Za-z]{0,4}$/);

describe('an address key', () => {
  it('parses to the address that it was built from, with its toevoeging in upper case', () => {
    fc.assert(
      fc.property(
        postcode,
        huisnummer,
        huisletter,
        huisnummertoevoeging,
        (postcode, huisnummer, letter, addition) => {
          const toevoeging = (letter + addition).toUpperCase() || null;
          const key = addressKey({ postcode, huisnummer, toevoeging: letter + addition });
          expect(isAddressKey(key)).toBe(true);
          expect(parseAddressKey(key)).toEqual({ postcode, huisnummer, toevoeging });
        },
      ),
    );
  });

  it.each([
    ['1381AA#9#A', '1381 AA 9 A'],
    ['1381AA#9#', '1381 AA 9'],
  ])('%s is written for people as %s', (key, text) => {
    expect(addressText(key)).toBe(text);
  });

  it('is no other text', () => {
    const texts = [
      '',
      '#dataset',
      '1381AA',
      '1381AA#9',
      '0381AA#9#',
      '1381AA#0#',
      '1381AA#09#',
      '1381AA#9#a',
    ];
    const more =
      '1381AA#9#ABCDEF 1381AA#9#A-1 1381AA#123456# 1381aa#9# 1381AAA#9# x1381AA#9# 1381AA#9##'.split(
        ' ',
      );
    for (const text of [...texts, ...more]) {
      expect([text, isAddressKey(text), parseAddressKey(text)]).toEqual([text, false, null]);
    }
  });
});
