import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { readBatchInput } from '../../../core/addresses/batch-input.ts';
import { faultCodes, maxAddresses } from '../../../core/contract.ts';

/** The faults of a body: pointers and codes, each with a sentence; none of a body that is valid. */
function faultsOf(body: string): { pointer: string; code: string }[] {
  const input = readBatchInput(body);
  if (input.requests) return [];
  const faults = input.faults();
  expect(faults.length).toBeGreaterThan(0);
  return faults.map((fault) => {
    if (!('pointer' in fault)) throw new Error('a body has no parameters');
    expect(fault.pointer).toMatch(/^(\/|$)/);
    expect(faultCodes).toContain(fault.code);
    expect(fault.detail).toMatch(/\.$/);
    return fault;
  });
}

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
        const faults = faultsOf(JSON.stringify(sent));
        expect(new Set(faults.map(({ pointer, code }) => `${pointer} ${code}`)).size).toBe(faults.length);
      }),
      { numRuns: 500 },
    );
  });

  it('that is no JSON has one fault', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        fc.pre(text.trim() !== '}');
        expect(faultsOf(`{${text}`)).toMatchObject([{ pointer: '', code: 'body-form' }]);
      }),
    );
  });

  it('is invalid at the pointer of each member that an object has more than once, however it is written', () => {
    fc.assert(
      fc.property(written, (members) => {
        const repeated = new Set<string>();
        const text = write(members, '', repeated);
        const found = faultsOf(text)
          .filter(({ code }) => code === 'duplicate')
          .map(({ pointer }) => pointer);
        expect(found.sort()).toEqual([...repeated].sort());
      }),
      { numRuns: 500 },
    );
  });
});

/** An object as it is written: members in their order, which may have equal names. */
type Written = { name: string; value: Written[] | unknown; space: string; escapes: boolean }[];

const { written } = fc.letrec<{ written: Written; values: unknown }>((tie) => ({
  written: fc.array(
    fc.record({
      name: fc.constantFrom('addresses', 'include', 'postcode', 'huisnummer', 'toevoeging', 'a/b~c', '":{,', ''),
      value: tie('values'),
      space: fc.constantFrom('', ' ', '\n\t'),
      escapes: fc.boolean(),
    }),
    { maxLength: 5 },
  ),
  values: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom<unknown>(1, 12, null, true, '1012JS', 'A', '"a":{"b":1}', '\\', [], ['toevoegingen']),
    fc.record({ members: tie('written') }),
    fc.record({ list: fc.array(fc.record({ members: tie('written') }), { maxLength: 3 }) }),
  ),
}));

/** The text of an object; adds the pointer of each member that it has more than once to `repeated`. */
function write(members: Written, at: string, repeated: Set<string>): string {
  const names = new Set<string>();
  const texts = members.map(({ name, value, space, escapes }) => {
    const pointer = `${at}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
    if (names.has(name)) repeated.add(pointer);
    names.add(name);
    const code = (letter: string) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`;
    const written = escapes ? `"${[...name].map(code).join('')}"` : JSON.stringify(name);
    return `${written}${space}:${space}${writeValue(value, pointer, repeated)}`;
  });
  return `{${texts.join(',')}}`;
}

function writeValue(value: unknown, at: string, repeated: Set<string>): string {
  const { members, list } = (value ?? {}) as { members?: Written; list?: { members: Written }[] };
  if (members) return write(members, at, repeated);
  if (list) return `[${list.map((one, i) => write(one.members, `${at}/${i}`, repeated)).join(', ')}]`;
  return JSON.stringify(value);
}
