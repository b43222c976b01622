import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { addressKey } from '../../../core/addresses/address-key.ts';
import { deriveLines } from '../../../loader/addresses/derive.ts';
import { addressPart, placeText } from '../../../loader/addresses/lines.ts';
import { sortedRows } from '../../../loader/addresses/sort-rows.ts';
import {
  type AdresseerbaarVoorkomen,
  dayOf,
  type NumVoorkomen,
  type ObjectVoorkomen,
  type OprVoorkomen,
  type WplVoorkomen,
} from '../../../loader/bag/voorkomen.ts';
import {
  applyMutations,
  type Objects,
  objectKey,
  withinRegister,
} from '../../../loader/mutations/apply-mutations.ts';
import { type Mutation, readMutations } from '../../../loader/mutations/read-mutations.ts';
import { joinRecords, writeAddressRow } from '../../../loader/register/join-records.ts';
import { recordOf } from '../../../loader/register/record.ts';
import { GrowingBytes, lineBytes, linesOf } from '../../../loader/register/stored-form.ts';
import { Random } from '../../../tools/bench/generator/random.ts';
import {
  type MutationGroup,
  mutationsBetween,
  mutationsXml,
} from '../../support/mutation-delivery.ts';
import { dateAfter, firstState, laterDays } from '../../support/register.ts';
import type { Historie, Voorkomens } from '../../support/stand-xml.ts';
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
      [...object.values()].filter(
        (one): one is Extract<ObjectVoorkomen, { kind: K }> => one.kind === kind,
      ),
    )
    .filter((object) => object.length > 0);
}

/** The records of nummeraanduidingen on a date, and the rows that they send to their parts. */
function joined(objects: Objects, peildatum: string) {
  const records = occurrences(objects, 'NUM').map((all) =>
    recordOf('NUM', all[0]?.identificatie ?? '', all),
  );
  const rows = new Map<string, GrowingBytes>();
  const found = joinRecords(lineBytes(records.sort()), Buffer.alloc(0), peildatum, {
    current(bytes, one) {
      const row = new GrowingBytes();
      writeAddressRow(row, bytes, one, '');
      const part = row.bytes.toString('latin1', 0, 3);
      const lines = rows.get(part) ?? new GrowingBytes();
      rows.set(part, lines);
      lines.write(row.bytes.toString('latin1'), 'latin1');
    },
    several: () => undefined,
  });
  return { records: found.records.toString('latin1'), rows };
}

/** The occurrence of an object that counts. */
function winner<T extends OprVoorkomen | WplVoorkomen | NumVoorkomen>(
  object: T[],
  date: string,
): T | undefined {
  return object
    .filter(({ begin, eind }) => begin <= dayOf(date) && eind > dayOf(date))
    .sort((a, b) => b.begin - a.begin || b.volgnummer - a.volgnummer)[0];
}

function referenceOf(objects: Objects, date: string) {
  const current = <T extends OprVoorkomen | WplVoorkomen>(all: T[][]) =>
    new Map(
      all.flatMap((object) => winner(object, date) ?? []).map((one) => [one.identificatie, one]),
    );
  return {
    openbareRuimten: current(occurrences(objects, 'OPR')),
    woonplaatsen: current(occurrences(objects, 'WPL')),
  };
}

function derived(objects: Objects, date: string): string[] {
  const by = { reference: referenceOf(objects, date), file: 'file', objecten: false };
  const parts = [...joined(objects, date).rows].filter(([part]) => !part.startsWith('#'));
  const lines = parts.flatMap(
    ([, rows]) => deriveLines(sortedRows(rows.bytes), by, () => undefined).lines,
  );
  return lines.flatMap((bytes) => linesOf(bytes.subarray(0, -1))).sort();
}

/**
 * The lines of a state, worked out from the generator's own objects and by rules written apart from
 * the loader's.
 */
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
  const line = (names: Map<string, string[]>) =>
    [...names].map(([name, ids]) => `${name}${ids.sort()}`).sort();
  return [...found].map(([key, names]) => [key, '', ...line(names)].join('\t')).sort();
}

const seeds = fc.integer({ min: 1, max: 1_000_000 });

describe('the register', () => {
  it('gives, after any days of mutations, exactly the addresses of the extract of that date', () => {
    fc.assert(
      fc.property(seeds, (seed) => {
        const random = new Random(seed);
        const first = firstState(random, start);
        const objects = objectsOf(first);
        let vanaf = start;
        for (const { date, state, groups } of laterDays(random, first, start, 6)) {
          applyMutations(objects, {
            file: date,
            vanaf,
            tot: date,
            mutations: read(groups, vanaf, date),
          });
          const fromExtract = objectsOf(state);
          expect(joined(objects, date).records).toBe(joined(fromExtract, date).records);
          const lines = derived(objects, date);
          expect(lines.map(addressPart).filter((line) => line !== null)).toEqual(
            truth(state, date),
          );
          vanaf = date;
        }
      }),
      { numRuns: isFullSweep ? 25 : 8 },
    );
  });
});

const num = (more: Partial<NumVoorkomen> = {}): NumVoorkomen => ({
  kind: 'NUM',
  identificatie: '0457200000000001',
  volgnummer: 3,
  begin: 20_260_108,
  eind: 99_999_999,
  postcode: '1381AA',
  huisnummer: 9,
  huisletter: '',
  huisnummertoevoeging: '',
  openbareRuimte: '0457300000000001',
  woonplaats: null,
  ...more,
});
const change = (
  was: Mutation['was'],
  wordt: NonNullable<Mutation['wordt']>,
  isNew = false,
): Mutation => {
  const { kind, identificatie, volgnummer } = wordt;
  return { kind, identificatie, volgnummer, isNew, was, wordt };
};

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
      applyMutations(objects, {
        file: date,
        vanaf: from,
        tot: date,
        mutations: read(groups, from, date),
      });
      from = date;
    }
    return objects;
  }

  it('change nothing a second time, and set nothing aside', () => {
    const objects = dayBefore();
    const file = {
      file: 'day.zip',
      vanaf,
      tot: day.date,
      mutations: read(day.groups, vanaf, day.date),
    };
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

  it('say of an object that differs how it should have been and how it is, and apply none of its changes', () => {
    const held = num({ huisletter: 'A' });
    const objects: Objects = new Map([[objectKey(held), new Map([[3, held]])]]);
    const mutations = [
      change(null, num({ volgnummer: 4 }), true),
      change(num(), num({ eind: 20_260_109 })),
    ];
    expect(
      applyMutations(objects, { file: 'day.zip', vanaf, tot: day.date, mutations }).examples,
    ).toEqual([
      `day.zip: changes occurrence 3 of ${objectKey(held)} from 1381AA 9 (2026-01-08 on), and it is 1381AA 9A (2026-01-08 on)`,
    ]);
    expect(objects.get(objectKey(held))).toEqual(new Map([[3, held]]));
  });

  it('say that the register does not have an object, rather than that it differs', () => {
    const [wrong] = read(day.groups, vanaf, day.date).filter(({ was }) => was !== null) as [
      Mutation,
    ];
    const file = { file: 'day.zip', vanaf, tot: day.date, mutations: [wrong] };
    expect(applyMutations(new Map(), file).examples[0]).toContain(
      `${wrong.identificatie}, and the dataset has no such object`,
    );
  });
});

describe('the mutations of a national day that concern a municipality', () => {
  const register = {
    holds: (key: string) => key === 'OPR 0457300000000001',
    inhabited: new Set(['3631']),
    gemeenten: ['0457'],
  };
  const vbo: AdresseerbaarVoorkomen = {
    kind: 'VBO',
    identificatie: '0457010000000001',
    volgnummer: 2,
    begin: 20_260_108,
    eind: 99_999_999,
    type: 'verblijfsobject',
    status: 'Verblijfsobject in gebruik',
    oppervlakte: 85,
    gebruiksdoelen: ['woonfunctie'],
    hoofdadres: '0457200000000001',
    nevenadressen: [],
    locatie: { x: 1, y: 2 },
  };
  const kept = (mutations: Mutation[]) =>
    withinRegister(register)({
      file: 'day.zip',
      vanaf: start,
      tot: dateAfter(start, 1),
      mutations,
    });

  it('are those of an object of it that was withdrawn and comes back, also a day before its address', () => {
    const back = [change(null, vbo)];
    expect(kept(back)).toEqual(back);
    const added = [change(null, { ...vbo, volgnummer: 3 }, true)];
    expect(kept(added)).toEqual(added);
  });

  it('are those of one that comes back and changes on the same day', () => {
    const ended = num({ openbareRuimte: '0363300000000001', eind: 20_260_109 });
    const both = [
      change(null, num({ openbareRuimte: '0363300000000001' })),
      change(num({ openbareRuimte: '0363300000000001' }), ended),
    ];
    expect(kept(both)).toEqual(both);
  });

  it('are not those of another municipality, new or coming back', () => {
    const other = { ...vbo, identificatie: '0363010000000001', hoofdadres: '0363200000000001' };
    const elsewhere = {
      identificatie: '0363200000000002',
      volgnummer: 1,
      openbareRuimte: '0363300000000001',
    };
    expect(
      kept([
        change(null, other),
        change(null, { ...other, identificatie: '0363010000000002', volgnummer: 1 }, true),
        change(null, num(elsewhere), true),
      ]),
    ).toEqual([]);
  });

  it('are those of every new woonplaats, since streets may move there, but no others of one elsewhere', () => {
    const { begin, eind } = vbo;
    const woonplaats: WplVoorkomen = {
      kind: 'WPL',
      identificatie: '1024',
      volgnummer: 1,
      begin,
      eind,
      naam: 'Elders',
    };
    const added = change(null, woonplaats, true);
    const changed = change(woonplaats, { ...woonplaats, volgnummer: 2, naam: 'Verder' });
    expect(kept([changed])).toEqual([]);
    expect(kept([added])).toEqual([added]);
  });
});
