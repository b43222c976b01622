import { describe, expect, it } from '@jest/globals';
import { readAddressInput } from '../../../core/addresses/address-input.ts';
import { queryFaults } from '../../../core/addresses/input-faults.ts';
import type { InputFault } from '../../../core/contract.ts';

function request(query: string) {
  return readAddressInput(query).request;
}

/** Nothing that is valid has a fault, and nothing else has none. */
function faultsOf(query: string): InputFault[] {
  const faults = queryFaults(query);
  expect(faults.length > 0).toBe(readAddressInput(query).request === null);
  return faults;
}

function faults(query: string) {
  return faultsOf(query).map(({ parameter, code }) => `${parameter} ${code}`);
}

/** The one fault of a query. */
function only(query: Record<string, string>): InputFault {
  const [fault, ...others] = faultsOf(String(new URLSearchParams(query)));
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
    ['%70ostcode=1381AA&huisnummer=1', { postcode: '1381AA', huisnummer: 1, toevoeging: null }],
  ])('normalises %s', (query, expected) => {
    expect(request(query)).toEqual(expected);
  });

  it.each([
    ['0381AA', 'postcode-leading-zero', "can't begin with 0: send four digits, the first not 0,"],
    ['1', 'postcode-incomplete'],
    ['1381', 'postcode-incomplete'],
    ['1381A', 'postcode-incomplete'],
    ['1012 J', 'postcode-incomplete'],
    ['1381AAA', 'postcode-too-long', 'send postcode=1381AA.'],
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
    ['1012ﬀ', 'postcode-character', 'postcode=1012FF'],
    ['1012ĳ', 'postcode-character', 'postcode=1012IJ'],
    ['1381ß', 'postcode-character', 'send four digits'],
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
    ['12hoogachtend', 'huisnummer-with-toevoeging', 'send one to five digits'],
    ['1e3', 'huisnummer-with-toevoeging', 'send huisnummer=1 and toevoeging=e3.'],
    ['12-14', 'huisnummer-range', 'huisnummer=12 or huisnummer=14'],
    ['12 t/m 14', 'huisnummer-range', 'huisnummer=12 or huisnummer=14'],
    ['12tot14', 'huisnummer-range', 'huisnummer=12 or huisnummer=14'],
    ['12 / 14', 'huisnummer-range', 'huisnummer=12 and toevoeging=14'],
    ['1 2', 'huisnummer-range', 'huisnummer=1 or huisnummer=2'],
    ['147 ', 'huisnummer-space', 'send huisnummer=147.'],
    [' 1', 'huisnummer-space', 'send huisnummer=1.'],
    ['1\t', 'huisnummer-space', 'send huisnummer=1.'],
    ['147\n', 'huisnummer-space', 'send huisnummer=147.'],
    ['147\r\n', 'huisnummer-space', 'send huisnummer=147.'],
    ['\u00a0147', 'huisnummer-space', 'send huisnummer=147.'],
    ['147\u200b', 'huisnummer-form', 'send huisnummer=147.'],
    ['１４７', 'huisnummer-form', 'send huisnummer=147.'],
    ['１２A', 'huisnummer-with-toevoeging', 'send huisnummer=12 and toevoeging=A.'],
    ['12\u00a0A', 'huisnummer-with-toevoeging', 'send huisnummer=12 and toevoeging=A.'],
    ['12\u00ad14', 'huisnummer-range', 'send one,'],
    ['12²', 'huisnummer-form', 'send one to five digits'],
    ['-12', 'huisnummer-sign', 'send huisnummer=12.'],
    ['+1', 'huisnummer-sign', 'send huisnummer=1.'],
    ['-0', 'huisnummer-sign'],
    ['1.0', 'huisnummer-decimal', 'send huisnummer=1.'],
    ['12,', 'huisnummer-decimal', 'send huisnummer=12.'],
    ['0', 'huisnummer-zero', 'must be at least 1: send'],
    ['00000', 'huisnummer-zero'],
    ['000147', 'huisnummer-too-long', 'send huisnummer=147.'],
    ['100000', 'huisnummer-too-long', 'send one to five digits'],
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
    ['é', 'toevoeging-character', 'send at most five letters and digits'],
    ['\u00a0', 'toevoeging-character', 'send no toevoeging.'],
    ['-', 'toevoeging-character', 'send no toevoeging.'],
    ['ﬁ', 'toevoeging-character', 'send toevoeging=fi.'],
    ['２', 'toevoeging-character', 'send toevoeging=2.'],
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
    ['POSTCODE=1381AA&huisnummer=1', ['postcode missing', 'POSTCODE parameter-unknown']],
    [
      'postcode=x&huisnummer=x&toevoeging=%C3%A9',
      ['postcode postcode-form', 'huisnummer huisnummer-form', 'toevoeging toevoeging-character'],
    ],
    ['postcode=1381AA&postcode=1381AA&huisnummer=1', ['postcode duplicate']],
    ['postcode=138&include=x', ['postcode postcode-incomplete', 'huisnummer missing', 'include include-unknown']],
    ['postcode=1381AA&huisnummer=1&toevoeging=&toevoeging=', ['toevoeging duplicate']],
    ['postcode=1381AA&huisnummer=1&%68uisnummer=2&postcode=x', ['postcode duplicate', 'huisnummer duplicate']],
  ])('reports all errors of %j at once, one entry each', (query, expected) => {
    expect(faults(query)).toEqual(expected);
  });

  it('never repeats the input, except a value to send instead', () => {
    for (const { detail } of faultsOf('postcode=<script>&huisnummer=<script>&toevoeging=<script>')) {
      expect(detail).toMatch(/(must be|send) .{20,}/);
      expect(detail).not.toContain('script');
    }
  });
});

function read(include: string) {
  return readAddressInput(`postcode=1381AA&huisnummer=9&${include}`);
}

function faultsOfInclude(include: string): InputFault[] {
  return faultsOf(`postcode=1381AA&huisnummer=9&${include}`);
}

describe('the parameter include', () => {
  it.each([
    ['', []],
    ['include=toevoegingen', ['toevoegingen']],
    ['include=nummeraanduidingen', ['nummeraanduidingen']],
    ['include=toevoegingen,nummeraanduidingen', ['toevoegingen', 'nummeraanduidingen']],
    ['include=nummeraanduidingen%2Ctoevoegingen', ['nummeraanduidingen', 'toevoegingen']],
  ])('names what to include, each once and in any order: %s', (query, names) => {
    expect(read(query)).toEqual({ request: { postcode: '1381AA', huisnummer: 9, toevoeging: null }, include: names });
  });

  it.each([
    ['include=', ['include-empty'], undefined],
    ['include=+', ['include-unknown'], undefined],
    ['include=,', ['include-empty'], undefined],
    ['include=toevoegingen,', ['include-empty'], 'toevoegingen'],
    ['include=straat', ['include-unknown'], undefined],
    ['include=constructor', ['include-unknown'], undefined],
    ['include=toevoegingen,straat', ['include-unknown'], undefined],
    ['include=Toevoegingen', ['include-unknown'], 'toevoegingen'],
    ['include=toevoegingen,+nummeraanduidingen', ['include-unknown'], 'toevoegingen,nummeraanduidingen'],
    ['include=toevoegingen+nummeraanduidingen', ['include-unknown'], undefined],
    ['include=toevoegingen,toevoegingen', ['include-repeated'], 'toevoegingen'],
    [
      'include=nummeraanduidingen,x,,x,nummeraanduidingen',
      ['include-unknown', 'include-empty', 'include-repeated'],
      undefined,
    ],
    ['include=toevoegingen&include=nummeraanduidingen', ['duplicate'], undefined],
    ['include=bagadres_x', ['misplaced-key'], undefined],
  ])('has a fault of its own for each thing that is wrong: %s', (query, codes, suggested) => {
    const faults = faultsOfInclude(query);
    expect(faults.map(({ parameter, code }) => `${parameter} ${code}`)).toEqual(codes.map((code) => `include ${code}`));
    for (const { suggestion, detail } of faults) {
      expect(suggestion).toEqual(suggested === undefined ? undefined : { include: suggested });
      expect(detail).toMatch(/: send .+\.$/);
      expect(detail).not.toContain('straat');
    }
  });

  it('can be sent as each suggestion says', () => {
    for (const query of ['include=toevoegingen,', 'include=NUMMERAANDUIDINGEN,toevoegingen,toevoegingen']) {
      for (const { suggestion } of faultsOfInclude(query)) {
        expect(faultsOfInclude(`include=${suggestion?.include}`)).toEqual([]);
      }
    }
  });
});
