import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { dayOf, type NumVoorkomen, noEind } from '../../../loader/bag/voorkomen.ts';
import { inOrder, joinRecords, ObjectsOfNums } from '../../../loader/register/join-records.ts';
import { recordOf } from '../../../loader/register/record.ts';
import { linesOf } from '../../../loader/register/stored-form.ts';

const peildatum = '2026-01-08';
const day = dayOf(peildatum);
const ids = [
  '0457200000000001',
  '0457200000000002',
  '0457200000000003',
  '0457200000000004',
  '9999200000000001',
];

/** Occurrences of so few objects and dates that many are of one, and begin or end together. */
const occurrence: fc.Arbitrary<NumVoorkomen> = fc.record({
  kind: fc.constant('NUM' as const),
  identificatie: fc.constantFrom(...ids),
  volgnummer: fc.integer({ min: 1, max: 12 }),
  begin: fc.constantFrom(20_100_101, 20_200_101, day, day + 1),
  eind: fc.constantFrom(day, day + 1, noEind),
  postcode: fc.constantFrom('1381AA', null),
  huisnummer: fc.integer({ min: 1, max: 3 }),
  huisletter: fc.constant(''),
  huisnummertoevoeging: fc.constant(''),
  openbareRuimte: fc.constant('0457300000000035'),
  woonplaats: fc.constant(null),
});
const occurrences = fc.uniqueArray(occurrence, {
  maxLength: 14,
  selector: ({ identificatie, volgnummer }) => `${identificatie} ${volgnummer}`,
});

const byId = (all: readonly NumVoorkomen[]) =>
  Map.groupBy(all, ({ identificatie }) => identificatie);
const recordsOf = (objects: ReadonlyMap<string, readonly NumVoorkomen[]>) =>
  [...objects].map(([id, all]) => recordOf('NUM', id, all)).sort();
const bufferOf = (lines: readonly string[]) =>
  Buffer.from(lines.map((line) => `${line}\n`).join(''), 'latin1');

/** What joining gives: the records, and what was visited. */
function join(lines: readonly string[], changed: readonly string[] = []) {
  const current: string[] = [];
  const later: string[] = [];
  const several: string[] = [];
  const { records, count, repeated } = joinRecords(
    inOrder(bufferOf(lines)),
    bufferOf(changed),
    peildatum,
    {
      current: ({ bytes }, { start, at, end }) =>
        current.push(
          `${bytes.toString('latin1', start, start + 18)}${bytes.toString('latin1', at, end)}`,
        ),
      later: ({ bytes }, start) => later.push(bytes.toString('latin1', start + 1, start + 17)),
      several: (id) => several.push(id),
    },
  );
  return { records: linesOf(records.subarray(0, -1)), count, repeated, current, later, several };
}

/** The same by rules written apart from the loader's. */
function model(objects: ReadonlyMap<string, readonly NumVoorkomen[]>) {
  const kept = new Map(
    [...objects]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .flatMap(([id, all]) => {
        const left = all.filter(({ eind }) => eind > day);
        return left.length > 0 ? [[id, left] as const] : [];
      }),
  );
  const holding = [...kept].map(([id, all]) => {
    const now = all.filter(({ begin }) => begin <= day);
    return { id, now: now.sort((a, b) => b.begin - a.begin || b.volgnummer - a.volgnummer) };
  });
  return {
    records: recordsOf(kept),
    count: kept.size,
    repeated: 0,
    current: holding.flatMap(({ id, now: [first] }) =>
      first ? [recordOf('NUM', id, [first])] : [],
    ),
    later: [...kept].flatMap(([id, all]) => all.filter(({ begin }) => begin > day).map(() => id)),
    several: holding.flatMap(({ id, now }) => now.slice(1).map(() => id)),
  };
}

describe('joining records', () => {
  it('gives each object with what has not ended, and visits the occurrence that counts, in whatever order they were read', () => {
    fc.assert(
      fc.property(occurrences, fc.infiniteStream(fc.nat()), (all, numbers) => {
        const lines = all.map((one) => recordOf('NUM', one.identificatie, [one]));
        const expected = model(byId(all));
        expect(join(lines.toSorted())).toEqual(expected);
        const order = new Map(lines.map((line) => [line, numbers.next().value]));
        expect(join(lines.toSorted((a, b) => (order.get(a) ?? 0) - (order.get(b) ?? 0)))).toEqual(
          expected,
        );
      }),
    );
  });

  it('puts a record that days have changed in the place of another, and gives the same when it is joined again', () => {
    fc.assert(
      fc.property(occurrences, occurrences, fc.subarray(ids), (all, after, changed) => {
        const objects = byId(all);
        const now = new Map(objects);
        for (const id of changed) {
          now.set(
            id,
            after.filter(({ identificatie }) => identificatie === id),
          );
        }
        const changes = changed.map((id) => recordOf('NUM', id, now.get(id) ?? [])).sort();
        const found = join(recordsOf(objects), changes);
        expect(found).toEqual(model(now));
        expect(join(found.records, changes)).toEqual(found);
      }),
    );
  });

  it('counts what is there twice, once', () => {
    const one = recordOf('NUM', '0457200000000001', [
      {
        kind: 'NUM',
        identificatie: '0457200000000001',
        volgnummer: 1,
        begin: 20_100_101,
        eind: noEind,
        postcode: '1381AA',
        huisnummer: 9,
        huisletter: '',
        huisnummertoevoeging: '',
        openbareRuimte: '0457300000000035',
        woonplaats: null,
      },
    ]);
    expect(join([one, one, one])).toMatchObject({
      records: [one],
      count: 1,
      repeated: 2,
      several: [],
    });
  });
});

describe('the objects of nummeraanduidingen', () => {
  const row = (num: number, object: number, role = 1) =>
    `045720000000000${num}045701000000000${object}Vg${role},1,2,85,w`;
  const objects = () =>
    new ObjectsOfNums(bufferOf([row(2, 1), row(1, 3), row(1, 2, 0), row(1, 2)]));

  it('are those that name one, in order and each once', () => {
    expect(objects().take('0457200000000001')).toBe(
      '0457010000000002Vg1,1,2,85,w;0457010000000003Vg1,1,2,85,w',
    );
    expect(objects().take('0457200000000009')).toBe('');
  });

  it('are a problem where nothing takes them', () => {
    const found = objects();
    found.take('0457200000000001');
    const identificatie = '0457010000000001';
    const detail = '0457200000000002';
    expect(found.missing('x.zip')).toEqual([
      { kind: 'address_missing', file: 'x.zip', identificatie, detail },
    ]);
  });
});
