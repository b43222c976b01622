import assert from 'node:assert/strict';
import { describe, expect, it, jest } from '@jest/globals';
import fc from 'fast-check';
import { type MutationXml, readMutations } from '../../../loader/bag/mutations.ts';
import { SchemaParser } from '../../../loader/bag/schema.ts';
import type { ExtractErrorCode } from '../../../loader/extract-error.ts';
import { type MutationGroup, mutationsXml } from '../../support/mutation-delivery.ts';
import type { NumStand } from '../../support/stand-xml.ts';
import { isFullSweep, sweep } from '../../support/sweep.ts';
import { anyDamage, anyNum } from './damaged-files.ts';
import { someNum } from './nummeraanduidingen.ts';

function xmlOf(groups: readonly MutationGroup[]): Buffer {
  return Buffer.from(mutationsXml(groups, '2026-01-08', '2026-01-09'));
}

/** What a reader made of a file, or its refusal. Anything but an `ExtractError` escapes. */
function read(xml: Buffer, strictly: boolean): MutationXml | { code: ExtractErrorCode; message: string } {
  try {
    return readMutations(xml, 'day.xml', { strictly });
  } catch (error) {
    const { name, code, message } = error as { name: string; code: ExtractErrorCode; message: string };
    if (name !== 'ExtractError') throw error;
    return { code, message };
  }
}

/** Mostly one object; a change of an occurrence, or a new one. */
const change = fc.tuple(fc.option(anyNum), anyNum).map(([was, wordt]) => (was ? { was, wordt } : { wordt }));
const group = fc
  .array(change, { minLength: 1, maxLength: 3 })
  .map((changes): MutationGroup => ({ kind: 'NUM', changes }));
const first: MutationGroup = { kind: 'NUM', changes: [{ wordt: someNum }] };

// Thousands of comparisons: an `expect` each would take as long as reading the files. So would the long stacks.
Error.stackTraceLimit = 5;

describe('the two readers of mutations', () => {
  it('agree on any file: the same changes and problems, or the same refusal', () => {
    const seen = { read: 0, refused: 0 };
    fc.assert(
      fc.property(fc.array(group, { maxLength: 5 }), fc.array(anyDamage, { maxLength: 2 }), (groups, damages) => {
        const xml = damages.reduce((file, damage) => damage(file), xmlOf([first, ...groups]));
        const outcome = read(xml, true);
        assert.deepEqual(read(xml, false), outcome);
        seen['code' in outcome ? 'refused' : 'read']++;
      }),
      { numRuns: isFullSweep ? 1_000 : 150 },
    );
    expect(Math.min(seen.read, seen.refused)).toBeGreaterThan(20);
  });

  it('agree on a file that is truncated at any byte of a group, or lacks any byte of it', () => {
    const full: NumStand = { ...someNum, woonplaats: '1050', documentnummer: 'B&W-1774', eind: '2026-01-09' };
    const xml = xmlOf([first, { kind: 'NUM', changes: [{ wordt: full }] }]);
    const [from, to] = [xml.indexOf('</ml:mutatieGroep>'), xml.lastIndexOf('</ml:mutatieGroep>') + 20];
    for (const i of sweep(
      Array.from({ length: to - from }, (_, at) => from + at),
      151,
    )) {
      const bytes = Buffer.concat([xml.subarray(0, i), i % 4 === 0 ? Buffer.alloc(0) : xml.subarray(i + 1)]);
      assert.deepEqual({ i, ...read(bytes, false) }, { i, ...read(bytes, true) });
    }
  });

  it.each(['Historie', 'Objecten-ref'])('agree that the prefix %s stands for its namespace', (prefix) => {
    const building =
      '<ml:mutatieGroep><ml:toevoeging><ml:wordt><mlm:bagObject><Objecten:Pand/></mlm:bagObject></ml:wordt></ml:toevoeging></ml:mutatieGroep>';
    const xml = xmlOf([first]).toString().replace('<ml:mutatieGroep>', `${building}<ml:mutatieGroep>`);
    const other = Buffer.from(xml.replace(`xmlns:${prefix}="`, `xmlns:${prefix}="other-`));
    const outcome = read(other, true);
    expect(outcome).toMatchObject({ code: 'unknown_schema' });
    expect(read(other, false)).toEqual(outcome);
  });

  it('agree on an object without contents, and without one of its values', () => {
    const xml = xmlOf([first, first]).toString();
    const last = xml.lastIndexOf('<Objecten:Nummeraanduiding>');
    const missing = ['Nummeraanduiding', 'status'].map((name) => {
      const value = new RegExp(`<Objecten:${name}>.*?</Objecten:${name}>`);
      const bytes = Buffer.from(xml.slice(0, last) + xml.slice(last).replace(value, ''));
      const outcome = read(bytes, true);
      expect(read(bytes, false)).toEqual(outcome);
      return 'code' in outcome ? outcome.code : outcome.mutations.length;
    });
    expect(missing).toEqual([1, 'invalid_xml']);
  });

  it('share the work: the strict one reads only the first of usual groups', () => {
    const changes = [
      { was: someNum, wordt: { ...someNum, eind: '2026-01-09', tijdstipInactief: '2026-01-08T10:00:00.000' } },
      { wordt: { ...someNum, volgnummer: 2, woonplaats: '1050', live: false, documentnummer: 'B&W-1774' } },
    ];
    const usual: MutationGroup[] = [first, { kind: 'NUM', changes }, first];
    const write = jest.spyOn(SchemaParser.prototype, 'write');
    try {
      const { mutations } = readMutations(xmlOf(usual), 'day.xml');
      const strictBytes = write.mock.calls.reduce((sum, [piece]) => sum + piece.length, 0);
      expect([mutations.length, strictBytes]).toEqual([4, xmlOf([first]).length]);
    } finally {
      write.mockRestore();
    }
  });
});
