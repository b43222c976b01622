import { describe, expect, it } from '@jest/globals';
import { issueApiKey } from '../../../core/accounts/api-key.ts';
import { readAddressInput } from '../../../core/addresses/address-input.ts';
import { queryFaults } from '../../../core/addresses/input-faults.ts';
import type { InputFault } from '../../../core/contract.ts';

const valid = 'postcode=1381DE&huisnummer=30';

/** Nothing that is valid has a fault, and nothing else has none. */
function faultsOf(query: string): InputFault[] {
  const faults = queryFaults(query);
  expect(faults.length > 0).toBe(readAddressInput(query).request === null);
  return faults;
}

describe('a parameter with a name from another API', () => {
  it('is refused by name, with the joined value to send instead', () => {
    const query = 'postcode=1381DE&huisnummer=30&huisletter=b&huisnummertoevoeging=99';
    expect(faultsOf(query)).toEqual([
      {
        parameter: 'huisletter',
        code: 'parameter-unknown',
        detail: 'huisletter is unknown: send toevoeging=b99.',
        suggestion: { toevoeging: 'b99' },
      },
      {
        parameter: 'huisnummertoevoeging',
        code: 'parameter-unknown',
        detail: 'huisnummertoevoeging is unknown: send toevoeging=b99.',
        suggestion: { toevoeging: 'b99' },
      },
    ]);
  });

  it.each([
    ['huisletter=b', 'huisletter', 'send toevoeging=b.'],
    ['huisnummertoevoeging=2&huisletter=A', 'huisletter', 'send toevoeging=A2.'],
    ['huisletter=A&huisnummertoevoeging=A', 'huisletter', 'send toevoeging=AA.'],
    ['huisnummerToevoeging=A-2', 'huisnummerToevoeging', 'send toevoeging=A2.'],
    ['addition=a&toevoeging=A', 'addition', 'send toevoeging=A.'],
    ['houseNumberAddition=2&toevoeging=b', 'houseNumberAddition', 'send toevoeging=b2.'],
    ['huisletter=b&toevoeging=99', 'huisletter', 'send toevoeging=b99.'],
    ['huisletter=b&huisnummertoevoeging=99&toevoeging=B-99', 'huisletter', 'send toevoeging=B99.'],
    ['huisletter=b&huisletter=c', 'huisletter', 'send it as toevoeging.'],
    ['huisletter=b&huisletter=b', 'huisletter', 'send toevoeging=b.'],
    ['number=30&number=31', 'number', 'send it as huisnummer.'],
    ['toevoeging%20=b', 'toevoeging ', 'send toevoeging=b.'],
    ['huis_nlt=30b-99', 'huis_nlt', 'send huisnummer=30 and toevoeging=b99.'],
    ['hnr=5', 'hnr', 'send it as huisnummer.'],
    ['house_number_addition=', 'house_number_addition', 'send no toevoeging.'],
    ['numberAddition=tweehoog', 'numberAddition', 'send it as toevoeging.'],
    ['number=30', 'number', 'send huisnummer=30.'],
    ['housenumber=30a', 'housenumber', 'send huisnummer=30 and toevoeging=a.'],
    ['Huisnummer=5', 'Huisnummer', 'send it as huisnummer.'],
    ['house-number=', 'house-number', 'send huisnummer=30.'],
    ['zipcode=1381DE', 'zipcode', 'send postcode=1381DE.'],
    ['zipcode=9999ZZ', 'zipcode', 'send it as postcode.'],
  ])('%s is refused', (other, parameter, instead) => {
    const fault = faultsOf(`postcode=1381DE&huisnummer=30&${other}`).find((one) => one.parameter === parameter);
    expect(fault).toMatchObject({ code: 'parameter-unknown', detail: expect.stringContaining(instead) });
    expect(fault?.detail.startsWith(`${parameter} is unknown: `)).toBe(true);
  });

  it('is refused, and the missing parameter gets its value as the suggestion', () => {
    expect(faultsOf('zipcode=1381DE&house_number=30')).toEqual([
      {
        parameter: 'postcode',
        code: 'missing',
        detail: 'postcode is required: send postcode=1381DE.',
        suggestion: { postcode: '1381DE' },
      },
      expect.objectContaining({ parameter: 'huisnummer', code: 'missing', suggestion: { huisnummer: '30' } }),
      expect.objectContaining({ parameter: 'zipcode', code: 'parameter-unknown', suggestion: { postcode: '1381DE' } }),
      expect.objectContaining({
        parameter: 'house_number',
        code: 'parameter-unknown',
        suggestion: { huisnummer: '30' },
      }),
    ]);
  });

  it.each([
    'huisnummer=30a&huisnummertoevoeging=100',
    'huisnummer=30a&toevoeging=a100&huisletter=a',
    'house_number=30a&huisnummertoevoeging=100',
  ])('is joined with a toevoeging in the huisnummer: %s', (query) => {
    const details = faultsOf(`postcode=1381DE&${query}`)
      .filter(({ code }) => code !== 'missing')
      .map(({ detail }) => detail);
    expect(details.length).toBeGreaterThan(1);
    for (const detail of details) expect(detail).toContain('toevoeging=a100.');
  });

  it('is not joined with a toevoeging from the huisnummer if it has several values', () => {
    const faults = faultsOf('postcode=1381DE&huisnummer=30a&huisletter=b&huisletter=c');
    expect(faults.map(({ detail }) => detail)).toEqual([
      'huisnummer has more than a number: send one to five digits, from 1 to 99999.',
      'huisletter is unknown: send it as toevoeging.',
    ]);
  });
});

describe('a misspelled name', () => {
  it.each([
    ['toevoging=A', 'send toevoeging=A.', { toevoeging: 'A' }],
    ['toevoeging%C2%A0=A-2', 'send toevoeging=A2.', { toevoeging: 'A2' }],
    ['huisnumer=30', 'send huisnummer=30.', { huisnummer: '30' }],
    ['huisnumer=30A', 'send huisnummer=30 and toevoeging=A.', { huisnummer: '30', toevoeging: 'A' }],
    ['postocde=1381AA', 'send it as postcode.', undefined],
    ['toevoging=B&toevoeging=A', 'send it as toevoeging.', undefined],
    ['inculde=toevoegingen', 'send include=toevoegingen.', { include: 'toevoegingen' }],
    ['Include=all', 'send it as include.', undefined],
  ])('is refused with the name to send: %s', (other, instead, suggestion) => {
    const [fault, ...others] = faultsOf(`${valid}&${other}`);
    expect(others).toEqual([]);
    const name = [...new URLSearchParams(other).keys()][0];
    expect(fault).toEqual({
      parameter: name,
      code: 'parameter-unknown',
      detail: expect.stringMatching(/ is unknown: send .+/),
      ...(suggestion && { suggestion }),
    });
    expect(fault?.detail).toContain(instead);
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
    ['apikey=KEY', 'apikey'],
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
      { parameter, code: 'misplaced-key', detail: expect.stringMatching(/header X-API-Key only.*must be replaced/) },
    ]);
    expect(JSON.stringify(faults)).not.toContain(key.slice(-30));
  });

  it('is one fault of a parameter, whatever else is wrong with it', () => {
    expect(faultsOf(`postcode=${key}&postcode=x&huisnummer=${key}`).map(({ code }) => code)).toEqual([
      'misplaced-key',
      'misplaced-key',
    ]);
  });

  it('is no key if a parameter only mentions the name of the service', () => {
    expect(faultsOf(`${valid}&utm_source=bag-adres&ref=bagadres`).map(({ code }) => code)).toEqual([
      'parameter-unknown',
      'parameter-unknown',
    ]);
  });
});
