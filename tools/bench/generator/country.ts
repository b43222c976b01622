import type { MutationGroup } from '../../../test/support/mutation-delivery.ts';
import { dateAfter } from '../../../test/support/register.ts';
import type {
  Historie,
  NumStand,
  OprStand,
  RelatieStand,
  Voorkomens,
  WplStand,
} from '../../../test/support/stand-xml.ts';
import { placeName, streetName } from './names.ts';
import { objectenOf, passObjecten } from './objecten.ts';
import { passDay } from './pass-day.ts';
import { Random } from './random.ts';

/** The whole country: 1,230 files of 10,000 occurrences of nummeraanduidingen, as in 2023. */
export const wholeCountryBlocks = 1_230;
export const voorkomensPerBlock = 10_000;

/**
 * Which country: the same plan gives the same extract, byte for byte. `days` is how many days of
 * mutations have passed since the first state. With `objecten` it has adresseerbare objecten too.
 */
export type Plan = {
  seed: number;
  blocks: number;
  days?: number;
  objecten?: boolean;
};

/** The date of the first state. */
const firstPeildatum = '2026-01-08';

/** The date of the state after so many days. */
export function peildatumAfter(days = 0): string {
  return dateAfter(firstPeildatum, days);
}

const streetsPerBlock = 212;
const placesPerBlock = 2;
const municipalities = 342;
const postcodesPerBlock = 2 * streetsPerBlock + 1;
const postcodesPerDigits = 120;

/**
 * One block of the country: one file of NUM, and the streets and places that its addresses lie in.
 * Shares are about those of the real register: 12.3 million occurrences are 9.6 million addresses;
 * a fifth of the objects has a history. `onDay` gets the mutations of each day.
 */
export function block(
  plan: Plan,
  index: number,
  onDay?: (day: number, groups: MutationGroup[]) => void,
): Voorkomens {
  const random = new Random(plan.seed, index);
  const municipality = municipalityOf(plan, index);
  const WPL = Array.from({ length: placesPerBlock }, (_, i) =>
    place(random, index * placesPerBlock + i),
  );
  const OPR = Array.from({ length: streetsPerBlock }, (_, i) => {
    const identificatie = `${municipality}30${String(index * 1_000 + i).padStart(10, '0')}`;
    return street(random, identificatie, (WPL[i % placesPerBlock] as WplStand).identificatie);
  });
  const NUM: NumStand[] = [];
  for (let object = 0; NUM.length < voorkomensPerBlock; object++) {
    const home = Math.floor((NUM.length * streetsPerBlock) / voorkomensPerBlock);
    const identificatie = numOf(plan, index, object);
    NUM.push(
      ...nummeraanduiding(
        plan,
        index,
        new Random(plan.seed, index, object),
        identificatie,
        object,
        home,
        OPR,
        WPL,
      ),
    );
  }
  NUM.length = voorkomensPerBlock;
  const first: Voorkomens = {
    NUM,
    OPR: OPR.flatMap((current) => withHistory(random, current)),
    WPL,
  };
  if (plan.objecten) {
    Object.assign(
      first,
      objectenOf(NUM, new Random(plan.seed, index, -100_000), numElsewhere(plan, index)),
    );
  }
  for (let day = 0; day < (plan.days ?? 0); day++) {
    const random = new Random(plan.seed, index, -2 - day);
    const groups = passDay(first, random, peildatumAfter(day + 1));
    if (plan.objecten) groups.push(...passObjecten(first, random, peildatumAfter(day + 1)));
    onDay?.(day, groups);
  }
  return first;
}

function municipalityOf(plan: Plan, index: number): string {
  return String(1 + Math.floor((index * municipalities) / plan.blocks)).padStart(4, '0');
}

function numOf(plan: Plan, index: number, object: number): string {
  return `${municipalityOf(plan, index)}20${String(index * 20_000 + object).padStart(10, '0')}`;
}

/** A nummeraanduiding of a block far from this one. */
function numElsewhere(plan: Plan, index: number): string {
  return numOf(plan, (index + (plan.blocks >> 1)) % plan.blocks, 1_000);
}

function place(random: Random, index: number): WplStand {
  let x = 20_000_000 + random.int(240_000_000);
  let y = 310_000_000 + random.int(300_000_000);
  const start = coordinates(x, y);
  const corners = [start];
  for (let i = 0; i < 1_000; i++) {
    x += random.int(40_000) - 20_000;
    y += random.int(40_000) - 20_000;
    corners.push(coordinates(x, y));
  }
  corners.push(start);
  const naam = placeName(random, index);
  return {
    identificatie: String(1_000 + index).padStart(4, '0'),
    naam,
    begin: '2010-01-01',
    corners: corners.join(' '),
  };
}

const gemeenten = ['0363', '0599', '0518', '0344', '0014', '0392', '0935', '0106', '0080', '0687'];

/** The gemeente of a place, by its code. */
export function gemeenteOfPlace({ identificatie }: Pick<WplStand, 'identificatie'>): string {
  return gemeenten[Number(identificatie) % gemeenten.length] as string;
}

/** The relations of places, one for each. */
export function relatiesOf(places: readonly WplStand[]): RelatieStand[] {
  const ids = new Map(places.map((place) => [place.identificatie, place]));
  return Array.from(ids.values(), (place) => ({
    woonplaats: place.identificatie,
    gemeente: gemeenteOfPlace(place),
    begin: '2010-01-01',
  }));
}

function coordinates(xMillimetres: number, yMillimetres: number): string {
  return `${xMillimetres / 1_000} ${yMillimetres / 1_000}`;
}

function street(random: Random, identificatie: string, woonplaats: string): OprStand {
  const naam = streetName(random);
  const isLong = naam.length > 24;
  return {
    identificatie,
    naam,
    woonplaats,
    ...registered(random),
    ...(isLong ? { verkorteNaam: naam.slice(0, 24).trim() } : {}),
  };
}

/** A third of the streets had another name or place before. */
function withHistory(random: Random, current: OprStand): OprStand[] {
  if (!random.chance(0.33)) return [current];
  const renamed = '2015-06-01';
  const earlier = { ...current, naam: `${streetName(random)}`, begin: '2005-01-01', eind: renamed };
  return [earlier, { ...current, volgnummer: 2, begin: renamed }];
}

function nummeraanduiding(
  plan: Plan,
  index: number,
  random: Random,
  identificatie: string,
  object: number,
  home: number,
  streets: OprStand[],
  places: WplStand[],
): NumStand[] {
  const openbareRuimte = random.chance(0.00001)
    ? '9999300000000000'
    : (streets[home] as OprStand).identificatie;
  const isNextStreets = random.chance(0.0003); // shared postcodes make the few keys that have two streets
  const postcode = postcodeOf(
    plan,
    index,
    2 * (isNextStreets ? home + 1 : home) + (isNextStreets ? 0 : object % 2),
  );
  const current: NumStand = {
    identificatie,
    huisnummer: 1 + Math.floor((object % 48) * (random.chance(0.02) ? 9 : 1)),
    ...(random.chance(0.07) ? { huisletter: random.pick(['a', 'b', 'c', 'A', 'B', 'x']) } : {}),
    ...(random.chance(0.06)
      ? { huisnummertoevoeging: random.pick(['1', '2', '3', 'bis', 'bov', 'HS', '01R', 'II']) }
      : {}),
    ...(random.chance(0.985) ? { postcode } : {}),
    ...(random.chance(0.012) ? { type: random.pick(['Ligplaats', 'Standplaats'] as const) } : {}),
    openbareRuimte,
    ...(random.chance(0.001)
      ? { woonplaats: (places[(home + 1) % placesPerBlock] as WplStand).identificatie }
      : {}),
    ...registered(new Random(plan.seed, index, home, Math.floor(object / 12))),
    ...documented(random),
  };
  return lifeOf(random, current);
}

/**
 * Most objects have one occurrence; the others a history, a withdrawal, or an oddity that the
 * register really holds.
 */
function lifeOf(random: Random, current: NumStand): NumStand[] {
  const fate = random.int(100_000);
  const changed = `${2011 + random.int(14)}-0${1 + random.int(9)}-1${random.int(10)}`;
  const { postcode: _, ...withoutPostcode } = current;
  const later = { ...current, volgnummer: 2, begin: changed };
  if (fate < 76_000) return [current];
  if (fate < 90_000) return [{ ...withoutPostcode, eind: changed }, later];
  if (fate < 91_000) {
    return [
      { ...current, eind: current.begin },
      { ...current, volgnummer: 2 },
    ];
  }
  if (fate < 93_000) {
    return [
      { ...current, eind: changed },
      { ...later, eind: '2025-06-01' },
      { ...later, volgnummer: 3, begin: '2025-06-01' },
    ];
  }
  if (fate < 98_000) {
    return [
      { ...current, eind: changed },
      { ...later, live: false },
    ];
  }
  if (fate < 99_900) return [{ ...current, live: false }];
  const moment = `${changed}T10:11:12.123`;
  if (fate < 99_930) return [{ ...current, begin: '2026-01-20' }];
  if (fate < 99_950) return [{ ...current, eind: '2026-01-20' }];
  if (fate < 99_970) return [{ ...current, tijdstipInactiefLV: moment }, current];
  return [{ ...current, tijdstipInactief: moment, tijdstipNietBagLV: moment }];
}

/** Municipalities registered in batches: many objects share the second in which they came. */
function registered(random: Random): Pick<Historie, 'begin' | 'geregistreerd' | 'geregistreerdLV'> {
  const begin = random.pick(
    '2009-06-23 2010-01-04 2010-09-29 2010-11-15 2013-05-30 2019-10-01 2021-09-28'.split(' '),
  );
  const minute = 10 + random.int(50);
  const second = 10 + random.int(50);
  return {
    begin,
    geregistreerd: `${begin}T${10 + random.int(10)}:${minute}:${second}.000`,
    geregistreerdLV: `${begin}T20:${minute}:${second}.${100 + random.int(900)}`,
  };
}

function documented(random: Random): Pick<Historie, 'documentnummer'> {
  if (random.chance(0.02)) return { documentnummer: `B&W-${random.int(10_000)}` };
  if (random.chance(0.0005)) return { documentnummer: `Besluit coördinatie ${random.int(100)}` };
  return random.chance(0.1)
    ? { documentnummer: `Z.${random.int(100_000)}/D.${random.int(10_000)}` }
    : {};
}

const letters = 'ABCDEGHJKLMNPRSTVWXZ'; // those that occur in postcodes, but for a few

/**
 * The postcodes of a block are its own, and the country's lie between 1000 and 9999 whatever its
 * size.
 */
function postcodeOf(plan: Plan, index: number, local: number): string {
  const overall = index * postcodesPerBlock + local;
  const allDigits = Math.ceil((plan.blocks * postcodesPerBlock) / postcodesPerDigits);
  const digits = 1_000 + Math.floor((Math.floor(overall / postcodesPerDigits) * 9_000) / allDigits);
  const pair = overall % postcodesPerDigits;
  return `${digits}${letters[Math.floor(pair / letters.length)]}${letters[pair % letters.length]}`;
}
