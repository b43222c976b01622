import { describe, expect, it } from '@jest/globals';
import {
  checked,
  decide,
  type FieldValues,
  read,
} from '../../../../packages/form/source/address-in-fields.ts';

/** The parts that are read, and what is moved. */
function parts(postcode: string, huisnummer: string, toevoeging?: string) {
  const values =
    toevoeging === undefined ? { postcode, huisnummer } : { postcode, huisnummer, toevoeging };
  const { address, wrong } = read(values);
  if (!address) return wrong ?? 'nothing';
  const { parts, moves } = address;
  return [Object.values(parts).join(' ').trim(), ...moves.map((one) => one.join(' '))];
}

describe('what people type', () => {
  it.each([
    ['1381AA', '9', '1381AA 9'],
    [' 1381\u00a0aa ', '0009 ', '1381AA 9'],
    ['NL-1381AA', '9', '1381AA 9'],
    ['nl 1381 aa', '9', '1381AA 9'],
    ['1381-AA', '9', '1381AA 9'],
    ['1381AA', 'nr 7', '1381AA 7'],
    ['1381AA', 'nr.7', '1381AA 7'],
    ['1381AA', 'huisnummer 7', '1381AA 7'],
    ['1381AA', '#7', '1381AA 7'],
    ['１３８１ＡＡ', '１２', '1381AA 12'],
  ])('is read: %s and %s', (postcode, huisnummer, expected) => {
    const [address] = parts(tidied(postcode), tidied(huisnummer), '');
    expect(address).toBe(expected);
  });

  it.each([
    ['9 a', '1381AA 9 a', 'toevoeging a', 'huisnummer 9'],
    ['9-a', '1381AA 9 a', 'toevoeging a', 'huisnummer 9'],
    ['14 7', '1381AA 14 7', 'toevoeging 7', 'huisnummer 14'],
    ['147-2', '1381AA 147 2', 'toevoeging 2', 'huisnummer 147'],
    ['2-hoog', '1381AA 2 hoog', 'toevoeging hoog', 'huisnummer 2'],
  ])('moves the toevoeging first, then the number: %s', (huisnummer, ...expected) => {
    expect(parts('1381AA', huisnummer, '')).toEqual(expected);
  });

  it.each(['9½', '9²', '12A-12C', '7 t/m 9', 'A/B'].slice(0, 4))(
    'stays where it is and becomes no other number: %s',
    (huisnummer) => {
      const [address, ...moves] = parts('1381AA', huisnummer, '');
      const number = /^\d+/.exec(huisnummer)?.[0];
      expect([address?.split(' ')[1], moves]).toEqual([number, []]);
    },
  );

  it('moves a whole address out of the postcode', () => {
    expect(parts('1381 AA 9 a', '', '')).toEqual([
      '1381AA 9 a',
      'toevoeging a',
      'huisnummer 9',
      'postcode 1381AA',
    ]);
    expect(parts('1381AA, 9½', '', '')).toEqual(['1381AA 9 ½', 'huisnummer 9½', 'postcode 1381AA']);
    expect(parts('1381 AA 9 a', '')).toEqual(['1381AA 9 a', 'huisnummer 9 a', 'postcode 1381AA']);
  });

  it.each([
    ['1381', '9', '', 'postcode'],
    ['0381AA', '9', '', 'postcode'],
    ['1381AAB', '9', '', 'postcode'],
    ['1381AA Weesp', '9', '', 'postcode'],
    ['1381AA 12', '9', '', 'postcode'],
    ['1381AA', 'a', '', 'huisnummer'],
    ['1381AA', '100000', '', 'huisnummer'],
    ['1381AA', '0', '', 'huisnummer'],
    ['1381AA', '9 a', 'b', 'huisnummer'],
  ])('is wrong: %s, %s and %s', (postcode, huisnummer, toevoeging, wrong) => {
    expect(parts(postcode, huisnummer, toevoeging)).toBe(wrong);
  });
});

/** The element gives the values as `tidy` leaves them. */
function tidied(text: string) {
  return text.normalize('NFKC').trim();
}

const register = { straat: 'Straat', woonplaats: '' };

/** What is shown for fields with an answer about number 9. */
function shown(values: FieldValues, given: object) {
  const answer = checked(given);
  if (!answer) throw new Error('the answer is one');
  const query = 'postcode=1381AA&huisnummer=9&toevoeging=';
  return decide({
    values: { postcode: '1381AA', huisnummer: '9', toevoeging: '', straat: 'Straat', ...values },
    wrote: {},
    tried: new Set(),
    known: new Map([[query, answer]]),
    asking: new Set(),
    touched: true,
    isReady: true,
  });
}

const found = (place: object) => ({ status: 'ok', address: place, toevoegingen: [null] });

describe('a number that needs a toevoeging', () => {
  it.each([
    ['A, B', ['A', 'B']],
    ['A, B, C, D, E', ['A', 'B', 'C', 'D', 'E']],
    ['A, B, C, D, E, …', ['A', 'B', 'C', 'D', 'E', 'F']],
  ])('names the first five: %s', (named, toevoegingen) => {
    const { say, choices } = shown({ straat: '' }, { status: 'not_found', toevoegingen });
    expect(say).toEqual([['needsToevoeging', named]]);
    expect(choices?.map(({ label }) => label)).toEqual(toevoegingen);
  });
});

describe('a town', () => {
  it.each([
    ['Hengelo', 'Hengelo (Gld)'],
    ['Hengelo Gld', 'Hengelo (Gld)'],
    ['Hengelo (gld.)', 'Hengelo (Gld)'],
    ['Rijswijk ZH', 'Rijswijk'],
    ['Rijswijk', 'Rijswijk (NB)'],
    ['capelle a/d ijssel', 'Capelle aan den IJssel'],
    ['Capelle-aan-den-IJssel', 'Capelle aan den IJssel'],
    ['St. Oedenrode', 'Sint-Oedenrode'],
    ['St Annaparochie', 'Sint Annaparochie'],
    ['Den Haag', "'s-Gravenhage"],
    ['DEN BOSCH', "'s-Hertogenbosch"],
    ['s Gravenhage', "'s-Gravenhage"],
    ['Scharnegoutum', 'Scharnegoutum'],
  ])('is the same by the name that people use: %s is %s', (typed, woonplaats) => {
    expect(shown({ woonplaats: typed }, found({ ...register, woonplaats })).kind).toBe('ok');
  });

  it.each([
    ['Hengelo (Ov)', 'Hengelo (Gld)'],
    ['Bergen L', 'Bergen (NH)'],
    ['Utrecht', 'Weesp'],
    ['Den Ham', "'s-Gravenhage"],
  ])('is asked about alone if it is another: %s is not %s', (typed, woonplaats) => {
    const { kind, say, choices } = shown({ woonplaats: typed }, found({ ...register, woonplaats }));
    expect([kind, say]).toEqual(['ask', [['differs', woonplaats]]]);
    expect(choices?.[0]?.writes).toMatchObject([{ name: 'woonplaats', value: woonplaats }]);
  });

  it('that differs does not keep the street from being filled in', () => {
    const place = { straat: 'Straat', woonplaats: 'Weesp' };
    const { write } = shown({ straat: '', woonplaats: 'Utrecht' }, found(place));
    expect(write).toMatchObject({ name: 'straat', value: 'Straat' });
  });
});

describe('the answer of a route', () => {
  it.each([
    null,
    'ok',
    {},
    { status: 'toString' },
    { status: 'ok', address: null },
    { status: 'ok', address: { straat: 1, woonplaats: {} } },
    { status: 'ok', address: { straat: ' ', woonplaats: 'Weesp' } },
    { status: 'not_found', toevoegingen: 'A' },
    { status: 'ambiguous', candidates: [null] },
    { status: 'unavailable' },
  ])('is none: %j', (answer) => {
    expect(checked(answer)).toBeUndefined();
  });
});
