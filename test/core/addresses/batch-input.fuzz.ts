import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { readBatchInput } from '../../../core/addresses/batch-input.ts';
import { faultCodes } from '../../../core/contract.ts';
import { isFullSweep } from '../../support/sweep.ts';

/**
 * The faults of a body, each at a pointer with a known code and a sentence; none of a body that is
 * valid.
 */
function faultsOf(body: string): { pointer: string; code: string }[] {
  const input = readBatchInput(body);
  if (input.requests) return [];
  return input.faults().faults.map((fault) => {
    if (!('pointer' in fault)) throw new Error('a body has no parameters');
    expect([fault.pointer, fault.detail]).toEqual([
      expect.stringMatching(/^(\/|$)/),
      expect.stringMatching(/\.$/),
    ]);
    expect(faultCodes).toContain(fault.code);
    return fault;
  });
}

describe('any body', () => {
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
      { numRuns: isFullSweep ? 500 : 60 },
    );
  });
});

/** An object as it is written: members in their order, which may have equal names. */
type Written = { name: string; value: Written[] | unknown; space: string; escapes: boolean }[];

const { written } = fc.letrec<{ written: Written; values: unknown }>((tie) => ({
  written: fc.array(
    fc.record({
      name: fc.constantFrom(
        'addresses',
        'include',
        'postcode',
        'huisnummer',
        'toevoeging',
        'a/b~c',
        '":{,',
        '',
      ),
      value: tie('values'),
      space: fc.constantFrom('', ' ', '\n\t'),
      escapes: fc.boolean(),
    }),
    { maxLength: 5 },
  ),
  values: fc.oneof(
    // No pointer is longer than what a fault repeats.
    { maxDepth: 2, withCrossShrink: true },
    fc.constantFrom<unknown>(
      1,
      12,
      null,
      true,
      '1012JS',
      'A',
      '"a":{"b":1}',
      '\\',
      [],
      ['toevoegingen'],
    ),
    fc.record({ members: tie('written') }),
    fc.record({ list: fc.array(fc.record({ members: tie('written') }), { maxLength: 3 }) }),
  ),
}));

/**
 * The text of an object; adds the pointer of each member that it has more than once to `repeated`.
 */
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
  if (list) {
    return `[${list.map((one, i) => write(one.members, `${at}/${i}`, repeated)).join(', ')}]`;
  }
  return JSON.stringify(value);
}
