import { describe, expect, it } from '@jest/globals';
import { issueApiKey } from '../../../core/accounts/api-key.ts';
import { readAddressInput } from '../../../core/addresses/address-input.ts';
import { queryFaults } from '../../../core/addresses/input-faults.ts';
import type { InputFault } from '../../../core/contract.ts';

const valid = 'postcode=1381DE&huisnummer=30';

/** A valid query has no faults, and any other query has at least one. */
function faultsOf(query: string): InputFault[] {
  const { faults } = queryFaults(query);
  expect(faults.length > 0).toBe(readAddressInput(query).request === null);
  return faults;
}

/** The parameter and the code of each fault. */
function codesOf(query: string): string[] {
  return faultsOf(query).map(({ parameter, code }) => `${parameter} ${code}`);
}

const list = (texts: string) => texts.split(', ');

describe('the input of a lookup', () => {
  it.each([
    [
      'postcode=1381AA&huisnummer=9&toevoeging=a',
      { postcode: '1381AA', huisnummer: 9, toevoeging: 'a' },
    ],
    [
      'postcode=+13+81+a%20A+&huisnummer=00012',
      { postcode: '1381AA', huisnummer: 12, toevoeging: null },
    ],
    [
      'postcode=1381AA&huisnummer=1&toevoeging=',
      { postcode: '1381AA', huisnummer: 1, toevoeging: null },
    ],
    [
      'postcode=1381AA&huisnummer=1&toevoeging=++%20',
      { postcode: '1381AA', huisnummer: 1, toevoeging: null },
    ],
    [
      'postcode=1381AA&huisnummer=1&toevoeging=b+I+s',
      { postcode: '1381AA', huisnummer: 1, toevoeging: 'bIs' },
    ],
    ['%70ostcode=1381AA&huisnummer=1', { postcode: '1381AA', huisnummer: 1, toevoeging: null }],
  ])('normalises %s', (query, expected) => {
    expect(readAddressInput(query).request).toEqual(expected);
  });

  it.each([
    ['postcode-leading-zero', "can't begin with 0: send four digits, the first not 0,", ['0381AA']],
    ['postcode-incomplete', '', ['1', '1381', '1381A', '1012 J']],
    ['postcode-too-long', '', ['1381AA9']],
    ['postcode-too-long', 'send postcode=1381AA.', ['1381AAA']],
    ['postcode-form', '', ['138AA', '1381A1', '13811', 'AA1381']],
    [
      'postcode-character',
      'postcode=1381AA',
      ['1381-AA', '1381.aa', '1381\tAA', '1381\u00a0AA', '１３８１AA', '1381AA\n'],
    ],
    ['postcode-character', 'postcode=1012FF', ['1012ﬀ']],
    ['postcode-character', 'postcode=1012IJ', ['1012ĳ']],
    ['postcode-character', 'send four digits', ['1381ß']],
    ['postcode-character', '', ['1381ıa', '1381AA\0', '%']],
    [
      'huisnummer-with-toevoeging',
      'send huisnummer=12 and toevoeging=A.',
      ['12A', '１２A', '12\u00a0A'],
    ],
    ['huisnummer-with-toevoeging', 'send huisnummer=12 and toevoeging=bis.', ['12 bis']],
    ['huisnummer-with-toevoeging', 'send huisnummer=12 and toevoeging=A2.', ['0012-A-2']],
    ['huisnummer-with-toevoeging', 'send huisnummer=1 and toevoeging=e3.', ['1e3']],
    ['huisnummer-with-toevoeging', 'send huisnummer=148 and toevoeging=EC6.', ['148EC6']],
    ['huisnummer-with-toevoeging', 'send huisnummer=14 and toevoeging=d1.', ['14d-1']],
    [
      'huisnummer-with-toevoeging',
      'send huisnummer=30 and toevoeging=a100.',
      ['30 a 100', '30a-100'],
    ],
    ['huisnummer-with-toevoeging', 'send huisnummer=35 and toevoeging=III.', ['35 III', '35-III']],
    [
      'huisnummer-with-toevoeging',
      'send huisnummer=12 and toevoeging=hs.',
      ['12 hs', '12-hs', '12/h.s.'],
    ],
    ['huisnummer-with-toevoeging', 'send huisnummer=1 and toevoeging=A2.', ['1A-2', '1/A/2']],
    ['huisnummer-with-toevoeging', 'send one to five digits', ['12hoogachtend']],
    [
      'huisnummer-with-toevoeging',
      'send one address, what follows its number as toevoeging.',
      list(
        '12A-12C, 12A/12B, 12a-14a, 12A t/m C, 12A t/m 12C, 12 a en b, 12A–12C, 12A - 12C, 12A/B, 12A-C, 12 A of B, ' +
          '12A tot C, 12A tm C, 12AtmC, 12AenB, 12A-14, 12A12C, 12A 12C, 12AT/MC, 12 I-III, 12 hs-2, 12-A-1-3, ' +
          '12 a 1 2, 12hs/1, 12-bis/hs',
      ),
    ],
    [
      'huisnummer-form',
      'send one to five digits',
      ['12A, 12B', '12A & B', '12A+12B', '12-14A', '527 01R'],
    ],
    ['huisnummer-range', 'huisnummer=12 or huisnummer=14', ['12-14', '12 t/m 14', '12tot14']],
    ['huisnummer-range', 'huisnummer=12 and toevoeging=14', ['12 / 14']],
    ['huisnummer-range', 'huisnummer=1 or huisnummer=2', ['1 2']],
    ['huisnummer-range', 'send one,', ['12\u00ad14']],
    [
      'huisnummer-space',
      'send huisnummer=147.',
      ['147 ', '147\n', '147\r\n', '\u00a0147', '\t147'],
    ],
    ['huisnummer-form', 'send huisnummer=147.', ['147\u200b', '１４７']],
    ['huisnummer-form', 'send one to five digits, from 1 to 99999', ['12²', 'een']],
    ['huisnummer-form', '', ['1.5', '0x1', '12-0', '0-12', '١', '1\0']],
    ['huisnummer-sign', 'send huisnummer=12.', ['-12', '+12']],
    ['huisnummer-sign', '', ['-0']],
    ['huisnummer-decimal', 'send huisnummer=12.', ['12.0', '12,']],
    ['huisnummer-zero', 'must be at least 1: send', ['0', '00000']],
    ['huisnummer-too-long', 'send huisnummer=147.', ['000147', '00000000147']],
    ['huisnummer-too-long', 'send one to five digits', ['100000']],
    ['toevoeging-character', 'send toevoeging=A2.', ['A-2']],
    ['toevoeging-character', 'send toevoeging=2hoog.', ['2-hoog']],
    ['toevoeging-character', 'send toevoeging=2.', ['-2', '２']],
    ['toevoeging-character', 'send toevoeging=fi.', ['f.i', 'fi\t', 'ﬁ']],
    [
      'toevoeging-character',
      'send at most five letters and digits',
      [
        'A t/m C',
        'A/B',
        'A-C',
        'A, B',
        'A,B',
        'A;B',
        'A+B',
        'A & B',
        '1-3',
        '1/2',
        '1,2',
        '1.2',
        'I-III',
        'hs-2',
        'A-12C',
        'A tot-C',
        'A-2 en B',
      ],
    ],
    ['toevoeging-character', 'send at most five letters and digits', ['é', '\ufffd', '\ufffd.']],
    [
      'toevoeging-character',
      'toevoeging has a text for no addition: send no toevoeging.',
      [
        ...list(
          '-, --, —, ., /, _, #, ?, *, +, "", \'\', {}, (), n.v.t., N.V.T, n/v/t, n/a, N.A., (geen), geen., -geen-',
        ),
        ...list('none., <none>, (leeg), null., "null", nil!, geen toevoeging.'),
        '\u00a0',
        '\0',
      ],
    ],
    [
      'toevoeging-too-long',
      'toevoeging has a text for no addition: send no toevoeging.',
      [
        'undefined',
        'geen toevoeging',
        'GeenToevoeging',
        'zonder',
        'niet van toepassing',
        'not applicable',
      ],
    ],
    [
      'huisnummer-with-toevoeging',
      'send huisnummer=12.',
      ['12 n.v.t.', '12 geen', '12-none', '12 n/a', '12undefined'],
    ],
    ['toevoeging-character', 'send at most five letters and digits', ['n/b', 'twee-hoog']],
    [
      'toevoeging-too-long',
      'send at most five letters and digits',
      ['tweehoog', 'a b c d e f', 'undefinedA'],
    ],
  ])('is refused as %s, with the detail "%s": %j', (code, detail, values) => {
    const [parameter = ''] = code.split('-');
    for (const value of values) {
      const query = String(
        new URLSearchParams({ postcode: '1381AA', huisnummer: '1', [parameter]: value }),
      );
      const faults = faultsOf(query);
      expect([value, faults]).toMatchObject([
        value,
        [{ parameter, code, detail: expect.stringContaining(detail) }],
      ]);
      if (/^send [a-z ]*(?:one|five)/.test(detail)) {
        expect([value, faults[0]?.suggestion]).toEqual([value, undefined]);
      }
    }
  });

  it.each([
    ['', ['postcode missing', 'huisnummer missing']],
    ['postcode=&huisnummer=', ['postcode missing', 'huisnummer missing']],
    ['POSTCODE=1381AA&huisnummer=1', ['postcode missing', 'POSTCODE parameter-unknown']],
    ['postcode=1381AA&postcode=1381AA&huisnummer=1', ['postcode duplicate']],
    [
      'postcode=138&include=x',
      ['postcode postcode-incomplete', 'huisnummer missing', 'include include-unknown'],
    ],
    ['postcode=1381AA&huisnummer=1&toevoeging=&toevoeging=', ['toevoeging duplicate']],
    [
      'postcode=1381AA&huisnummer=1&%68uisnummer=2&postcode=x',
      ['postcode duplicate', 'huisnummer duplicate'],
    ],
  ])('has all faults of %j reported at once, one entry each', (query, expected) => {
    expect(codesOf(query)).toEqual(expected);
  });

  it('is never repeated, except a value to send instead', () => {
    for (const { detail } of faultsOf(
      'postcode=<script>&huisnummer=<script>&toevoeging=<script>',
    )) {
      expect(detail).toMatch(/(must be|send) .{20,}/);
      expect(detail).not.toContain('script');
    }
  });
});

describe('the parameter include', () => {
  it.each([
    ['', []],
    ['include=toevoegingen', ['toevoegingen']],
    ['include=toevoegingen,nummeraanduidingen', ['toevoegingen', 'nummeraanduidingen']],
    ['include=nummeraanduidingen%2Ctoevoegingen', ['nummeraanduidingen', 'toevoegingen']],
  ])('names what to include, each once and in any order: %s', (query, include) => {
    const request = { postcode: '1381DE', huisnummer: 30, toevoeging: null };
    expect(readAddressInput(`${valid}&${query}`)).toEqual({ request, include });
  });

  it.each([
    [['include-empty'], '', ['=', '=,']],
    [['include-empty'], 'toevoegingen', ['=toevoegingen,']],
    [['include-unknown'], '', ['=+', '=straat', '=constructor', '=toevoegingen,straat']],
    [['include-unknown'], '', ['=toevoegingen+nummeraanduidingen']],
    [['include-unknown'], 'toevoegingen', ['=Toevoegingen']],
    [['include-unknown'], 'toevoegingen,nummeraanduidingen', ['=toevoegingen,+nummeraanduidingen']],
    [['include-repeated'], 'toevoegingen', ['=toevoegingen,toevoegingen']],
    [
      ['include-unknown', 'include-repeated'],
      'toevoegingen,nummeraanduidingen',
      ['=TOEVOEGINGEN,nummeraanduidingen,nummeraanduidingen'],
    ],
    [
      ['include-unknown', 'include-empty', 'include-repeated'],
      '',
      ['=nummeraanduidingen,x,,x,nummeraanduidingen'],
    ],
    [['duplicate'], '', ['=toevoegingen&include=nummeraanduidingen']],
    [['misplaced-key'], '', ['=bagadres_x']],
  ])(
    'has a fault for each thing that is wrong, %j, with the suggestion "%s": %j',
    (codes, include, values) => {
      for (const value of values) {
        const faults = faultsOf(`${valid}&include${value}`);
        expect([value, faults.map(({ code }) => code).sort()]).toEqual([value, codes.toSorted()]);
        for (const { parameter, suggestion, detail } of faults) {
          expect([parameter, suggestion]).toEqual([
            'include',
            include === '' ? undefined : { include },
          ]);
          expect(detail).toMatch(/: send .+\.$/);
          expect(detail).not.toContain('straat');
        }
      }
    },
  );
});

describe('a parameter with an unknown name', () => {
  it.each([
    ['send toevoeging=b.', ['huisletter=b', 'huisletter=b&huisletter=b', 'toevoeging%20=b']],
    ['send toevoeging=A.', ['addition=a&toevoeging=A', 'toevoging=A']],
    ['send toevoeging=AA.', ['huisletter=A&huisnummertoevoeging=A']],
    [
      'send toevoeging=A2.',
      ['huisnummertoevoeging=2&huisletter=A', 'huisnummerToevoeging=A-2', 'toevoeging%C2%A0=A-2'],
    ],
    ['send toevoeging=b2.', ['houseNumberAddition=2&toevoeging=b']],
    [
      'send toevoeging=b99.',
      ['huisletter=b&toevoeging=99', 'huisletter=b&huisnummertoevoeging=99'],
    ],
    ['send toevoeging=B99.', ['huisletter=b&huisnummertoevoeging=99&toevoeging=B-99']],
    ['send no toevoeging.', ['house_number_addition=']],
    [
      'send it as toevoeging.',
      ['huisletter=A%2FB', 'huisletter=A&huisnummertoevoeging=1-3', 'addition=A+en+B'],
    ],
    [
      'send it as toevoeging.',
      ['huisletter=b&huisletter=c', 'numberAddition=tweehoog', 'toevoging=B&toevoeging=A'],
    ],
    ['send huisnummer=30.', ['number=30', 'house-number=', 'huisnumer=30']],
    ['send huisnummer=30 and toevoeging=a.', ['housenumber=30a', 'huisnumer=30a']],
    ['send huisnummer=30 and toevoeging=b99.', ['huis_nlt=30b-99']],
    ['send it as huisnummer.', ['number=30&number=31', 'hnr=5', 'Huisnummer=5']],
    ['send postcode=1381DE.', ['zipcode=1381DE']],
    ['send it as postcode.', ['zipcode=9999ZZ', 'postocde=1381AA']],
    ['send include=toevoegingen.', ['inculde=toevoegingen']],
    ['send it as include.', ['Include=all']],
  ])('is refused with what to do, "%s", and the same as a suggestion: %j', (instead, queries) => {
    const values = [...instead.matchAll(/(\w+)=(\w+)/g)].map(([, name, value]) => [name, value]);
    const suggestion =
      instead === 'send no toevoeging.' ? { toevoeging: '' } : Object.fromEntries(values);
    for (const query of queries) {
      const unknown = faultsOf(`${valid}&${query}`).filter(
        ({ code }) => code === 'parameter-unknown',
      );
      expect([query, unknown.length > 0]).toEqual([query, true]);
      for (const fault of unknown) {
        expect([query, fault.detail]).toEqual([
          query,
          expect.stringMatching(new RegExp(` is unknown: ${instead}$`)),
        ]);
        expect([query, fault.suggestion ?? {}]).toEqual([query, suggestion]);
      }
    }
  });

  it('gives its value to the missing parameter that it stands for', () => {
    const [postcode, huisnummer, ...unknown] = faultsOf('zipcode=1381DE&house_number=30');
    expect(postcode).toEqual({
      parameter: 'postcode',
      code: 'missing',
      detail: 'postcode is required: send postcode=1381DE.',
      suggestion: { postcode: '1381DE' },
    });
    expect(huisnummer).toMatchObject({
      parameter: 'huisnummer',
      code: 'missing',
      suggestion: { huisnummer: '30' },
    });
    expect(unknown.map(({ parameter }) => parameter)).toEqual(['zipcode', 'house_number']);
  });

  it.each([
    'huisnummer=30a&huisnummertoevoeging=100',
    'huisnummer=30a&toevoeging=a100&huisletter=a',
    'house_number=30a&huisnummertoevoeging=100',
  ])('is joined with a toevoeging in the huisnummer: %s', (query) => {
    const faults = faultsOf(`postcode=1381DE&${query}`).filter(({ code }) => code !== 'missing');
    expect(faults.length).toBeGreaterThan(1);
    for (const { detail } of faults) expect(detail).toContain('toevoeging=a100.');
  });

  it('is not joined with a toevoeging from the huisnummer if it has several values', () => {
    const faults = faultsOf('postcode=1381DE&huisnummer=30a&huisletter=b&huisletter=c');
    expect(faults.map(({ detail }) => detail)).toEqual([
      'huisnummer has more than a number: send one to five digits, from 1 to 99999.',
      'huisletter is unknown: send it as toevoeging.',
    ]);
  });

  it('is not repeated in the detail where it has other characters than names have', () => {
    const [fault] = faultsOf(`${valid}&toe<voeging>=A`);
    expect(fault?.detail).toBe('this name is unknown: send toevoeging=A.');
  });
});

describe('an API key in a parameter', () => {
  const { key } = issueApiKey('webshop', 'a secret of a test');

  it.each([
    ['api_key=KEY', 'api_key'],
    ['key=+KEY', 'key'],
    ['token=Bearer+KEY', 'token'],
    ['x=1&x=KEY', 'x'],
    ['toevoeging=KEY', 'toevoeging'],
    ['huisletter=KEY', 'huisletter'],
    ['KEY', 'bagadres_...'],
    ['token=bagadres_webshop_leftover', 'token'],
  ])('is refused, and never repeated: %s', (query, parameter) => {
    const faults = faultsOf(`${valid}&${query.replace('KEY', key)}`);
    expect(faults).toEqual([
      {
        parameter,
        code: 'misplaced-key',
        detail: expect.stringMatching(/header X-API-Key only.*must be replaced/),
      },
    ]);
    expect(JSON.stringify(faults)).not.toContain(key.slice(-30));
  });

  it('is one fault of a parameter, whatever else is wrong with it', () => {
    const misplaced = ['postcode misplaced-key', 'huisnummer misplaced-key'];
    expect(codesOf(`postcode=${key}&postcode=x&huisnummer=${key}`)).toEqual(misplaced);
  });

  it('is no key if a parameter only mentions the name of the service', () => {
    const unknown = ['utm_source parameter-unknown', 'ref parameter-unknown'];
    expect(codesOf(`${valid}&utm_source=bag-adres&ref=bagadres`)).toEqual(unknown);
  });
});
