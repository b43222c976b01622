import { describe, expect, it } from '@jest/globals';
import { parameterNames } from '../../../core/addresses/address-input.ts';
import { type Meaning, meaningOf } from '../../../core/addresses/parameter-names.ts';

const alphabet = [...'abcdefghijklmnopqrstuvwxyz'];

/** Every text that one edit makes of a word. */
function edited(word: string): string[] {
  return Array.from({ length: word.length + 1 }, (_, at) => {
    const before = word.slice(0, at);
    const after = word.slice(at);
    return [
      before + after.slice(1),
      before + after.slice(1, 2) + after.slice(0, 1) + after.slice(2),
      ...alphabet.flatMap((letter) => [before + letter + after, before + letter + after.slice(1)]),
    ];
  }).flat();
}

/** Names of address APIs by what they mean, and spellings of ours. */
const meant: [Meaning, string][] = [
  [
    'postcode',
    'postalCode zip-code zip pc6 pc p_code POSTCODE pöstcode ｐｏｓｔｃｏｄｅ postcodes',
  ],
  [
    'huisnummer',
    'huisnr hnr huis_nlt nummer nr house_number houseNr house-no huisno streetNr straatnr number street_number ' +
      'StreetNumberAndPremise doorNumber huis_nummer huisnummers HuisNummer[] houseNumber',
  ],
  [
    'huisletter',
    'huisletter huis_letters hl huisnummerletter house.letter house_number_letter letter huis.letter huis<letter>',
  ],
  [
    'huisnummertoevoeging',
    'toevoegsel toev toevoeg huistoevoeging huisnummertoevoeging huisnummer_toevoegingen huisnummerToevoegsel ' +
      'huisnummer_toev huisnr_toevoeging huisnr_toev hnr_toevoeging hnr_toev huisnummer_ext huisnr_ext nummertoevoeging ' +
      'addition numberAddition numberAdd number_ext additionNumber houseNumberAddition houseNumberAdd house_nr_addition ' +
      'houseAddition house-number-addition houseNumberSuffix number_suffix suffix houseNumberExtension houseNumberExt ' +
      'numberExtension extension ext premise sub_premise subAddress box boxNumber unit unit_number apartment ' +
      'apartmentNumber appartement apt flat flatNumber suite floor etage verdieping bus busNr busnummer',
  ],
  ['toevoeging', 'toevoeging\u00a0 \ufefftoevoeging toevoegingen toevoeging[0][value]'],
  ['include', 'Include includes exclude'],
].flatMap(([meaning = '', names = '']) =>
  names.split(' ').map((name): [Meaning, string] => [meaning as Meaning, name]),
);

const meaningless = [
  '_',
  'utm_source',
  'gclid',
  'callback',
  'jsonp',
  't',
  'v',
  'code',
  'format',
  'lang',
  'limit',
  'page',
  'fields',
  'expand',
  'ref',
  'key',
  'token',
  'api-version',
  'exacteMatch',
  'straat',
  'street',
  'city',
  'woonplaats',
  'gemeente',
  'country',
  'customer_id',
  'order',
  'session',
  'address',
  'fq',
  'q',
  '',
  'x'.repeat(5000),
];

describe('the name of a parameter', () => {
  it.each(parameterNames)('means %s with up to two edits', (own) => {
    expect(meaningOf(own)).toBe(own);
    const once = edited(own);
    const twice = once.filter((_, index) => index % 50 === 0).flatMap(edited);
    expect([...once, ...twice].filter((name) => meaningOf(name) !== own)).toEqual([]);
  });

  it('means what other APIs mean by it, whatever its spelling, and otherwise nothing', () => {
    expect(meant.map(([, name]) => [meaningOf(name), name])).toEqual(meant);
    for (const name of meaningless) expect([name, meaningOf(name)]).toEqual([name, null]);
  });
});
