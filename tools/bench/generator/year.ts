import type { AdresObject } from '../../../core/adres-object.ts';
import type { Place } from '../../../core/place-fields.ts';
import { Change, keyOf, lineOf } from '../../../loader/addresses/lines.ts';
import {
  addSizes,
  areasOf,
  type PlaceSize,
  type PlaceSizes,
} from '../../../loader/addresses/place-sizes.ts';
import { emptyReport } from '../../../loader/bag/problem-report.ts';
import { ColumnCounter, mergeTallies, noTallies } from '../../../loader/guard/columns.ts';
import { shareOfDays } from '../../../loader/guard/limits.ts';
import { noChanges } from '../../../loader/guard/load-counts.ts';
import { type Earlier, guardLoad, type Objection } from '../../../loader/guard/objections.ts';
import { loadDefaults } from '../../../loader/names.ts';
import { Random } from './random.ts';

/** An address before or after an event. */
type Address = { number: number; suffix?: string; id: number } & Pick<
  Place,
  'straat' | 'woonplaats' | 'gemeente'
> & {
    object?: Partial<AdresObject>;
  };

/**
 * What happens to the addresses of one street: an address before and after it, by its place on the
 * street.
 */
type Event = (
  at: Address,
  i: number,
) => [before: Partial<Address> | null, after: Partial<Address> | null];

const moved = (after: Partial<Address>): ReturnType<Event> => [{}, after];

/**
 * What happens in a year of the country, and to how many addresses of a street each time: 0.5 % of
 * all addresses a month. Nobody publishes such numbers; they were chosen so that large ones are
 * more frequent than they are.
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
  // Objects: a block is taken into use; one of them, or those of a quarter, are rebuilt, used or
  // measured otherwise.
  [1_500, 5, 120, () => [{ object: { status: 'Verblijfsobject gevormd' } }, { object: {} }]],
  [20_000, 1, 1, () => moved({ object: { oppervlakte: 120 } })],
  [60, 100, 800, () => moved({ object: { oppervlakte: 120 } })],
  [2_000, 1, 20, () => moved({ object: { gebruiksdoelen: ['kantoorfunctie'] } })],
  [60, 100, 800, () => moved({ object: { locatie: { x: 1002, y: 2001 } } })],
  [6, 5, 40, () => [{ object: { type: 'ligplaats', status: 'Plaats aangewezen' } }, {}]],
];

const vbo: AdresObject = {
  identificatie: '0001010000000001',
  type: 'verblijfsobject',
  status: 'Verblijfsobject in gebruik',
  hoofdadres: true,
  locatie: { x: 1000, y: 2000 },
  oppervlakte: 85,
  gebruiksdoelen: ['woonfunctie'],
};

/** 2,500 woonplaatsen: most have fewer than 1,000 addresses, and the largest half a million. */
function placesOf(random: Random): [name: string, addresses: number][] {
  const normal = () =>
    Array.from({ length: 12 }, () => random.int(1_000) / 1_000).reduce((a, b) => a + b) - 6;
  const cities = [480_000, 330_000, 280_000, 180_000, 120_000, 110_000];
  return Array.from({ length: 2_500 }, (_, i) => [
    `Plaats ${i}`,
    cities[i] ?? Math.ceil(900 * Math.exp(1.6 * normal())),
  ]);
}

/** Gemeenten that become part of others on the first day. */
const mergers = [
  ['0457', '0363'],
  ['0370', '0439'],
  ['0394', '1598'],
  ['0372', '0373'],
];

/** The gemeente of a woonplaats: one of 340, some of which others become part of. */
function gemeenteOf(woonplaats: string): string {
  const i = Number(woonplaats.slice('Plaats '.length)) % 340;
  return mergers[i]?.[1] ?? `${1_000 + i}`;
}

/** A year of days, with an extract each month; how often a person is asked, by day or by month. */
class Year {
  readonly #random: Random;
  readonly #places: [string, number][];
  readonly #ends: number[] = [];
  readonly sizes: PlaceSizes;
  readonly addresses: number;
  #made = 0;

  constructor(seed: number) {
    this.#random = new Random(seed);
    this.#places = placesOf(this.#random);
    let end = 0;
    for (const [, size] of this.#places) {
      end += size;
      this.#ends.push(end);
    }
    this.addresses = end;
    const sizeOf = (addresses: number): PlaceSize => ({
      addresses,
      toevoegingen: addresses >> 3,
      specialNames: addresses >> 5,
      withObjects: addresses,
      severalUses: addresses >> 5,
      nevenadressen: addresses >> 8,
      ligplaatsen: addresses >> 9,
      standplaatsen: addresses >> 9,
    });
    this.sizes = addSizes(
      this.#places.flatMap(([woonplaats, size]) =>
        areasOf({ woonplaats, gemeente: gemeenteOf(woonplaats) }).map(
          (area): [string, PlaceSize] => [area, sizeOf(size)],
        ),
      ),
    );
  }

  /** What changes on a day, the first of which is 1 January. */
  day(day: number) {
    const columns = new ColumnCounter(true);
    const none = Buffer.alloc(0);
    const happen = (woonplaats: string, size: number, event: Event) => {
      const straat = `Straat ${this.#made++}`;
      for (let i = 0; i < size; i++) {
        const at: Address = {
          number: 1 + i,
          id: this.#made++,
          straat,
          woonplaats,
          gemeente: gemeenteOf(woonplaats),
        };
        const [before, after] = event(at, i).map((fields) => fields && line({ ...at, ...fields }));
        const old = before ?? null;
        const now = after ?? null;
        const hasOneKey = !old || !now || keyOf(old) === keyOf(now);
        const changes = hasOneKey
          ? [new Change(old, now)]
          : [new Change(old, null), new Change(null, now)];
        for (const change of changes) columns.add(change);
      }
      columns.endPart(none, none);
    };
    for (const [aYear, least, most, event] of events) {
      const often = Math.floor(aYear / 365) + Number(this.#random.chance((aYear / 365) % 1));
      for (let i = 0; i < often; i++) {
        happen(this.#anyPlace(most), least + this.#random.int(most - least + 1), event);
      }
    }
    if (day === 0) this.#mergers(happen);
    const renamed: string[] = [];
    if (day % 90 === 30) {
      const [name, size] = this.#places[100 + this.#random.int(2_000)] as [string, number];
      happen(name, size, () => moved({ woonplaats: `${name} aan Zee` }));
      renamed.push(name);
    }
    return { tallies: columns.end(), renamed };
  }

  /** Four gemeenten of 25 woonplaatsen each become part of others, and rename 60 streets. */
  #mergers(happen: (woonplaats: string, size: number, event: Event) => void): void {
    for (let merger = 0; merger < 4; merger++) {
      for (let i = 0; i < 25; i++) {
        const [name, size] = this.#places[200 + merger * 25 + i] as [string, number];
        happen(name, Math.min(size, 4_000), () => [
          { gemeente: mergers[merger]?.[0] },
          { gemeente: mergers[merger]?.[1] },
        ]);
        for (let street = 0; street < 60 / 25; street++) {
          happen(name, 20, ({ straat }) => moved({ straat: `Oude ${straat}` }));
        }
      }
    }
  }

  /** A woonplaats by its size; large ones happen where there is room for them. */
  #anyPlace(size: number): string {
    for (;;) {
      const at = this.#random.int(this.addresses);
      const [name, addresses] = this.#places[this.#ends.findIndex((end) => at < end)] as [
        string,
        number,
      ];
      if (addresses >= size / 2) return name;
    }
  }
}

function line({ number, suffix = '', id, object, ...place }: Address): string {
  const nummeraanduidingen = [`${id}`.padStart(16, '0')];
  const objecten = [{ ...vbo, ...object }];
  return lineOf({
    key: `1381AA#${number}#${suffix}`,
    places: [{ ...place, nummeraanduidingen, objecten }],
  });
}

/**
 * The objections to these days of a year, each loaded by itself, and to each month of them: all
 * gemeenten that merge do so on the first day.
 */
export function askedInYear(seed: number, first: number, days: number) {
  const year = new Year(seed);
  const counts = {
    ...noChanges(),
    voorkomens: 0,
    nummeraanduidingen: 0,
    addresses: 9_000_000,
    problems: emptyReport(),
  };
  const live = { peildatum: '2025-12-31', addresses: year.addresses, places: year.sizes };
  const shareOfDay = shareOfDays([{ vanaf: '2025-12-31', tot: '2026-01-01' }]);
  const load = { peildatum: '2026-12-31', allowOlder: false };
  const found: { daily: Objection[][]; monthly: Objection[][] } = { daily: [], monthly: [] };
  let earlier: Earlier | null = null;
  let month = noTallies();
  let gone: string[] = [];
  const asked = (tallies: typeof month, before: Earlier | null, share: number) => {
    const after = { ...year.sizes };
    for (const name of gone) delete after[name];
    const judged = { ...load, after, tallies, earlier: before };
    return guardLoad(counts, judged, live, loadDefaults.guard, share);
  };
  for (let day = first; day < first + days; day++) {
    const { tallies, renamed } = year.day(day);
    gone = [...gone, ...renamed];
    const { objections, sums } = asked(tallies, earlier, shareOfDay);
    if (objections.length > 0) found.daily.push(objections);
    const isMonth = day % 30 === 29;
    earlier = objections.length > 0 || isMonth ? null : { since: '', ...sums };
    month = mergeTallies([month, tallies]);
    if (!isMonth) continue;
    const ofMonth = asked(month, null, 1).objections;
    if (ofMonth.length > 0) found.monthly.push(ofMonth);
    month = noTallies();
    gone = [];
  }
  return found;
}
