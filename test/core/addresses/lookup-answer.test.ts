import { describe, expect, it } from '@jest/globals';
import { readAddressInput } from '../../../core/addresses/address-input.ts';
import { queryFaults } from '../../../core/addresses/input-faults.ts';
import type { InputFault } from '../../../core/contract.ts';

function read(include: string) {
  return readAddressInput(`postcode=1381AA&huisnummer=9&${include}`);
}

function faultsOf(include: string): InputFault[] {
  return queryFaults(`postcode=1381AA&huisnummer=9&${include}`);
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
    const faults = faultsOf(query);
    expect(faults.map(({ parameter, code }) => `${parameter} ${code}`)).toEqual(codes.map((code) => `include ${code}`));
    for (const { suggestion, detail } of faults) {
      expect(suggestion).toEqual(suggested === undefined ? undefined : { include: suggested });
      expect(detail).toMatch(/: send .+\.$/);
      expect(detail).not.toContain('straat');
    }
  });

  it('can be sent as each suggestion says', () => {
    for (const query of ['include=toevoegingen,', 'include=NUMMERAANDUIDINGEN,toevoegingen,toevoegingen']) {
      for (const { suggestion } of faultsOf(query)) {
        expect(faultsOf(`include=${suggestion?.include}`)).toEqual([]);
      }
    }
  });

  it('is reported together with the faults of the other parameters', () => {
    const codes = queryFaults('postcode=138&include=x').map(({ code }) => code);
    expect(codes).toEqual(['postcode-incomplete', 'missing', 'include-unknown']);
  });
});
