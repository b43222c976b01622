import assert from 'node:assert/strict';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { addProblem, emptyReport, problemCounts } from '../../../loader/bag/problem-report.ts';
import { dayOf, type NumVoorkomen, noEind, type OpenbareRuimte } from '../../../loader/bag/voorkomen.ts';
import { editsOf, objectsOf } from '../../../loader/dataset/apply-mutations.ts';
import { BlockedLines } from '../../../loader/dataset/block-file.ts';
import { type DerivedBy, lookupBefore } from '../../../loader/dataset/derive-rows.ts';
import { editPart } from '../../../loader/dataset/edit-part.ts';
import { joinTexts } from '../../../loader/dataset/join-rows.ts';
import { countLines } from '../../../loader/dataset/line-segment.ts';
import { diff, placeText, type RowTexts, rowsIn } from '../../../loader/dataset/lines.ts';
import { findNamed, namedObjects } from '../../../loader/dataset/named-objects.ts';
import { identificatieOf, objectLines, referencesOf } from '../../../loader/dataset/objects.ts';
import { deriveLines } from '../../support/derive-lines.ts';
import { isFullSweep } from '../../support/sweep.ts';

const part = '138';
const streets = [1, 2, 3].map((index) => `045730000000000${index}`);
const woonplaatsen = new Map([['3631', { identificatie: '3631', naam: 'Weesp' }]]);
const streetOf = (identificatie: string, naam: string): OpenbareRuimte => ({
  identificatie,
  naam,
  woonplaats: '3631',
});

/** The third street is not there; of what the second is before and after, the property chooses. */
function by(peildatum: string, second: string | null): DerivedBy {
  const named = [
    streetOf(streets[0] as string, 'Straat 1'),
    ...(second ? [streetOf(streets[1] as string, second)] : []),
  ];
  const openbareRuimten = new Map(named.map((street) => [street.identificatie, street]));
  return { reference: { openbareRuimten, woonplaatsen }, peildatum, file: 'file' };
}

/** An occurrence in this part, in another one, or without a postcode; now, in the past or in the future. */
const occurrence = fc.record({
  postcode: fc.constantFrom('1381AA', '1381AB', '1389ZZ', '1012RJ', null),
  huisnummer: fc.constantFrom(1, 2, 10, 11),
  huisletter: fc.constantFrom('', 'A', 'B'),
  openbareRuimte: fc.constantFrom(...streets),
  begin: fc.constantFrom('2010-01-01', '2025-01-01', '2026-01-10', '2026-01-11', '2026-02-01').map(dayOf),
  eind: fc.constantFrom(noEind, noEind, noEind, noEind, ...['2025-06-01', '2026-01-10', '2026-03-01'].map(dayOf)),
});
const usualObject = fc.array(occurrence, { minLength: 1, maxLength: 1 });
const object = fc.oneof({ weight: 2, arbitrary: usualObject }, fc.array(occurrence, { maxLength: 3 }));
/** An object before and after the edit; nothing where it stays. */
const objects = fc.array(fc.tuple(object, fc.option(object, { nil: undefined })), { minLength: 1, maxLength: 14 });
const secondStreet = fc.constantFrom('Straat 2', 'Nieuwe Straat 2', null);

function objectOf(index: number, occurrences: object[]): NumVoorkomen[] {
  const identificatie = `0457200000000${String(index).padStart(3, '0')}`;
  return occurrences.map((one, at) => ({
    ...{ kind: 'NUM', identificatie, volgnummer: at + 1, huisnummertoevoeging: '', woonplaats: null },
    ...one,
  })) as NumVoorkomen[];
}

function derived(objects: string[], by: DerivedBy) {
  const problems = emptyReport();
  const { lines, counts, addresses, next } = deriveLines(objects, by, (one) => addProblem(problems, one));
  expect(counts).toEqual(countLines(lines));
  return { lines, result: { nummeraanduidingen: addresses, problems: problemCounts(problems), next } };
}

describe('a part of which only the edited objects are derived', () => {
  it('is the same as one that is derived whole, also on a later date and with another street', () => {
    const seen = { turned: 0, street: 0, next: 0 };
    const dates = fc.constantFrom('2026-01-09', '2026-01-10', '2026-01-11', '2026-02-01');
    fc.assert(
      fc.property(objects, dates, secondStreet, secondStreet, (all, to, streetThen, streetNow) => {
        const [then, now] = [by('2026-01-09', streetThen), by(to, streetNow)];
        const linesAt = (index: number, occurrences: object[], { peildatum }: DerivedBy) =>
          objectLines(objectOf(index, occurrences), peildatum).get(part) ?? [];
        const stored = all.flatMap(([before], index) => linesAt(index, before, then)).sort();
        const before = derived(stored, then);
        const whole = all.flatMap(([held, after], index) => linesAt(index, after ?? held, now)).sort();
        const { lines, result } = derived(whole, now);

        const edited = new Map(all.flatMap(([, after], index) => (after ? [[index, after] as const] : [])));
        const onChanged = stored.filter((line) => streetThen !== streetNow && referencesOf(line).street === streets[1]);
        const ids = [...edited.keys()].map((index) => objectOf(index, [{}])[0]?.identificatie as string);
        const named = namedObjects('identificatie', new Set([...ids, ...onChanged.map(identificatieOf)]));
        const text = Buffer.from(stored.join('\n'), 'latin1');
        const turning = findNamed(stored.length > 0 ? [text] : [], named, {
          from: dayOf(then.peildatum),
          to: dayOf(to),
        });
        const found = new Map(
          [...Map.groupBy(turning.lines, identificatieOf)].map(([id, ofId]) => [id, new Map([[part, ofId]])]),
        );
        const held = objectsOf(found);
        for (const [index, after] of edited) {
          const occurrences = objectOf(index, after).map((one) => [one.volgnummer, one] as const);
          held.set(`NUM ${objectOf(index, [{}])[0]?.identificatie}`, new Map(occurrences));
        }
        const edit = editsOf(found, held, to, new Map([[part, turning.next]]))[part] ?? { remove: [], add: [] };

        const reference = {
          openbareRuimten: lookupBefore(
            now.reference.openbareRuimten,
            streetThen === streetNow ? [] : [streets[1] as string],
            streetThen ? [streetOf(streets[1] as string, streetThen)] : [],
          ),
          woonplaatsen,
        };
        const made = editPart(
          { objects: BlockedLines.ofLines(stored), lines: BlockedLines.ofLines(before.lines), result: before.result },
          edit,
          { ...then, reference },
          now,
        );
        assert.deepEqual(made.objects.lines(), whole);
        assert.deepEqual(made.lines.lines(), lines);
        const changes = made.groups.flatMap((group) => [...diff(group.before, group.after)]);
        assert.deepEqual(changes, [...diff(before.lines, lines)]);
        assert.deepEqual({ ...made.result, next: null }, { ...result, next: null });
        assert.deepEqual(problemCounts(made.problems), result.problems);
        // A date that no occurrence has any more is early, which only reads the part on that day.
        assert.ok((made.result.next ?? '9999') <= (result.next ?? '9999'));
        assert.ok((made.result.next ?? '9999') > to);
        seen.turned += Number(turning.lines.some((line) => !named.ids.has(identificatieOf(line))));
        seen.street += Number(onChanged.length > 0);
        seen.next += Number(made.result.next !== null);
      }),
      { numRuns: isFullSweep ? 2_000 : 300 },
    );
    expect(Math.min(seen.turned, seen.street, seen.next)).toBeGreaterThan(15);
  });
});

describe('the rows of lines', () => {
  it('are those that they were joined from, in their order', () => {
    const id = (index: number) => `045720000000000${index}`;
    const [a, b, c] = ['A', 'B', 'C'].map((straat) => placeText({ straat, woonplaats: 'Weesp' })) as [
      string,
      string,
      string,
    ];
    const rows: RowTexts[] = [
      ['1381AA#9#', a, id(1)],
      ['1381AA#9#', a, id(2)],
      ['1381AA#9#', b, id(3)],
      ['1381AA#9#A', a, id(4)],
      ['1381AB#1#X', c, id(5)],
    ];
    expect(joinTexts(rows)).toHaveLength(4); // one line has only a list
    expect(rowsIn(joinTexts(rows))).toEqual(rows);
    expect(rowsIn(joinTexts([]))).toEqual([]);
  });
});
