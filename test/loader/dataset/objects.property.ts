import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { addressKey } from '../../../core/addresses/address-key.ts';
import { type Mutation, readMutations } from '../../../loader/bag/mutations.ts';
import { NumBytes } from '../../../loader/bag/num-bytes.ts';
import type { Problem } from '../../../loader/bag/problem-report.ts';
import {
  dayOf,
  type NumVoorkomen,
  noEind,
  type ObjectVoorkomen,
  type OprVoorkomen,
  type WplVoorkomen,
} from '../../../loader/bag/voorkomen.ts';
import { applyMutations, type Objects, objectKey } from '../../../loader/dataset/apply-mutations.ts';
import { addressPart, placeText } from '../../../loader/dataset/lines.ts';
import { findNamed, indexOfLines, mayHave, namedObjects } from '../../../loader/dataset/named-objects.ts';
import {
  identificatieOf,
  longestSingleLine,
  objectLines,
  parseObjectLine,
  referencesOf,
  writeSingleLine,
} from '../../../loader/dataset/objects.ts';
import { GrowingBytes } from '../../../loader/dataset/stored-form.ts';
import type { Historie, Voorkomens } from '../../../local/demo/stand-xml.ts';
import { Random } from '../../../tools/bench/generator/random.ts';
import { deriveLines } from '../../support/derive-lines.ts';
import { type MutationGroup, mutationsBetween, mutationsXml } from '../../support/mutation-delivery.ts';
import { dateAfter, firstState, laterDays } from '../../support/register.ts';
import { isFullSweep } from '../../support/sweep.ts';

const start = '2026-01-08';
const nothing: Voorkomens = { NUM: [], OPR: [], WPL: [] };

/** Groups as the reader gives them. */
function read(groups: readonly MutationGroup[], vanaf: string, tot: string): Mutation[] {
  return readMutations(Buffer.from(mutationsXml(groups, vanaf, tot)), 'day.xml').mutations;
}

/** All occurrences of a state, as an extract of it would give them. */
function objectsOf(state: Voorkomens): Objects {
  const objects: Objects = new Map();
  for (const { wordt } of read(mutationsBetween(nothing, state), dateAfter(start, -1), start)) {
    if (!wordt) continue;
    const key = objectKey(wordt);
    objects.set(key, (objects.get(key) ?? new Map()).set(wordt.volgnummer, wordt));
  }
  return objects;
}

function occurrences<K extends ObjectVoorkomen['kind']>(objects: Objects, kind: K) {
  return [...objects.values()]
    .map((object) =>
      [...object.values()].filter((one): one is Extract<ObjectVoorkomen, { kind: K }> => one.kind === kind),
    )
    .filter((object) => object.length > 0);
}

function partsOf(objects: Objects, peildatum: string): Map<string, string[]> {
  const parts = new Map<string, string[]>();
  for (const object of occurrences(objects, 'NUM')) {
    for (const [part, lines] of objectLines(object, peildatum)) parts.set(part, [...(parts.get(part) ?? []), ...lines]);
  }
  return new Map([...parts].sort().map(([part, lines]) => [part, lines.sort()]));
}

/** The occurrence of an object that counts. */
function winner<T extends OprVoorkomen | WplVoorkomen | NumVoorkomen>(object: T[], date: string): T | undefined {
  return object
    .filter(({ begin, eind }) => begin <= dayOf(date) && eind > dayOf(date))
    .sort((a, b) => b.begin - a.begin || b.volgnummer - a.volgnummer)[0];
}

function referenceOf(objects: Objects, date: string) {
  const current = <T extends OprVoorkomen | WplVoorkomen>(all: T[][]) =>
    new Map(all.flatMap((object) => winner(object, date) ?? []).map((one) => [one.identificatie, one]));
  return {
    openbareRuimten: current(occurrences(objects, 'OPR')),
    woonplaatsen: current(occurrences(objects, 'WPL')),
  };
}

function derived(
  parts: Map<string, string[]>,
  objects: Objects,
  date: string,
): { lines: string[]; problems: Problem[] } {
  const problems: Problem[] = [];
  const by = { reference: referenceOf(objects, date), peildatum: date, file: 'file' };
  const lines = [...parts.values()].flatMap((part) => deriveLines(part, by, (problem) => problems.push(problem)).lines);
  return { lines: lines.sort(), problems };
}

/** The lines of a state, worked out from the generator's own objects and by rules written apart from the loader's. */
function truth({ NUM, OPR, WPL }: Voorkomens, date: string): string[] {
  const counting = <T extends Historie & { identificatie: string }>(all: T[]): T[] => {
    const now = all.filter(
      (one) =>
        one.live !== false &&
        !one.tijdstipInactief &&
        !one.tijdstipInactiefLV &&
        one.begin <= date &&
        !(one.eind !== undefined && one.eind <= date),
    );
    const best = new Map<string, T>();
    for (const one of now) {
      const other = best.get(one.identificatie);
      const later = (a: T, b: T) =>
        a.begin > b.begin || (a.begin === b.begin && (a.volgnummer ?? 1) > (b.volgnummer ?? 1));
      if (!other || later(one, other)) best.set(one.identificatie, one);
    }
    return [...best.values()];
  };
  const streets = new Map(counting(OPR).map((street) => [street.identificatie, street]));
  const places = new Map(counting(WPL).map((place) => [place.identificatie, place.naam]));
  const found = new Map<string, Map<string, string[]>>();
  for (const num of counting(NUM)) {
    const street = streets.get(num.openbareRuimte);
    const place = street && places.get(num.woonplaats ?? street.woonplaats);
    if (!num.postcode || !street || !place) continue;
    const toevoeging = (num.huisletter ?? '') + (num.huisnummertoevoeging ?? '');
    const key = addressKey({ postcode: num.postcode, huisnummer: num.huisnummer, toevoeging });
    const names = found.get(key) ?? new Map<string, string[]>();
    const name = placeText({ straat: street.naam, woonplaats: place });
    found.set(key, names.set(name, [...(names.get(name) ?? []), num.identificatie]));
  }
  const line = (names: Map<string, string[]>) => [...names].map(([name, ids]) => `${name}${ids.sort()}`).sort();
  return [...found].map(([key, names]) => [key, '', ...line(names)].join('\t')).sort();
}

const seeds = fc.integer({ min: 1, max: 1_000_000 });

/** Occurrences as the reader accepts them. */
const occurrence: fc.Arbitrary<NumVoorkomen> = fc.record({
  kind: fc.constant('NUM' as const),
  identificatie: fc.constantFrom('0457200000199640', '9999200000199641'),
  volgnummer: fc.integer({ min: 1, max: 99_999 }),
  begin: fc.constantFrom(0, 1, 9_990_101, 20_100_929),
  eind: fc.constantFrom(20_300_101, noEind),
  postcode: fc.constantFrom('1381AA', '9999ZZ', null),
  huisnummer: fc.integer({ min: 1, max: 99_999 }),
  huisletter: fc.constantFrom('', 'a', 'Z'),
  huisnummertoevoeging: fc.constantFrom('', 'bis', '01R', '1234'),
  openbareRuimte: fc.constant('0457300000000035'),
  woonplaats: fc.constantFrom('1050', null),
});

describe('a line of the object layer', () => {
  it('is read back as its occurrence, with the toevoeging joined and in upper case', () => {
    fc.assert(
      fc.property(occurrence, (num) => {
        const [[part, [line]]] = [...objectLines([num], '2026-01-08')] as [[string, [string]]];
        expect(part).toBe(num.postcode?.slice(0, 3) ?? '000');
        const huisnummertoevoeging = (num.huisletter + num.huisnummertoevoeging).toUpperCase();
        expect(parseObjectLine(line)).toEqual({ ...num, huisletter: '', huisnummertoevoeging });
      }),
    );
  });

  it('is the same bytes where it is written without a string', () => {
    fc.assert(
      fc.property(occurrence, fc.nat(5_000), (num, start) => {
        const lines = new GrowingBytes();
        lines.length = start;
        lines.reserve(longestSingleLine);
        writeSingleLine(lines, NumBytes.of(num), num);
        const [[, [line]]] = [...objectLines([num], '2026-01-08')] as [[string, [string]]];
        expect(lines.bytes.toString('latin1', start)).toBe(line);
      }),
    );
  });
});

describe('lines by what they name', () => {
  it('are found in the bytes of a part as in its lines', () => {
    const few = occurrence.map((num) => ({ ...num, openbareRuimte: `045730000000${num.huisnummer % 3}035` }));
    const asked = fc.constantFrom<string>(
      '0457200000199640',
      '1457200000199640',
      '0457300000001035',
      '0457300000000035',
    );
    fc.assert(
      fc.property(fc.array(few, { maxLength: 6 }), fc.uniqueArray(asked), (nums, ids) => {
        const lines = nums.flatMap((num) => [...objectLines([num], '2026-01-08').values()].flat());
        const bytes = Buffer.from(lines.join('\n'), 'latin1');
        const num = namedObjects('identificatie', new Set(ids));
        expect(findNamed([bytes], num).lines).toEqual(lines.filter((line) => ids.includes(identificatieOf(line))));
        const street = namedObjects('reference', new Set(ids));
        expect(findNamed([bytes], street).lines).toEqual(
          lines.filter((line) => ids.includes(referencesOf(line).street)),
        );
      }),
    );
  });

  it('are in the index of their block, and others are not', () => {
    // The digits of the kind of object, the same for all, are not in the index.
    const idsOf = (kind: string) =>
      fc
        .uniqueArray(
          fc.tuple(
            fc.integer({ min: 0, max: 9_999 }),
            fc.oneof(fc.nat(30), fc.integer({ min: 0, max: 9_999_999_999 })),
          ),
          { selector: String, minLength: 1, maxLength: 30 },
        )
        .map((all) =>
          all.map(([gemeente, n]) => `${String(gemeente).padStart(4, '0')}${kind}${String(n).padStart(10, '0')}`),
        );
    fc.assert(
      fc.property(occurrence, idsOf('20'), idsOf('30'), (num, ids, streets) => {
        const [absent = '', ...present] = ids;
        const [absentStreet = '', ...presentStreets] = streets;
        const nums = present.map((identificatie, i) => ({
          ...num,
          identificatie,
          openbareRuimte: presentStreets[i % presentStreets.length] ?? '0457300000000035',
        }));
        const lines = nums.flatMap((one) => [...objectLines([one], '2026-01-08').values()].flat());
        const index = indexOfLines(Buffer.from(lines.join('\n'), 'latin1'));
        const has = (field: 'identificatie' | 'reference', id: string) =>
          mayHave(index, namedObjects(field, new Set([id])));
        for (const one of nums) {
          expect(has('identificatie', one.identificatie)).toBe(true);
          expect(has('reference', one.openbareRuimte)).toBe(true);
        }
        expect([has('identificatie', absent), has('reference', absentStreet)]).toEqual([false, false]);
      }),
      { numRuns: isFullSweep ? 30 : 10 },
    );
  });
});

describe('the object layer', () => {
  it('gives, after any days of mutations, exactly the addresses of the extract of that date', () => {
    fc.assert(
      fc.property(seeds, (seed) => {
        const random = new Random(seed);
        const first = firstState(random, start);
        const objects = objectsOf(first);
        let vanaf = start;
        for (const { date, state, groups } of laterDays(random, first, start, 6)) {
          applyMutations(objects, { file: date, vanaf, tot: date, mutations: read(groups, vanaf, date) });
          const fromExtract = objectsOf(state);
          expect(partsOf(objects, date)).toEqual(partsOf(fromExtract, date));
          const { lines } = derived(partsOf(objects, date), objects, date);
          expect(lines.map(addressPart).filter((line) => line !== null)).toEqual(truth(state, date));
          vanaf = date;
        }
      }),
      { numRuns: isFullSweep ? 25 : 8 },
    );
  });

  it('changes on the dates that it announces, and on no other one', () => {
    fc.assert(
      fc.property(seeds, (seed) => {
        const objects = objectsOf(firstState(new Random(seed), start));
        const parts = partsOf(objects, start);
        const nextOf = (date: string) =>
          [...parts.values()]
            .flatMap((part) => {
              const by = { reference: referenceOf(objects, date), peildatum: date, file: 'file' };
              return deriveLines(part, by, () => {}).next ?? [];
            })
            .sort()[0] ?? null;
        let announced = nextOf(start);
        for (let day = 1; day <= 8; day++) {
          const date = dateAfter(start, day);
          const isChange = announced !== null && announced <= date;
          const { lines } = derived(parts, objects, date);
          const { lines: before } = derived(parts, objects, dateAfter(date, -1));
          if (!isChange) expect(lines).toEqual(before);
          else announced = nextOf(date);
        }
      }),
      { numRuns: isFullSweep ? 15 : 5 },
    );
  });
});

describe('days of mutations', () => {
  const random = new Random(7);
  const first = firstState(random, start);
  const days = [...laterDays(random, first, start, 12)].filter(({ groups }) => groups.length > 2);
  const [day] = days as [(typeof days)[number]];
  const vanaf = dateAfter(day.date, -1);

  /** The register the day before. */
  function dayBefore(): Objects {
    const again = new Random(7);
    const objects = objectsOf(firstState(again, start));
    let from = start;
    for (const { date, groups } of laterDays(again, first, start, 12)) {
      if (date === day.date) break;
      applyMutations(objects, { file: date, vanaf: from, tot: date, mutations: read(groups, from, date) });
      from = date;
    }
    return objects;
  }

  it('change nothing a second time, and set nothing aside', () => {
    const objects = dayBefore();
    const file = { file: 'day.zip', vanaf, tot: day.date, mutations: read(day.groups, vanaf, day.date) };
    applyMutations(objects, file);
    const after = structuredClone(objects);
    expect(applyMutations(objects, file)).toMatchObject({ count: 0 });
    expect(objects).toEqual(after);
  });

  it('set an object aside, by name, whose earlier value differs from the register, with all of its changes', () => {
    const mutations = read(day.groups, vanaf, day.date);
    const wrong = mutations.find(({ was }) => was !== null) as Mutation;
    const key = objectKey(wrong);
    const objects = dayBefore();
    const held = structuredClone(objects.get(key)) as Map<number, ObjectVoorkomen>;
    for (const [number, voorkomen] of held) held.set(number, { ...voorkomen, begin: 19_000_101 });
    objects.set(key, structuredClone(held));
    const found = applyMutations(objects, { file: 'day.zip', vanaf, tot: day.date, mutations });
    expect(found).toMatchObject({
      file: 'day.zip',
      count: 1,
      examples: [expect.stringContaining(wrong.identificatie)],
    });
    expect(objects.get(key)).toEqual(held);
    const right = dayBefore();
    applyMutations(right, { file: 'day.zip', vanaf, tot: day.date, mutations });
    right.set(key, held);
    expect(objects).toEqual(right);
  });

  it('say that the register does not have an object, rather than that it differs', () => {
    const [wrong] = read(day.groups, vanaf, day.date).filter(({ was }) => was !== null) as [Mutation];
    const file = { file: 'day.zip', vanaf, tot: day.date, mutations: [wrong] };
    expect(applyMutations(new Map(), file).examples[0]).toContain(
      `${wrong.identificatie}, and the dataset has no such object`,
    );
  });
});
