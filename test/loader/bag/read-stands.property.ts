import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { fileXml } from '../../support/stand-xml.ts';
import { isFullSweep, sweep } from '../../support/sweep.ts';
import { sample, weespXml } from '../../support/weesp-truth.ts';
import { anyDamage, anyNum, anyPlaats, anyVbo } from './damaged-files.ts';
import { numXml, ofPeildatum, outcomeOf, peildatum, read, someNum } from './nummeraanduidingen.ts';

// Ten thousand comparisons: an `expect` each would take as long as reading the files. So would the
// long stacks of the refusals.
Error.stackTraceLimit = 5;

describe('the fast reader and the strict reader', () => {
  it('agree on any file: the same objects and counts, or the same refusal', () => {
    const seen = { read: 0, refused: 0 };
    fc.assert(
      fc.property(
        fc.array(anyNum, { maxLength: 6 }),
        fc.array(anyDamage, { maxLength: 3 }),
        (nums, damages) => {
          const xml = damages.reduce(
            (file, damage) => damage(file),
            Buffer.from(numXml(...nums)) as Buffer,
          );
          const outcome = read(xml, 'strict');
          assert.deepEqual(read(xml, 'fast'), outcome);
          seen['counts' in outcome ? 'read' : 'refused']++;
        },
      ),
      { numRuns: isFullSweep ? 4_000 : 300 },
    );
    expect(Math.min(seen.read, seen.refused)).toBeGreaterThan(20);
  });

  it.each([
    ['VBO', anyVbo],
    ['LIG', anyPlaats],
    ['STA', anyPlaats],
  ] as const)('agree on any file of %s', (kind, anyStand) => {
    const seen = { read: 0, refused: 0, visited: 0 };
    fc.assert(
      fc.property(
        fc.array(anyStand as fc.Arbitrary<never>, { maxLength: 4 }),
        fc.array(anyDamage, { maxLength: 1 }),
        (stands, damages) => {
          const xml = damages.reduce(
            (file, damage) => damage(file),
            Buffer.from(fileXml(kind, stands, peildatum)) as Buffer,
          );
          const outcome = outcomeOf(kind, xml, 'strict');
          assert.deepEqual(outcomeOf(kind, xml, 'fast'), outcome);
          seen['counts' in outcome ? 'read' : 'refused']++;
          if ('counts' in outcome) seen.visited += outcome.visited.length;
        },
      ),
      { numRuns: isFullSweep ? 4_000 : 200 },
    );
    expect(Math.min(seen.read, seen.refused, seen.visited)).toBeGreaterThan(20);
  });

  (isFullSweep && existsSync(sample) ? it : it.skip)(
    'agree on the adresseerbare objecten of Weesp',
    async () => {
      for (const kind of ['VBO', 'LIG', 'STA'] as const) {
        for (const xml of await weespXml(new RegExp(`^0457${kind}\\d+\\.zip$`))) {
          const [fast, strict] = (['fast', 'strict'] as const).map((reader) =>
            outcomeOf(kind, ofPeildatum(xml), reader),
          );
          assert.deepEqual(fast, strict);
        }
      }
    },
  );

  it('agree on a file that is truncated at any byte, or lacks any byte', () => {
    const xml = Buffer.from(
      numXml({ ...someNum, woonplaats: '1050', eind: '2030-01-01' }, someNum),
    );
    const first = xml.indexOf('<sl:inhoud>');
    for (const i of sweep(
      Array.from({ length: xml.length - first }, (_, at) => first + at),
      80,
    )) {
      const endsHere = xml.subarray(0, i);
      const outcome = read(endsHere, 'fast');
      assert.deepEqual({ i, ...outcome }, { i, ...read(endsHere, 'strict') });
      assert.equal('code' in outcome && outcome.code, 'invalid_xml');
      const lacksThis = Buffer.concat([endsHere, xml.subarray(i + 1)]);
      assert.deepEqual({ i, ...read(lacksThis, 'fast') }, { i, ...read(lacksThis, 'strict') });
    }
  });
});
