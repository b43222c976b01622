import { describe, expect, it } from '@jest/globals';
import { readAddressInput } from '../../../../lambdas/shared/addresses/address-input.ts';

function request(query: string) {
  return readAddressInput(query).request;
}

function faults(query: string) {
  return readAddressInput(query).faults.map(({ parameter, code }) => `${parameter} ${code}`);
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
    '0381AA',
    '1381A',
    '1381AAA',
    '138AA',
    '1381A1',
    'AA1381',
    '1381%C3%9F',
    '1381%C5%BF%C5%BF',
    '1381%C4%B1a',
    '1381%09AA',
    '1381%C2%A0AA',
    '%EF%BC%91381AA',
    '1381AA%00',
    '1381AA%0A',
    '1381-AA',
    '%',
  ])('refuses the postcode %s', (postcode) => {
    expect(faults(`postcode=${postcode}&huisnummer=1`)).toEqual(['postcode invalid']);
  });

  it.each([
    '0',
    '00000',
    '+1',
    '%2B1',
    '1.0',
    '%201',
    '1%20',
    '1+2',
    '-1',
    '100000',
    '000001',
    '1e3',
    '0x1',
    '1a',
    '%D9%A1',
    '1%0A',
  ])('refuses the huisnummer %s', (huisnummer) => {
    expect(faults(`postcode=1381AA&huisnummer=${huisnummer}`)).toEqual(['huisnummer invalid']);
  });

  it.each(['abcdef', '1-2', '%C3%A9', 'a%09', '%C2%A0', 'a%0A', '%00', '%2B', '#'.replace('#', '%23')])(
    'refuses the toevoeging %s',
    (toevoeging) => {
      expect(faults(`postcode=1381AA&huisnummer=1&toevoeging=${toevoeging}`)).toEqual(['toevoeging invalid']);
    },
  );

  it.each([
    ['', ['postcode missing', 'huisnummer missing']],
    ['postcode=&huisnummer=', ['postcode missing', 'huisnummer missing']],
    ['POSTCODE=1381AA&huisnummer=1', ['postcode missing']],
    ['postcode=x&huisnummer=x&toevoeging=%C3%A9', ['postcode invalid', 'huisnummer invalid', 'toevoeging invalid']],
    ['postcode=1381AA&postcode=1381AA&huisnummer=1', ['postcode duplicate']],
    ['postcode=1381AA&huisnummer=1&toevoeging=&toevoeging=', ['toevoeging duplicate']],
    ['postcode=1381AA&huisnummer=1&%68uisnummer=2&postcode=x', ['postcode duplicate', 'huisnummer duplicate']],
  ])('reports every fault of %j at once, one a parameter', (query, expected) => {
    expect(faults(query)).toEqual(expected);
  });

  it('says of each fault what is expected, and never repeats the input', () => {
    for (const { detail } of readAddressInput('postcode=<script>&huisnummer=<script>&toevoeging=<script>').faults) {
      expect(detail).toMatch(/must be .{20,}/);
      expect(detail).not.toContain('script');
    }
  });
});
