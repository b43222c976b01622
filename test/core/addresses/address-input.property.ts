import assert from 'node:assert/strict';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { readAddressInput } from '../../../core/addresses/address-input.ts';
import { addressKey, isAddressKey } from '../../../core/addresses/address-key.ts';
import { queryFaults } from '../../../core/addresses/input-faults.ts';
import { faultCodes, type InputFault } from '../../../core/contract.ts';
import { anyCharacter } from '../../support/any-character.ts';
import { isFullSweep } from '../../support/sweep.ts';

const letter = fc.constantFrom(...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz');
const alphanumeric = fc.oneof(letter, fc.constantFrom(...'0123456789'));
const address = fc.record({
  postcode: fc
    .tuple(fc.integer({ min: 1000, max: 9999 }), letter, letter)
    .map((parts) => parts.join('')),
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
  fc.string({ unit: anyCharacter }),
  fc.string({ unit: fc.constantFrom(...' 0123456789aAbBzZ-/.,+_&\tß\u00a0é１') }),
  fc.constantFrom(
    ...'12A,12-14,147 ,0,-12,000147,A-2,2-hoog,tweehoog,a/b,0123AB,1012 J,1012 JS,1012JS'.split(
      ',',
    ),
    '１０１２ＪＳ',
    '12ﬁ',
    '12½',
  ),
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
  'toevoging',
  'huisnumer',
  'Postcode',
  'zipcode',
);
const query = fc
  .array(fc.tuple(parameter, value), { maxLength: 6 })
  .map((pairs) =>
    pairs.map(([name, text]) => `${name}=${encodeURIComponent(text.toWellFormed())}`).join('&'),
  );

describe('the input of a lookup', () => {
  it('is the same address with any spacing, letter case and leading zeros', () => {
    const spelling = address.chain(({ postcode, huisnummer, toevoeging }) =>
      fc.record({
        address: fc.constant({ postcode, huisnummer, toevoeging }),
        postcode: spaced(postcode),
        huisnummer: fc
          .integer({ min: String(huisnummer).length, max: 5 })
          .map((n) => `${huisnummer}`.padStart(n, '0')),
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
        const { request } = readAddressInput(raw);
        const faults = faultsOf(raw);
        if (request) {
          expect(isAddressKey(addressKey(request))).toBe(true);
          return;
        }
        expect(faults.length).toBeGreaterThan(0);
        expect(new Set(faults.map(({ parameter }) => parameter)).size).toBe(faults.length);
        for (const { code } of faults) expect(faultCodes).toContain(code);
      }),
      { numRuns: isFullSweep ? 1000 : 300 },
    );
  });

  it('has no longer a fault whose suggestion is sent, and no new one', () => {
    fc.assert(
      fc.property(query, (raw) => {
        const faults = faultsOf(raw);
        for (const fault of faults.filter(({ suggestion }) => suggestion)) {
          const others = faults.filter(({ parameter }) => parameter !== fault.parameter);
          const left = faultsOf(corrected(raw, [fault])).map(
            ({ parameter, code }) => `${parameter} ${code}`,
          );
          expect([
            raw,
            left.filter((one) => !others.some((other) => one.startsWith(`${other.parameter} `))),
          ]).toEqual([raw, []]);
        }
      }),
      { numRuns: isFullSweep ? 2000 : 500 },
    );
  });

  it('is the address that was meant when the suggestions are sent, however it was written', () => {
    const written = fc.record({
      address: address
        .map((one) => ({
          ...one,
          postcode: one.postcode.toUpperCase(),
          toevoeging: `b${one.toevoeging}`,
        }))
        // Such as `12b12c` and `12btm5`, which may be several addresses.
        .filter(
          ({ huisnummer, toevoeging }) =>
            !new RegExp(`${huisnummer}|tm|to|en|and|of|or`, 'i').test(toevoeging),
        ),
      separator: fc.constantFrom('', ' ', '-', ' - ', '\u00a0', '\t', '/'),
      names: fc.constantFrom(
        ['postcode', 'huisnummer', 'toevoeging'],
        ['Postcode', 'huisnumer', 'toevoging'],
      ),
      isOneText: fc.boolean(),
    });
    fc.assert(
      fc.property(written, ({ address, separator, names, isOneText }) => {
        const { postcode, huisnummer, toevoeging: long } = address;
        const toevoeging = long.slice(0, 5);
        const values = isOneText
          ? [postcode, `${huisnummer}${separator}${toevoeging}`]
          : [
              `${postcode.slice(0, 4)}${separator}${postcode.slice(4)}`,
              `${huisnummer}`,
              `${separator}${toevoeging}`,
            ];
        const raw = String(
          new URLSearchParams(
            values.map((value, index): [string, string] => [names[index] ?? '', value]),
          ),
        );
        expect(readAddressInput(corrected(raw, faultsOf(raw))).request).toEqual({
          postcode,
          huisnummer,
          toevoeging,
        });
      }),
    );
  });

  it('has no suggestion for a range or a list of addresses, in one parameter or two', () => {
    const number = fc.integer({ min: 1, max: 99999 });
    const single = fc.constantFrom(...'aBcXz');
    const between = fc.constantFrom(
      ...'-|–| - |/| / | t/m | tm | tot | en | of |, | & |; '.split('|'),
    );
    const several = fc
      .record({
        from: number,
        letter: single,
        between,
        to: fc.option(number),
        end: single,
        isOneText: fc.boolean(),
      })
      .map(({ from, letter, between, to, end, isOneText }) => {
        const rest = `${letter}${between}${to ?? ''}${end}`;
        return isOneText
          ? { huisnummer: `${from}${rest}`, toevoeging: '' }
          : { huisnummer: `${from}`, toevoeging: rest };
      });
    fc.assert(
      fc.property(several, (sent) => {
        const faults = faultsOf(String(new URLSearchParams({ postcode: '1012RJ', ...sent })));
        expect([sent, faults.flatMap(({ suggestion }) => suggestion ?? [])]).toEqual([sent, []]);
      }),
    );
  });

  it('is valid when every fault has a suggestion and all are sent, in any order', () => {
    fc.assert(
      fc.property(query, (raw) => {
        const faults = faultsOf(raw);
        if (faults.some(({ suggestion }) => !suggestion)) return;
        const { request } = readAddressInput(corrected(raw, faults));
        expect([raw, request]).toEqual([raw, expect.anything()]);
        expect(readAddressInput(corrected(raw, faults.toReversed())).request).toEqual(request);
      }),
      { numRuns: isFullSweep ? 2000 : 500 },
    );
  });

  it('never gets a suggestion that the detail does not say', () => {
    fc.assert(
      fc.property(query, (raw) => {
        for (const { detail, suggestion } of faultsOf(raw)) {
          for (const [name, value] of Object.entries(suggestion ?? {})) {
            expect(detail).toContain(value === '' ? `no ${name}` : `${name}=${value}`);
          }
        }
      }),
    );
  });
});

/** Nothing that is valid has a fault, and nothing else has none. */
function faultsOf(raw: string): InputFault[] {
  const { faults } = queryFaults(raw);
  assert.equal(faults.length > 0, readAddressInput(raw).request === null);
  return faults;
}

/** The query with what the faults suggest in place of the parameters at fault. */
function corrected(raw: string, faults: InputFault[]): string {
  const query = new URLSearchParams(raw);
  for (const { parameter } of faults) query.delete(parameter);
  for (const { suggestion } of faults) {
    for (const [name, value] of Object.entries(suggestion ?? {})) query.set(name, value);
  }
  return String(query);
}
