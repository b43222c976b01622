import { describe, expect, it } from '@jest/globals';
import { meaningOf, otherNames, ownNames } from '../../../core/addresses/parameter-names.ts';

const alphabet = [...'abcdefghijklmnopqrstuvwxyz'];

/** Every text that one edit makes of a word. */
function edited(word: string): string[] {
  return Array.from({ length: word.length + 1 }, (_, at) => {
    const [before, after] = [word.slice(0, at), word.slice(at)];
    return [
      before + after.slice(1),
      before + after.slice(1, 2) + after.slice(0, 1) + after.slice(2),
      ...alphabet.flatMap((letter) => [before + letter + after, before + letter + after.slice(1)]),
    ];
  }).flat();
}

describe('the name of a parameter', () => {
  it.each(ownNames)('means %s with up to two edits', (own) => {
    expect(meaningOf(own)).toBe(own);
    const once = edited(own);
    const twice = once.filter((_, index) => index % 50 === 0).flatMap(edited);
    expect([...once, ...twice].filter((name) => meaningOf(name) !== own)).toEqual([]);
  });

  it.each([
    ['POSTCODE', 'postcode'],
    ['post code', 'postcode'],
    ['post-code', 'postcode'],
    ['pöstcode', 'postcode'],
    ['ｐｏｓｔｃｏｄｅ', 'postcode'],
    ['postcodes', 'postcode'],
    ['huis_nummer', 'huisnummer'],
    ['huisnummers', 'huisnummer'],
    ['HuisNummer[]', 'huisnummer'],
    ['toevoeging\u00a0', 'toevoeging'],
    ['\ufefftoevoeging', 'toevoeging'],
    ['toevoeging\n', 'toevoeging'],
    ['toevoeging[0][value]', 'toevoeging'],
    ['Include', 'include'],
    ['includes', 'include'],
    ['houseNumber', 'huisnummer'],
    ['huis.letter', 'huisletter'],
    ['huis<letter>', 'huisletter'],
    ['house-number-addition', 'huisnummertoevoeging'],
  ])('means what it says, whatever its spelling: %j', (name, meaning) => {
    expect(meaningOf(name)).toBe(meaning);
  });

  it('means the same as another API means by it', () => {
    for (const [meaning, names] of Object.entries(otherNames)) {
      for (const name of names) expect([name, meaningOf(name)]).toEqual([name, meaning]);
    }
  });

  it.each([
    '_',
    '',
    'utm_source',
    'utm_campaign',
    'gclid',
    'fbclid',
    'msclkid',
    'callback',
    'jsonp',
    'cb',
    't',
    'ts',
    'v',
    'code',
    'format',
    'lang',
    'limit',
    'page',
    'offset',
    'fields',
    'expand',
    'ref',
    'source',
    'debug',
    'trace',
    'key',
    'token',
    'api_key',
    'api-version',
    'exacteMatch',
    'straat',
    'street',
    'city',
    'woonplaats',
    'gemeente',
    'country',
    'land',
    'customer_id',
    'order',
    'session',
    'timestamp',
    'x'.repeat(5000),
  ])('means nothing here, so that it is ignored: %.20j', (name) => {
    expect(meaningOf(name)).toBeNull();
  });
});
