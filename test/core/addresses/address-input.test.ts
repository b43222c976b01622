import { describe, expect, it } from '@jest/globals';
import { readAddressInput } from '../../../core/addresses/address-input.ts';
import type { InputFault } from '../../../core/contract.ts';

function request(query: string) {
  return readAddressInput(query).request;
}

function faults(query: string) {
  return readAddressInput(query).faults.map(({ parameter, code }) => `${parameter} ${code}`);
}

/** The one fault of a query. */
function only(query: Record<string, string>): InputFault {
  const [fault, ...others] = readAddressInput(String(new URLSearchParams(query))).faults;
  if (!fault || others.length > 0) throw new Error(`not one fault: ${JSON.stringify([fault, ...others])}`);
  return fault;
}

describe('the input of a lookup', () => {
  it.each([
    ['postcode=1381AA&huisnummer=9&toevoeging=a', { postcode: '1381AA', huisnummer: 9, toevoeging: 'a' }],
    ['postcode=1381aa&huisnummer=00012', { postcode: '1381AA', huisnummer: 12, toevoeging: null }],
    ['postcode=+13+81+a%20A+&huisnummer=99999', { postcode: '1381AA', huisnummer: 99999, toevoeging: null }],
    ['postcode=1381AA&huisnummer=1&toevoeging=', { postcode: '1381AA', huisnummer: 1, toevoeging: null }],
    ['postcode=1381AA&huisnummer=1&toevoeging=++%20', { postcode: '1381AA', huisnummer: 1, toevoeging: null }],
    ['postcode=1381AA&huisnummer=1&toevoeging=b+I+s', { postcode: '1381AA', huisnummer: 1, toevoeging: 'bIs' }],
    ['postcode=1381AA&huisnummer=1&toevoeging=01R', { postcode: '1381AA', huisnummer: 1, toevoeging: '01R' }],
    ['%70ostcode=1381AA&huisnummer=1&key=x&key=y', { postcode: '1381AA', huisnummer: 1, toevoeging: null }],
  ])('normalises %s', (query, expected) => {
    expect(request(query)).toEqual(expected);
  });

  it.each([
    ['0381AA', 'postcode-leading-zero', "can't begin with 0: send four digits, the first not 0,"],
    ['1', 'postcode-incomplete'],
    ['1381', 'postcode-incomplete'],
    ['1381A', 'postcode-incomplete'],
    ['1012 J', 'postcode-incomplete'],
    ['1381AAA', 'postcode-too-long'],
    ['1381AA9', 'postcode-too-long'],
    ['138AA', 'postcode-form'],
    ['1381A1', 'postcode-form'],
    ['13811', 'postcode-form'],
    ['AA1381', 'postcode-form'],
    ['1381-AA', 'postcode-character', 'postcode=1381AA'],
    ['1381.aa', 'postcode-character', 'postcode=1381AA'],
    ['1381\tAA', 'postcode-character', 'postcode=1381AA'],
    ['1381\u00a0AA', 'postcode-character', 'postcode=1381AA'],
    ['１３８１AA', 'postcode-character', 'postcode=1381AA'],
    ['1381AA\n', 'postcode-character', 'postcode=1381AA'],
    ['1381ß', 'postcode-character'],
    ['1381ıa', 'postcode-character'],
    ['1381AA\0', 'postcode-character'],
    ['%', 'postcode-character'],
  ])('refuses the postcode %j with %s', (postcode, code, suggestion = '') => {
    expect(only({ postcode, huisnummer: '1' })).toMatchObject({ parameter: 'postcode', code });
    expect(only({ postcode, huisnummer: '1' }).detail).toContain(suggestion);
  });

  it.each([
    ['12A', 'huisnummer-with-toevoeging', 'send huisnummer=12 and toevoeging=A.'],
    ['12 bis', 'huisnummer-with-toevoeging', 'send huisnummer=12 and toevoeging=bis.'],
    ['0012-A-2', 'huisnummer-with-toevoeging', 'send huisnummer=12 and toevoeging=A2.'],
    ['12hoogachtend', 'huisnummer-with-toevoeging', 'send huisnummer=12, and'],
    ['1e3', 'huisnummer-with-toevoeging', 'send huisnummer=1 and toevoeging=e3.'],
    ['12-14', 'huisnummer-range', 'huisnummer=12 or huisnummer=14'],
    ['12 t/m 14', 'huisnummer-range', 'huisnummer=12 or huisnummer=14'],
    ['12tot14', 'huisnummer-range', 'huisnummer=12 or huisnummer=14'],
    ['12 / 14', 'huisnummer-range', 'huisnummer=12 and toevoeging=14'],
    ['1 2', 'huisnummer-range', 'huisnummer=1 or huisnummer=2'],
    ['147 ', 'huisnummer-space', 'send huisnummer=147.'],
    [' 1', 'huisnummer-space', 'send huisnummer=1.'],
    ['1\t', 'huisnummer-space', 'send huisnummer=1.'],
    ['1\n', 'huisnummer-space', 'send huisnummer=1.'],
    ['-12', 'huisnummer-sign', 'send huisnummer=12.'],
    ['+1', 'huisnummer-sign', 'send huisnummer=1.'],
    ['-0', 'huisnummer-sign'],
    ['1.0', 'huisnummer-decimal', 'send huisnummer=1.'],
    ['12,', 'huisnummer-decimal', 'send huisnummer=12.'],
    ['0', 'huisnummer-zero', 'must be at least 1.'],
    ['00000', 'huisnummer-zero'],
    ['000147', 'huisnummer-too-long', 'send huisnummer=147.'],
    ['100000', 'huisnummer-too-long', 'the greatest is 99999.'],
    ['00000099999', 'huisnummer-too-long', 'send huisnummer=99999.'],
    ['1.5', 'huisnummer-form'],
    ['0x1', 'huisnummer-form'],
    ['12-0', 'huisnummer-form'],
    ['0-12', 'huisnummer-form'],
    ['een', 'huisnummer-form', 'one to five digits, from 1 to 99999'],
    ['١', 'huisnummer-form'],
    ['1\0', 'huisnummer-form'],
  ])('refuses the huisnummer %j with %s', (huisnummer, code, suggestion = '') => {
    expect(only({ postcode: '1381AA', huisnummer })).toMatchObject({ parameter: 'huisnummer', code });
    expect(only({ postcode: '1381AA', huisnummer }).detail).toContain(suggestion);
  });

  it.each([
    ['A-2', 'toevoeging-character', 'send toevoeging=A2.'],
    ['2-hoog', 'toevoeging-character', 'send toevoeging=2hoog.'],
    ['-2', 'toevoeging-character', 'send toevoeging=2.'],
    ['a/b', 'toevoeging-character', 'send toevoeging=ab.'],
    ['a\t', 'toevoeging-character', 'send toevoeging=a.'],
    ['#', 'toevoeging-character'],
    ['é', 'toevoeging-character'],
    ['\u00a0', 'toevoeging-character'],
    ['\0', 'toevoeging-character'],
    ['twee-hoog', 'toevoeging-character'],
    ['tweehoog', 'toevoeging-too-long'],
    ['a b c d e f', 'toevoeging-too-long'],
  ])('refuses the toevoeging %j with %s', (toevoeging, code, suggestion = '') => {
    const query = { postcode: '1381AA', huisnummer: '1', toevoeging };
    expect(only(query)).toMatchObject({ parameter: 'toevoeging', code });
    expect(only(query).detail).toContain(suggestion);
  });

  it.each([
    ['', ['postcode missing', 'huisnummer missing']],
    ['postcode=&huisnummer=', ['postcode missing', 'huisnummer missing']],
    ['POSTCODE=1381AA&huisnummer=1', ['postcode missing']],
    [
      'postcode=x&huisnummer=x&toevoeging=%C3%A9',
      ['postcode postcode-form', 'huisnummer huisnummer-form', 'toevoeging toevoeging-character'],
    ],
    ['postcode=1381AA&postcode=1381AA&huisnummer=1', ['postcode duplicate']],
    ['postcode=1381AA&huisnummer=1&toevoeging=&toevoeging=', ['toevoeging duplicate']],
    ['postcode=1381AA&huisnummer=1&%68uisnummer=2&postcode=x', ['postcode duplicate', 'huisnummer duplicate']],
  ])('reports all errors of %j at once, one entry each', (query, expected) => {
    expect(faults(query)).toEqual(expected);
  });

  it('never repeats the input, except a value to send instead', () => {
    for (const { detail } of readAddressInput('postcode=<script>&huisnummer=<script>&toevoeging=<script>').faults) {
      expect(detail).toMatch(/(must be|send) .{20,}/);
      expect(detail).not.toContain('script');
    }
  });
});

describe('a parameter with a name from another API', () => {
  it('is refused by name, with the joined value to send instead', () => {
    const query = 'postcode=1381DE&huisnummer=30&huisletter=b&huisnummertoevoeging=99';
    expect(readAddressInput(query)).toEqual({
      request: null,
      faults: [
        { parameter: 'huisletter', code: 'wrong-name', detail: 'huisletter is not a parameter: send toevoeging=b99.' },
        {
          parameter: 'huisnummertoevoeging',
          code: 'wrong-name',
          detail: 'huisnummertoevoeging is not a parameter: send toevoeging=b99.',
        },
      ],
    });
  });

  it.each([
    ['huisletter=b', 'huisletter', 'send toevoeging=b.'],
    ['huisnummertoevoeging=2&huisletter=A', 'huisletter', 'send toevoeging=A2.'],
    ['huisletter=A&huisnummertoevoeging=A', 'huisletter', 'send toevoeging=AA.'],
    ['huisnummer_toevoeging=bis', 'huisnummer_toevoeging', 'send toevoeging=bis.'],
    ['huisnummerToevoeging=A-2', 'huisnummerToevoeging', 'send toevoeging=A2.'],
    ['huis_letter=a', 'huis_letter', 'send toevoeging=a.'],
    ['addition=a&toevoeging=A', 'addition', 'send toevoeging=A.'],
    ['houseNumberAddition=2&toevoeging=b', 'houseNumberAddition', 'send toevoeging=b2.'],
    ['huisletter=b&toevoeging=99', 'huisletter', 'send toevoeging=b99.'],
    ['huisletter=b&huisnummertoevoeging=99&toevoeging=B-99', 'huisletter', 'send toevoeging=B99.'],
    ['huisletter=b&huisletter=c', 'huisletter', 'send what follows the number as toevoeging.'],
    ['huisletter=b&huisletter=b', 'huisletter', 'send toevoeging=b.'],
    ['number=30&number=31', 'number', 'send the number as huisnummer.'],
    ['huisletter[]=b', 'huisletter[]', 'send toevoeging=b.'],
    ['toevoeging[0]=b', 'toevoeging[0]', 'send toevoeging=b.'],
    ['toevoeging%20=b', 'toevoeging ', 'send toevoeging=b.'],
    ['huis.letter=b', 'huis.letter', 'send toevoeging=b.'],
    ['huis_nlt=30b-99', 'huis_nlt', 'send huisnummer=30 and toevoeging=b99.'],
    ['hnr=5', 'hnr', 'send huisnummer=5.'],
    ['premise=b', 'premise', 'send toevoeging=b.'],
    ['house_number_addition=', 'house_number_addition', 'send what follows the number as toevoeging.'],
    ['numberAddition=tweehoog', 'numberAddition', 'send what follows the number as toevoeging.'],
    ['toevoegsel=a', 'toevoegsel', 'send toevoeging=a.'],
    ['suffix=a', 'suffix', 'send toevoeging=a.'],
    ['Toevoeging=a', 'Toevoeging', 'send toevoeging=a.'],
    ['number=30', 'number', 'send huisnummer=30.'],
    ['huisnr=30', 'huisnr', 'send huisnummer=30.'],
    ['nummer=030', 'nummer', 'send huisnummer=30.'],
    ['housenumber=30a', 'housenumber', 'send huisnummer=30 and toevoeging=a.'],
    ['Huisnummer=5', 'Huisnummer', 'send huisnummer=5.'],
    ['house-number=', 'house-number', 'send the number as huisnummer.'],
  ])('%s is refused', (other, parameter, instead) => {
    const { request, faults } = readAddressInput(`postcode=1381DE&huisnummer=30&${other}`);
    expect(request).toBeNull();
    const fault = faults.find((one) => one.parameter === parameter);
    expect(fault).toMatchObject({ code: 'wrong-name', detail: expect.stringContaining(instead) });
    expect(fault?.detail.startsWith(`${parameter} is not a parameter: `)).toBe(true);
  });

  it('is refused, and the error for the missing parameter mentions it', () => {
    const { faults } = readAddressInput('zipcode=1381DE&house_number=30');
    expect(faults).toEqual([
      { parameter: 'postcode', code: 'missing', detail: expect.stringContaining('It was sent as zipcode') },
      { parameter: 'huisnummer', code: 'missing', detail: expect.stringContaining('It was sent as house_number') },
      { parameter: 'house_number', code: 'wrong-name', detail: expect.stringContaining('send huisnummer=30.') },
    ]);
  });

  it.each([
    'huisnummer=30a&huisnummertoevoeging=100',
    'huisnummer=30a&toevoeging=a100&huisletter=a',
    'house_number=30a&huisnummertoevoeging=100',
  ])('is joined with a toevoeging in the huisnummer: %s', (query) => {
    const { faults } = readAddressInput(`postcode=1381DE&${query}`);
    const details = faults.filter(({ code }) => code !== 'missing').map(({ detail }) => detail);
    expect(details.length).toBeGreaterThan(1);
    for (const detail of details) expect(detail).toContain('toevoeging=a100.');
  });

  it('is not joined with a toevoeging from the huisnummer if it has several values', () => {
    const { faults } = readAddressInput('postcode=1381DE&huisnummer=30a&huisletter=b&huisletter=c');
    expect(faults.map(({ detail }) => detail)).toEqual([
      'huisnummer has more than a number: send huisnummer=30, and what follows it in toevoeging.',
      'huisletter is not a parameter: send what follows the number as toevoeging.',
    ]);
  });

  it.each([
    'zipcode=9999ZZ',
    'exacteMatch=true',
    'callback=x',
    'huis<letter>=b',
    'huisletter[b][c]=d',
    'huisnummers=3',
    'city=Weesp',
    `${'_'.repeat(50)}number=3`,
  ])('%s is ignored', (other) => {
    expect(request(`postcode=1381DE&huisnummer=30&${other}`)).toEqual({
      postcode: '1381DE',
      huisnummer: 30,
      toevoeging: null,
    });
  });
});
