import { describe, expect, it } from '@jest/globals';
import type { AdresObject } from '../../../core/adres-object.ts';
import type { Place } from '../../../core/place-fields.ts';
import { Change, keyOf, lineOf } from '../../../loader/addresses/lines.ts';
import type { PlaceSize } from '../../../loader/addresses/place-sizes.ts';
import { emptyReport } from '../../../loader/bag/problem-report.ts';
import { loadDefaults } from '../../../loader/names.ts';
import { countChange, noChanges } from '../../../loader/verdict/load-counts.ts';
import { type Earlier, judge, type Objection, thresholdsOfDays } from '../../../loader/verdict/objections.ts';
import { mergeTallies, noTallies, PlaceCounter } from '../../../loader/verdict/place-changes.ts';
import { Random } from '../../../tools/bench/generator/random.ts';
import { isFullSweep } from '../../support/sweep.ts';

/** An address before or after an event. */
type Address = { number: number; suffix?: string; id: number } & Pick<Place, 'straat' | 'woonplaats' | 'gemeente'> & {
    object?: Partial<AdresObject>;
  };

/** What happens to the addresses of one street: an address before and after it, by its place on the street. */
type Event = (at: Address, i: number) => [before: Partial<Address> | null, after: Partial<Address> | null];

const moved = (after: Partial<Address>): ReturnType<Event> => [{}, after];

/**
 * What happens in a year of the country, and to how many addresses of a street each time: 0.5 % of all addresses a
 * month. Nobody publishes such numbers; they were chosen so that large ones are more frequent than they are.
 */
const events: [aYear: number, least: number, most: number, Event][] = [
  // A new house, a new street, a quarter, and one of 2,000.
  [15_000, 1, 1, () => [null, {}]],
  [2_500, 5, 60, () => [null, {}]],
  [60, 300, 800, () => [null, {}]],
  [6, 2_000, 2_000, () => [null, {}]],
  // A house goes, a block of flats, and a large one.
  [12_000, 1, 1, () => [{}, null]],
  [400, 10, 120, () => [{}, null]],
  [12, 150, 250, () => [{}, null]],
  // A street is numbered anew, a holiday park is, and a street gets another postcode.
  [150, 10, 120, ({ number }) => moved({ number: number + 200 })],
  [4, 150, 250, ({ number }) => moved({ number: number + 500 })],
  // A street is renamed; its name is corrected in a special letter.
  [1_200, 5, 120, ({ straat }) => moved({ straat: `Nieuwe ${straat}` })],
  [60, 5, 100, ({ straat }) => [{ straat: `${straat}é` }, { straat: `${straat}e` }]],
  // Flats lose their letter, or have digits instead.
  [3_000, 1, 1, () => [{ suffix: 'A' }, {}]],
  [40, 20, 120, () => [{ suffix: 'A' }, {}]],
  [100, 10, 60, (_, i) => [{ suffix: 'A' }, { suffix: `${i % 10}` }]],
  // Another object at the same address; addresses that go to the next woonplaats.
  [30_000, 1, 1, ({ id }) => moved({ id: id + 1_000_000_000 })],
  [20, 5, 150, () => moved({ woonplaats: 'Elders' })],
  // Objects: a block is taken into use; one of them, or those of a quarter, are rebuilt, used or measured otherwise.
  [1_500, 5, 120, () => [{ object: { status: 'Verblijfsobject gevormd' } }, { object: {} }]],
  [20_000, 1, 1, () => moved({ object: { oppervlakte: 120 } })],
  [60, 100, 800, () => moved({ object: { oppervlakte: 120 } })],
  [2_000, 1, 20, () => moved({ object: { gebruiksdoelen: ['kantoorfunctie'] } })],
  [60, 100, 800, () => moved({ object: { locatie: { x: 1002, y: 2001 } } })],
  [6, 5, 40, () => [{ object: { type: 'ligplaats', status: 'Plaats aangewezen' } }, {}]],
];

const vbo: AdresObject = {
  ...{ identificatie: '0001010000000001', type: 'verblijfsobject', status: 'Verblijfsobject in gebruik' },
  ...{ hoofdadres: true, locatie: { x: 1000, y: 2000 }, oppervlakte: 85, gebruiksdoelen: ['woonfunctie'] },
};

/** 2,500 woonplaatsen: most have fewer than 1,000 addresses, and the largest half a million. */
function country(random: Random): [name: string, addresses: number][] {
  const normal = () => Array.from({ length: 12 }, () => random.int(1_000) / 1_000).reduce((a, b) => a + b) - 6;
  const cities = [480_000, 330_000, 280_000, 180_000, 120_000, 110_000];
  return Array.from({ length: 2_500 }, (_, i) => [
    `Plaats ${i}`,
    cities[i] ?? Math.ceil(900 * Math.exp(1.6 * normal())),
  ]);
}

/** A year of days, with an extract each month; how often a person is asked, by day or by month. */
class Year {
  readonly #random: Random;
  readonly #places: [string, number][];
  readonly #ends: number[] = [];
  readonly sizes: Record<string, PlaceSize>;
  readonly addresses: number;
  #made = 0;

  constructor(seed: number) {
    this.#random = new Random(seed);
    this.#places = country(this.#random);
    let end = 0;
    for (const [, size] of this.#places) {
      end += size;
      this.#ends.push(end);
    }
    this.addresses = end;
    const sizeOf = (size: number): PlaceSize => [size, size >> 4, size >> 5, size >> 5, size >> 9, size >> 9, size];
    this.sizes = Object.fromEntries(this.#places.map(([name, size]) => [name, sizeOf(size)]));
  }

  /** What changes on a day, the first of which is 1 January. */
  day(day: number) {
    const counts = { ...noChanges(), objecten: { live: this.addresses, changed: 0, lost: 0, moved: 0 } };
    const places = new PlaceCounter();
    const happen = (woonplaats: string, size: number, event: Event) => {
      const straat = `Straat ${this.#made++}`;
      for (let i = 0; i < size; i++) {
        const at: Address = { number: 1 + i, id: this.#made++, straat, woonplaats, gemeente: '0001' };
        const [before, after] = event(at, i).map((one) => one && line({ ...at, ...one }));
        const [old, now] = [before ?? null, after ?? null];
        const hasOneKey = !old || !now || keyOf(old) === keyOf(now);
        const changes = hasOneKey ? [new Change(old, now)] : [new Change(old, null), new Change(null, now)];
        for (const change of changes) places.count(change, countChange(counts, change));
      }
      places.endPart();
    };
    for (const [aYear, least, most, event] of events) {
      const often = Math.floor(aYear / 365) + Number(this.#random.chance((aYear / 365) % 1));
      for (let i = 0; i < often; i++) happen(this.#anyPlace(most), least + this.#random.int(most - least + 1), event);
    }
    if (day === 0) this.#mergers(happen);
    if (day % 90 === 30) {
      const [name, size] = this.#places[100 + this.#random.int(2_000)] as [string, number];
      happen(name, size, () => moved({ woonplaats: `${name} aan Zee` }));
    }
    return places.end(50);
  }

  /** Four gemeenten of 25 woonplaatsen each become part of others, and rename 60 streets. */
  #mergers(happen: (woonplaats: string, size: number, event: Event) => void): void {
    for (let merger = 0; merger < 4; merger++) {
      for (let i = 0; i < 25; i++) {
        const [name, size] = this.#places[200 + merger * 25 + i] as [string, number];
        happen(name, Math.min(size, 4_000), () => [{ gemeente: `200${merger}` }, { gemeente: `100${merger}` }]);
        for (let street = 0; street < 60 / 25; street++)
          happen(name, 20, ({ straat }) => moved({ straat: `Oude ${straat}` }));
      }
    }
  }

  /** A woonplaats by its size; large ones happen where there is room for them. */
  #anyPlace(size: number): string {
    for (;;) {
      const at = this.#random.int(this.addresses);
      const [name, addresses] = this.#places[this.#ends.findIndex((end) => at < end)] as [string, number];
      if (addresses >= size / 2) return name;
    }
  }
}

function line({ number, suffix = '', id, object, ...place }: Address): string {
  const nummeraanduidingen = [`${id}`.padStart(16, '0')];
  const objecten = [{ ...vbo, ...object }];
  return lineOf({ key: `1381AA#${number}#${suffix}`, places: [{ ...place, nummeraanduidingen, objecten }] });
}

/** The objections of a year, of which these days happen: all gemeenten that merge do so on the first one. */
function asked(seed: number, first: number, days: number) {
  const year = new Year(seed);
  const counts = {
    ...noChanges(),
    ...{ voorkomens: 0, nummeraanduidingen: 0, addresses: 9_000_000, problems: emptyReport() },
  };
  const live = { peildatum: '2025-12-31', addresses: year.addresses, places: year.sizes };
  const ofDay = thresholdsOfDays(loadDefaults.guard, [{ vanaf: '2025-12-31', tot: '2026-01-01' }]);
  const load = { peildatum: '2026-12-31', allowOlder: false, after: year.sizes };
  const found: { daily: Objection[][]; monthly: Objection[][] } = { daily: [], monthly: [] };
  let earlier: Earlier | null = null;
  let month = noTallies();
  for (let day = first; day < first + days; day++) {
    const tallies = year.day(day);
    const { objections } = judge(counts, { ...load, tallies, earlier }, live, loadDefaults.guard, ofDay);
    if (objections.length > 0) found.daily.push(objections);
    const isMonth = day % 30 === 29;
    earlier =
      objections.length > 0 || isMonth
        ? null
        : { since: '', ...mergeTallies([earlier ?? noTallies(), { ...tallies, streets: {} }]) };
    month = mergeTallies([month, tallies]);
    if (!isMonth) continue;
    const ofMonth = judge(counts, { ...load, tallies: month }, live, loadDefaults.guard).objections;
    if (ofMonth.length > 0) found.monthly.push(ofMonth);
    month = noTallies();
  }
  return found;
}

describe('the guard of the country', () => {
  it.each(
    isFullSweep
      ? [
          [1, 0, 365, 0, 0],
          [2, 0, 365, 0, 0],
          [3, 0, 365, 0, 0],
        ]
      : [[1, 20, 10, 0, 0]],
  )(
    'asks a person as often as this in year %i, from day %i on, of %i ordinary days: %i times where each day is loaded, %i times where each month is',
    (seed, first, days, daily, monthly) => {
      const { daily: ofDays, monthly: ofMonths } = asked(seed, first, days);
      const messages = [...ofDays, ...ofMonths].flat().map(({ message }) => message);
      expect({ daily: ofDays.length, monthly: ofMonths.length, messages }).toEqual({ daily, monthly, messages });
    },
  );
});
