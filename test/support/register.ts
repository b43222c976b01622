import type { Random } from '../../tools/bench/generator/random.ts';
import { type MutationGroup, mutationsBetween } from './mutation-delivery.ts';
import type {
  Historie,
  NumStand,
  OprStand,
  PlaatsStand,
  VboStand,
  Voorkomens,
  WplStand,
} from './stand-xml.ts';

/** The date `days` after another one. */
export function dateAfter(date: string, days: number): string {
  return new Date(Date.parse(date) + days * 86_400_000).toISOString().slice(0, 10);
}

/**
 * One day of a made-up register: its state, and the mutations that led to it from the day before.
 */
export type RegisterDay = { date: string; state: Voorkomens; groups: MutationGroup[] };

/** A small register of a few streets, in which every odd case occurs within some days. */
export function firstState(random: Random, date: string, objects = 40): Voorkomens {
  const begin = '2010-01-01';
  const names = ['Weesp', 'Muiden', 'Amsterdam'];
  const WPL: WplStand[] = names.map((naam, i) => ({ identificatie: `10${12 + i}`, naam, begin }));
  const OPR: OprStand[] = Array.from({ length: 8 }, (_, i) => ({
    identificatie: id('30', i),
    naam: `Straat ${'ABCDEFGH'[i]}`,
    woonplaats: random.pick(WPL).identificatie,
    begin,
  }));
  const NUM = Array.from({ length: objects }, (_, i) => num(random, i, OPR, begin, date, objects));
  return {
    NUM,
    OPR,
    WPL,
    relaties: WPL.map(({ identificatie }) => ({
      woonplaats: identificatie,
      gemeente: '0457',
      begin,
    })),
  };
}

/**
 * The same register with an adresseerbaar object for nearly every address, and in every odd case.
 */
export function withObjecten(random: Random, state: Voorkomens, date: string): Voorkomens {
  const VBO: VboStand[] = [];
  const LIG: PlaatsStand[] = [];
  const STA: PlaatsStand[] = [];
  for (const { identificatie } of state.NUM) {
    if (random.chance(0.05)) continue;
    const span = { ...addressesOf(random, state, identificatie), begin: beginOf(random, date) };
    const eind = random.chance(0.05) && { eind: dateAfter(date, 1 + random.int(6)) };
    const live = random.chance(0.05) && { live: false };
    const object = { ...span, ...eind, ...live };
    if (random.chance(0.8)) {
      VBO.push({ ...object, identificatie: id('01', VBO.length), ...vbo(random) });
    } else {
      LIG.push({ ...object, identificatie: id('02', LIG.length), corners: square(random) });
    }
  }
  STA.push({
    identificatie: id('03', 0),
    hoofdadres: id('20', 0),
    begin: '2010-01-01',
    corners: square(random),
  });
  return { ...state, VBO, LIG, STA };
}

const beginOf = (random: Random, date: string) =>
  random.chance(0.1) ? dateAfter(date, random.int(5)) : '2010-01-01';
const doelen = ['winkelfunctie', 'woonfunctie', 'kantoorfunctie'];

function vbo(random: Random): Pick<VboStand, 'punt' | 'oppervlakte' | 'gebruiksdoelen'> {
  return {
    punt: `${131_000 + random.int(1_000)}.${random.int(10)} ${480_000 + random.int(1_000)}.25`,
    oppervlakte: 1 + random.int(300),
    gebruiksdoelen: doelen.slice(random.int(3)),
  };
}

function square(random: Random): string {
  const x = 131_000 + random.int(1_000);
  const y = 480_000 + random.int(1_000);
  return `${x} ${y} ${x + 10} ${y} ${x + 10} ${y + 10} ${x} ${y + 10} ${x} ${y}`;
}

/**
 * A hoofdadres, sometimes one that is not there, and sometimes nevenadressen, in any part of the
 * country.
 */
function addressesOf(random: Random, { NUM }: Voorkomens, hoofdadres: string) {
  const any = () =>
    random.chance(0.9) ? random.pick(NUM).identificatie : id('20', 5_000 + random.int(9));
  const nevenadressen = new Set(random.chance(0.2) ? [any(), any()] : []);
  const hoofd = random.chance(0.95) ? hoofdadres : any();
  nevenadressen.delete(hoofd);
  return { hoofdadres: hoofd, nevenadressen: [...nevenadressen].sort() };
}

const id = (type: string, index: number) => `0457${type}${String(index + 1).padStart(10, '0')}`;
const postcodes = ['1381AA', '1381AB', '1382AA', '1390ZZ', '1012JS', '9999ZZ'];

function num(
  random: Random,
  index: number,
  streets: OprStand[],
  begin: string,
  date: string,
  objects = 0,
): NumStand {
  return {
    identificatie: id('20', index),
    huisnummer: 1 + random.int(Math.max(4, Math.ceil(objects / 50))),
    ...(random.chance(0.3) ? { huisletter: random.pick(['a', 'B']) } : {}),
    ...(random.chance(0.2) ? { huisnummertoevoeging: random.pick(['1', 'bis']) } : {}),
    ...(random.chance(0.9) ? { postcode: random.pick(postcodes) } : {}),
    openbareRuimte: random.pick(streets).identificatie,
    ...(random.chance(0.1) ? { woonplaats: '1013' } : {}),
    begin: random.chance(0.15) ? dateAfter(date, random.int(5)) : begin,
    ...(random.chance(0.05) ? { eind: dateAfter(date, 1 + random.int(6)) } : {}),
    ...(random.chance(0.05) ? { live: false } : {}),
  };
}

/**
 * Further states of the register, a day apart, each with what changed. Changes are registered on
 * the day they are delivered.
 */
export function* laterDays(
  random: Random,
  first: Voorkomens,
  date: string,
  days: number,
): Generator<RegisterDay> {
  let state = first;
  for (let day = 1; day <= days; day++) {
    const now = dateAfter(date, day);
    const next = structuredClone(state);
    const changes = random.chance(0.2) ? 0 : random.int(8);
    const kinds = state.VBO ? [...kindsOfChange, ...changesOfObjecten] : kindsOfChange;
    for (let i = 0; i < changes; i++) random.pick(kinds)(random, next, now);
    if (day % 4 === 0) merged(next, now, day / 4);
    yield { date: now, state: next, groups: mutationsBetween(state, next) };
    state = next;
  }
}

type Change = (random: Random, state: Voorkomens, now: string) => void;

const kindsOfChange: Change[] = [
  added,
  renumbered,
  renumbered,
  withdrawn,
  corrected,
  leftOpen,
  renamedStreet,
  movedStreet,
  renamedPlace,
  replaced,
];

const changesOfObjecten: Change[] = [
  (random, state, now) => {
    const { VBO = [], NUM } = state;
    const begin = dateAfter(now, random.int(7) - 3);
    // Of an address, or of the next one that is registered.
    const num = random.chance(0.5) ? random.pick(NUM).identificatie : id('20', NUM.length);
    VBO.push({
      ...addressesOf(random, state, num),
      ...vbo(random),
      begin,
      identificatie: id('01', VBO.length),
    });
  },
  (random, { VBO = [] }, now) => follow(random, VBO, now, () => vbo(random)),
  (random, { VBO = [] }, now) =>
    follow(random, VBO, now, () => ({ status: 'Verbouwing verblijfsobject' })),
  (random, state, now) =>
    follow(random, state.VBO ?? [], now, ({ hoofdadres }) =>
      addressesOf(random, state, hoofdadres),
    ),
  (random, state, now) =>
    follow(random, state.VBO ?? [], now, () =>
      addressesOf(random, state, random.pick(state.NUM).identificatie),
    ),
  (random, { VBO = [] }, now) => follow(random, VBO, now, () => ({ live: false })),
  (random, { LIG = [] }, now) => follow(random, LIG, now, () => ({ corners: square(random) })),
  (random, { VBO = [] }, now) => {
    const wrong = random.pick(VBO);
    if (wrong.tijdstipInactief) return;
    wrong.tijdstipInactief = `${now}T10:00:00.000`;
    wrong.tijdstipInactiefLV = `${now}T10:05:00.000`;
    const active = { tijdstipInactief: undefined, tijdstipInactiefLV: undefined };
    VBO.push({
      ...wrong,
      ...active,
      ...vbo(random),
      volgnummer: highest(VBO, wrong.identificatie) + 1,
    });
  },
  (random, state, now) => {
    const { VBO = [] } = state;
    const open = random.pick(VBO);
    const more = {
      ...vbo(random),
      ...addressesOf(random, state, random.pick(state.NUM).identificatie),
    };
    VBO.push({ ...open, ...more, begin: now, volgnummer: highest(VBO, open.identificatie) + 1 });
  },
];

/** A new object; now, in the past, or in the future. */
function added(random: Random, { NUM, OPR }: Voorkomens, now: string): void {
  NUM.push({ ...num(random, NUM.length, OPR, now, now), begin: dateAfter(now, random.int(7) - 3) });
}

/**
 * The open occurrence of an object ends, and another one begins: on the same day, earlier, or
 * later.
 */
function follow<T extends Historie & { identificatie: string }>(
  random: Random,
  all: T[],
  now: string,
  change: (last: T) => Partial<T>,
): void {
  const index = random.int(all.length);
  const identificatie = all[index]?.identificatie;
  const last = all.findLast((voorkomen) => voorkomen.identificatie === identificatie) as T;
  if (last.eind !== undefined || last.live === false || last.tijdstipInactief) return;
  const begin = dateAfter(now, random.int(5) - 1);
  last.eind = begin < last.begin ? last.begin : begin;
  const volgnummer = highest(all, last.identificatie) + 1;
  all.push({ ...last, eind: undefined, begin: last.eind, volgnummer, ...change(last) });
}

function highest(
  all: readonly (Historie & { identificatie: string })[],
  identificatie: string,
): number {
  return Math.max(
    ...all
      .filter((one) => one.identificatie === identificatie)
      .map(({ volgnummer = 1 }) => volgnummer),
  );
}

function renumbered(random: Random, { NUM, OPR }: Voorkomens, now: string): void {
  follow(random, NUM, now, () =>
    random.pick([
      { huisnummer: 1 + random.int(6) },
      { postcode: random.pick(postcodes) },
      { openbareRuimte: random.pick(OPR).identificatie },
      { woonplaats: '1014' },
    ]),
  );
}

function withdrawn(random: Random, { NUM }: Voorkomens, now: string): void {
  follow(random, NUM, now, () => ({ live: false }));
}

/**
 * An occurrence was wrong: it becomes inactive, and a new one takes its place from the same day on.
 */
function corrected(random: Random, { NUM }: Voorkomens, now: string): void {
  const wrong = random.pick(NUM);
  if (wrong.tijdstipInactief) return;
  wrong.tijdstipInactief = `${now}T10:00:00.000`;
  wrong.tijdstipInactiefLV = `${now}T10:05:00.000`;
  const volgnummer = highest(NUM, wrong.identificatie) + 1;
  const active = { tijdstipInactief: undefined, tijdstipInactiefLV: undefined };
  NUM.push({ ...wrong, ...active, volgnummer, huisnummer: 1 + random.int(6) });
}

/** A correction that was left open: a second occurrence begins, and the first one does not end. */
function leftOpen(random: Random, { NUM }: Voorkomens, now: string): void {
  const open = random.pick(NUM);
  NUM.push({
    ...open,
    begin: now,
    volgnummer: highest(NUM, open.identificatie) + 1,
    postcode: random.pick(postcodes),
  });
}

function renamedStreet(random: Random, { OPR }: Voorkomens, now: string): void {
  follow(random, OPR, now, ({ naam }) => ({ naam: `${naam}'` }));
}

function movedStreet(random: Random, { OPR, WPL }: Voorkomens, now: string): void {
  follow(random, OPR, now, () => ({ woonplaats: random.pick(WPL).identificatie }));
}

function renamedPlace(random: Random, { WPL }: Voorkomens, now: string): void {
  follow(random, WPL, now, ({ naam }) => ({ naam: `${naam}'` }));
}

/** Another object gets the key of one that ends. */
function replaced(random: Random, { NUM }: Voorkomens, now: string): void {
  const old = random.pick(NUM);
  const identificatie = id('20', 1_000 + NUM.length);
  NUM.push({ ...old, identificatie, volgnummer: 1, begin: now, eind: undefined, live: true });
  if (old.eind === undefined && random.chance(0.7)) old.eind = now < old.begin ? old.begin : now;
}

/** A woonplaats goes to another gemeente in three days. */
function merged({ relaties = [] }: Voorkomens, now: string, time: number): void {
  const current = relaties.filter(({ eind }) => eind === undefined);
  const last = current[time % current.length];
  if (!last) return;
  last.eind = dateAfter(now, 3);
  relaties.push({
    ...last,
    gemeente: ['0363', '9990', '0457'][time % 3] ?? '',
    begin: last.eind,
    eind: undefined,
  });
}
