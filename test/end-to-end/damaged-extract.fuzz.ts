import { beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { RandomAccess } from '../../loader/zip/random-access.ts';
import { examplePeildatum, exampleVoorkomens } from '../support/example-extract.ts';
import { readExtract } from '../support/read-extract.ts';
import { isFullSweep } from '../support/sweep.ts';
import { type Packing, writeExtract } from '../support/write-extract.ts';

const packings: Packing[] = [
  {},
  { inner: 'deflated' },
  { layout: 'municipality', inner: 'deflated', zip64: true },
  { layout: 'municipality' },
];
let extracts: Buffer[];
let whole: Awaited<ReturnType<typeof readExtract>>;

beforeAll(async () => {
  const { NUM, OPR, WPL, relaties = [] } = exampleVoorkomens();
  const extract = (packing: Packing) =>
    writeExtract(examplePeildatum, { NUM, OPR, WPL, relaties }, packing);
  extracts = await Promise.all(packings.map(extract));
  whole = await readExtract(extracts[0] as Buffer);
});

type Damage = 'cut' | 'doubled' | 'zeroed' | 'filled' | 'ended';

/** A copy of the zip with a range removed, repeated, overwritten, or as its end. */
function damaged(zip: Buffer, damage: Damage, start: number, end: number): Buffer {
  const before = zip.subarray(0, start);
  const range = zip.subarray(start, end);
  const after = zip.subarray(end);
  const between = {
    cut: [],
    doubled: [range, range],
    zeroed: [Buffer.alloc(range.length)],
    filled: [Buffer.alloc(range.length, 0xff)],
    ended: [],
  }[damage];
  return Buffer.concat(damage === 'ended' ? [before] : [before, ...between, after]);
}

/**
 * Fails, as a file or a server does, where a read would not lie within the zip: callers have to
 * look before.
 */
function strictAccess(zip: Buffer): RandomAccess {
  return {
    size: zip.length,
    async read(position, length) {
      if (!(position >= 0 && length >= 0 && position + length <= zip.length)) {
        throw new RangeError(`no ${length} bytes at ${position} in ${zip.length}`);
      }
      return Buffer.from(zip.subarray(position, position + length));
    },
  };
}

const place = fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true });
const length = fc.oneof(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1, max: 20_000 }));
/** Half of the damage is to the last 2,000 bytes, which are the directory of the outer zip. */
const inDirectory = fc.boolean();

describe('an extract with a range cut, doubled or overwritten', () => {
  it('is read correctly, or refused with an ExtractError that names the file and says what to do', async () => {
    const seen = { read: 0, refused: 0 };
    await fc.assert(
      fc.asyncProperty(
        fc.nat(packings.length - 1),
        fc.constantFrom<Damage>('cut', 'doubled', 'zeroed', 'filled', 'ended'),
        place,
        length,
        inDirectory,
        async (index, damage, where, bytes, atEnd) => {
          const zip = extracts[index] as Buffer;
          const from = atEnd ? Math.max(0, zip.length - 2_000) : 0;
          const start = from + Math.floor((zip.length - from) * where);
          const source = strictAccess(damaged(zip, damage, start, start + bytes));
          const outcome = await readExtract(source).catch((error: Error) => error);
          if (outcome instanceof Error) {
            expect({ name: outcome.name, message: outcome.message }).toEqual({
              name: 'ExtractError',
              message: expect.stringMatching(/^extract\.zip.*: .*\b(get|give|make|update|use)\b/is),
            });
            seen.refused++;
          } else {
            expect(outcome.rows).toEqual(whole.rows);
            seen.read++;
          }
        },
      ),
      { numRuns: isFullSweep ? 600 : 100 },
    );
    expect(Math.min(seen.read, seen.refused)).toBeGreaterThan(0);
  });
});
