import assert from 'node:assert/strict';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { addProblem, emptyReport, problemCounts } from '../../../loader/bag/problem-report.ts';
import { dayOf, type NumVoorkomen, noEind } from '../../../loader/bag/voorkomen.ts';
import { BlockedLines } from '../../../loader/dataset/block-file.ts';
import { deriveRows } from '../../../loader/dataset/derive-rows.ts';
import { editPart } from '../../../loader/dataset/edit-part.ts';
import { diff, joinRows } from '../../../loader/dataset/lines.ts';
import { edited } from '../../../loader/dataset/object-shard.ts';
import { objectLines } from '../../../loader/dataset/objects.ts';

const peildatum = '2026-01-09';
const part = '138';
const streets = [1, 2, 3].map((index) => `045730000000000${index}`);
const reference = {
  // The third street is not there.
  openbareRuimten: new Map(
    streets.slice(0, 2).map((id) => [id, { identificatie: id, naam: `Straat ${id.at(-1)}`, woonplaats: '3631' }]),
  ),
  woonplaatsen: new Map([['3631', { identificatie: '3631', naam: 'Weesp' }]]),
};

/** An occurrence in this part, in another one, or without a postcode; now, in the past or in the future. */
const occurrence = fc.record({
  postcode: fc.constantFrom('1381AA', '1381AB', '1389ZZ', '1012RJ', null),
  huisnummer: fc.constantFrom(1, 2, 10, 11),
  huisletter: fc.constantFrom('', 'A', 'B'),
  openbareRuimte: fc.constantFrom(...streets),
  begin: fc.constantFrom('2010-01-01', '2025-01-01', '2026-02-01').map(dayOf),
  eind: fc.constantFrom(noEind, noEind, noEind, dayOf('2025-06-01'), dayOf('2026-03-01')),
});
const usualObject = fc.array(occurrence, { minLength: 1, maxLength: 1 });
const object = fc.oneof({ weight: 2, arbitrary: usualObject }, fc.array(occurrence, { maxLength: 3 }));
/** An object before and after the edit; nothing where it stays. */
const objects = fc.array(fc.tuple(object, fc.option(object, { nil: undefined })), { minLength: 1, maxLength: 14 });

function linesBy(index: number, occurrences: object[]): Map<string, string[]> {
  const identificatie = `0457200000000${String(index).padStart(3, '0')}`;
  const all = occurrences.map((one, at) => ({
    ...{ kind: 'NUM', identificatie, volgnummer: at + 1, huisnummertoevoeging: '', woonplaats: null },
    ...one,
  }));
  return objectLines(all as NumVoorkomen[], peildatum);
}

function derived(lines: string[]) {
  const problems = emptyReport();
  const { next, ...rows } = deriveRows(lines, reference, peildatum, 'file', (one) => addProblem(problems, one));
  return { lines: joinRows(rows), result: { addresses: rows.keys.length, problems: problemCounts(problems), next } };
}

describe('a part of which only the edited addresses are derived', () => {
  it('is the same as one that is derived whole', () => {
    const seen = { edited: 0, left: 0 };
    fc.assert(
      fc.property(objects, (all) => {
        const edit = { remove: [] as string[], add: [] as string[] };
        const stored: string[] = [];
        for (const [index, [before, after]] of all.entries()) {
          const held = linesBy(index, before).get(part) ?? [];
          stored.push(...held);
          if (!after) continue;
          edit.remove.push(...held);
          edit.add.push(...(linesBy(index, after).get(part) ?? []));
        }
        stored.sort();
        const before = derived(stored);
        const held = {
          objects: BlockedLines.ofLines(stored),
          lines: BlockedLines.ofLines(before.lines),
          result: before.result,
        };
        const found = editPart(held, edit, reference, peildatum, 'file');
        seen[found ? 'edited' : 'left']++;
        if (!found) return;
        const whole = edited([...stored], edit);
        const { lines, result } = derived(whole);
        assert.deepEqual(found.objects.lines(), whole);
        assert.deepEqual(found.lines.lines(), lines);
        const changes = found.groups.flatMap((group) => [...diff(group.before, group.after)]);
        assert.deepEqual(changes, [...diff(before.lines, lines)]);
        assert.deepEqual({ ...found.result, next: null }, { ...result, next: null });
        assert.deepEqual(problemCounts(found.problems), result.problems);
        // A date that no occurrence has any more is early, which only derives the whole part on that day.
        assert.ok((found.result.next ?? '9999') <= (result.next ?? '9999'));
      }),
      { numRuns: 2_000 },
    );
    expect(Math.min(seen.edited, seen.left)).toBeGreaterThan(20);
  });
});
