import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { maxAddresses, readBatchInput } from '../../../core/addresses/batch-input.ts';
import { faultCodes } from '../../../core/contract.ts';

const value = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    '',
    ' ',
    0,
    12,
    -1,
    1.5,
    1e21,
    true,
    '12A',
    '1012JS',
    '1381 aa',
    'A',
    'a-b',
    'bagadres_a_b',
  ),
  fc.jsonValue({ maxDepth: 2 }),
);
const name = fc.oneof(
  fc.constantFrom(
    'postcode',
    'huisnummer',
    'toevoeging',
    'include',
    'huisletter',
    'toevoging',
    '__proto__',
    'a/b~c',
    '',
  ),
  fc.string({ maxLength: 12 }),
);
const address = fc.oneof(
  { weight: 4, arbitrary: fc.dictionary(name, value, { maxKeys: 5 }) },
  {
    weight: 2,
    arbitrary: fc.record({ postcode: fc.constant('1012JS'), huisnummer: fc.integer({ min: 1, max: 99_999 }) }),
  },
  { weight: 1, arbitrary: value },
);
const include = fc.oneof(
  fc.array(fc.constantFrom('toevoegingen', 'nummeraanduidingen', 'x', ''), { maxLength: 3 }),
  value,
);
const body = fc.oneof(
  fc.record({ addresses: fc.array(address, { maxLength: 4 }), include, other: value }, { requiredKeys: [] }),
  value,
);

describe('any body', () => {
  it('is read, or has a fault with a known code at a pointer into what was sent', () => {
    fc.assert(
      fc.property(body, (sent) => {
        const input = readBatchInput(JSON.stringify(sent));
        if (input.requests) {
          expect(input.requests.length).toBe((sent as { addresses: unknown[] }).addresses.length);
          expect(input.requests.length).toBeLessThanOrEqual(maxAddresses);
          return;
        }
        const faults = input.faults();
        expect(faults.length).toBeGreaterThan(0);
        for (const { pointer, code, detail } of faults) {
          expect(pointer).toMatch(/^(\/|$)/);
          expect(faultCodes).toContain(code);
          expect(detail).toMatch(/\.$/);
        }
        expect(new Set(faults.map(({ pointer, code }) => `${pointer} ${code}`)).size).toBe(faults.length);
      }),
      { numRuns: 500 },
    );
  });

  it('that is no JSON has one fault', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        const input = readBatchInput(`{${text}`);
        expect(input.requests).toBeNull();
        if (input.requests === null) expect(input.faults().length).toBeGreaterThan(0);
      }),
    );
  });
});
