import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { lookupAnswer } from '../../../core/addresses/lookup-answer.ts';
import { gemeenteOf } from '../../../core/gemeenten.ts';
import { comparePlaces, includeNames, type Place } from '../../../core/place-fields.ts';

const id = fc
  .integer({ min: 1, max: 999_999 })
  .map((number) => `0457200000${String(number).padStart(6, '0')}`);
const place: fc.Arbitrary<Place> = fc
  .record({
    straat: fc.constantFrom('Buitenveer', 'Kerkstraat'),
    woonplaats: fc.constantFrom('Weesp', 'Muiden'),
    gemeente: fc.constantFrom('0457', '0363', '9999', undefined),
    nummeraanduidingen: fc.uniqueArray(id, { minLength: 1, maxLength: 3 }).map((ids) => ids.sort()),
  })
  .map(({ gemeente, ...rest }) => (gemeente === undefined ? rest : { ...rest, gemeente }));
/** As they are stored: each street, woonplaats and gemeente once. */
const stored = fc
  .uniqueArray(place, {
    minLength: 1,
    selector: (one) => JSON.stringify({ ...one, nummeraanduidingen: 0 }),
  })
  .map((places) => places.sort(comparePlaces));

const request = { postcode: '1381AA', huisnummer: 9, toevoeging: null };
const answerOf = (places: Place[], include: Parameters<typeof lookupAnswer>[1]) =>
  lookupAnswer(request, include, { address: { key: '1381AA#9#', places }, bare: undefined });

describe('the outcome of a lookup', () => {
  it('has each street and woonplaats once, and is the same with any include', () => {
    fc.assert(
      fc.property(stored, fc.subarray([...includeNames]), (places, include) => {
        const names = new Set(places.map(({ straat, woonplaats }) => `${woonplaats}, ${straat}`));
        const { status, address, candidates } = answerOf(places, include);
        expect(status).toBe(names.size === 1 ? 'ok' : 'ambiguous');
        const found = address ? [address] : candidates;
        expect(found.map(({ straat, woonplaats }) => `${woonplaats}, ${straat}`)).toEqual(
          [...names].sort(),
        );
        for (const one of found) {
          const members = includeNames.filter(
            (name) => name !== 'toevoegingen' && include.includes(name),
          );
          expect(Object.keys(one)).toEqual(['straat', 'woonplaats', ...members]);
        }
      }),
    );
  });

  it('has the gemeente and all ids of a place, and no gemeente where it may be one of two', () => {
    fc.assert(
      fc.property(stored, (places) => {
        const { address, candidates } = answerOf(places, ['gemeente', 'nummeraanduidingen']);
        for (const { straat, woonplaats, gemeente, nummeraanduidingen } of address
          ? [address]
          : candidates) {
          const same = places.filter(
            (one) => one.straat === straat && one.woonplaats === woonplaats,
          );
          const [code, ...others] = new Set(same.map((one) => one.gemeente));
          expect(gemeente).toEqual(
            code === undefined || others.length > 0 ? null : gemeenteOf(code),
          );
          expect(nummeraanduidingen).toEqual(
            same.flatMap((one) => one.nummeraanduidingen ?? []).sort(),
          );
        }
      }),
    );
  });
});
