/**
 * How much of each column of the addresses a load may change without an approval (decision 0179).
 * The table in `docs/loading.md` is made of this one.
 */

import { noSize, type PlaceSize, type SizeMember } from '../addresses/place-sizes.ts';
import { loadDefaults } from '../names.ts';

/** The thresholds of a load; fractions of 1 and numbers of addresses. */
export type Thresholds = Record<keyof typeof loadDefaults.guard, number>;

/**
 * The larger of a share and a number of addresses, by the default thresholds. With a `setting` the
 * share grows and shrinks with that threshold.
 */
export type Most = {
  share: number;
  number: number;
  setting?: 'maximumShare' | 'maximumPlaceShare';
};

/** The most that a load may change in one column. */
export type Limit = {
  code: `too_many_${string}`;
  /** Its effect on the addresses, as in "it would remove 251 of the 400 addresses". */
  what: string;
  /** Which addresses it is a share of. */
  of: SizeMember;
  total: Most;
  /** In one woonplaats, and with twice the number in one gemeente. */
  place?: Most;
  /** A second limit on the total, as a share of other addresses. */
  also?: { of: SizeMember; total: Most };
  /** Whether a day may change as much as a load: all mergers of a year take effect on one day. */
  isOnOneDay?: true;
};

/** A rare change, or a wrong value that no healthy load has. */
const few: Most = { share: 0, number: 10 };
const total: Most = { share: 0.05, number: 10, setting: 'maximumShare' };
const twice: Most = { share: 0.1, number: 10, setting: 'maximumShare' };
const half: Most = { share: 0.5, number: 10 };
const place: Most = { share: 0.02, number: 250, setting: 'maximumPlaceShare' };
const halfOfPlace: Most = { share: 0.5, number: 250 };
/** A new quarter has 2,000 addresses. */
const quarter = 2_500;
/** A village whose objects are measured anew has up to 1,000. */
const village: Most = { share: 0.5, number: 1_000 };

const whole = { of: 'addresses', total, place } as const;
const name = { ...whole, isOnOneDay: true } as const;
const value = { of: 'withObjects', total: twice, place: village } as const;
const lost = { total: half, place: halfOfPlace } as const;

/** Metres that a location may be corrected by. */
export const corrected = 50;

/**
 * Every column of an address, and its limits. An address is found again by the id
 * of its nummeraanduiding; `removed` and `added` have none on the other side, and `id` has another
 * one at the same key, street and woonplaats.
 */
export const columnLimits = {
  removed: { code: 'too_many_removed', what: 'remove', ...whole },
  added: {
    code: 'too_many_added',
    what: 'add',
    of: 'addresses',
    total: { ...twice, number: quarter },
    place: { share: 0.5, number: quarter },
  },
  doubled: {
    code: 'too_many_doubled',
    what: 'add a second street to',
    of: 'addresses',
    total: { share: 0.001, number: 250 },
    place,
  },
  id: {
    code: 'too_many_ids',
    what: 'change the id of',
    of: 'addresses',
    total,
    place: halfOfPlace,
  },
  postcode: { code: 'too_many_postcodes', what: 'change the postcode of', ...whole },
  huisnummer: { code: 'too_many_huisnummers', what: 'change the huisnummer of', ...whole },
  toevoeging: {
    code: 'too_many_toevoegingen',
    what: 'change the huisletter or toevoeging of',
    ...whole,
    also: { of: 'toevoegingen', total: { share: 0.1, number: 100, setting: 'maximumShare' } },
  },
  straat: { code: 'too_many_straten', what: 'change the straat of', ...name },
  woonplaats: { code: 'too_many_woonplaatsen', what: 'change the woonplaats of', ...name },
  gemeente: { code: 'too_many_gemeenten', what: 'change the gemeente of', ...name },
  gemeenteLost: {
    code: 'too_many_gemeenten_lost',
    what: 'remove or leave out the gemeente of',
    of: 'addresses',
    total: few,
  },
  gemeenteUnknown: {
    code: 'too_many_gemeenten_unknown',
    what: 'give a gemeente with an unknown code to',
    of: 'addresses',
    total: few,
  },
  lettersLost: {
    code: 'too_many_letters_lost',
    what: 'remove letters such as ë from the straat or woonplaats of',
    of: 'specialNames',
    ...lost,
  },
  garbled: {
    code: 'too_many_names_garbled',
    what: 'put characters that no name has into the straat or woonplaats of',
    of: 'addresses',
    total: few,
  },
  objectLost: { code: 'too_many_objects_lost', what: 'remove an object of', ...whole },
  objectGained: { code: 'too_many_objects_added', what: 'add an object to', ...value },
  status: { code: 'too_many_statuses', what: 'change the status of objects of', ...value },
  gebruiksdoel: {
    code: 'too_many_gebruiksdoelen',
    what: 'change the gebruiksdoelen of objects of',
    ...value,
  },
  gebruiksdoelLost: {
    code: 'too_many_gebruiksdoelen_lost',
    what: 'remove a gebruiksdoel, beside others, of objects of',
    of: 'severalUses',
    total: { share: 0.25, number: 50 },
    place: halfOfPlace,
  },
  oppervlakte: {
    code: 'too_many_oppervlakten',
    what: 'change the oppervlakte of objects of',
    ...value,
  },
  locatie: { code: 'too_many_locations', what: 'change the location of objects of', ...value },
  moved: {
    code: 'too_many_objects_moved',
    what: `move objects by more than ${corrected} m of`,
    ...whole,
  },
  hoofdadres: {
    code: 'too_many_hoofdadressen',
    what: 'change the hoofdadres of objects of',
    of: 'addresses',
    total: { share: 0.005, number: 50, setting: 'maximumShare' },
    place,
  },
  ligplaatsLost: {
    code: 'too_many_ligplaatsen_lost',
    what: 'remove the ligplaats of',
    of: 'ligplaatsen',
    ...lost,
  },
  standplaatsLost: {
    code: 'too_many_standplaatsen_lost',
    what: 'remove the standplaats of',
    of: 'standplaatsen',
    ...lost,
  },
  nevenadresLost: {
    code: 'too_many_nevenadressen_lost',
    what: 'remove the object of another hoofdadres from',
    of: 'nevenadressen',
    ...lost,
  },
} as const satisfies Record<string, Limit>;

export type AddressColumn = keyof typeof columnLimits;
export type ColumnCode = (typeof columnLimits)[AddressColumn]['code'];
export const columns = Object.keys(columnLimits) as AddressColumn[];
export const limitOf = (column: AddressColumn): Limit => columnLimits[column];

/** The most addresses that may be removed from one street, which has no share. */
export const streetLimit: Most = { share: 0, number: place.number };

/** The names in `Limit.of` as people read them. */
export const sizeNames: Record<SizeMember, string> = {
  addresses: 'addresses',
  toevoegingen: 'addresses with a huisletter or toevoeging',
  specialNames: 'addresses with letters such as ë in their names',
  withObjects: 'addresses with objects',
  severalUses: 'addresses with several gebruiksdoelen',
  nevenadressen: 'addresses with an object of another hoofdadres',
  ligplaatsen: 'addresses with a ligplaats',
  standplaatsen: 'addresses with a standplaats',
};

/** A dataset with more addresses than any woonplaats has the shares of a woonplaats. */
export const largestPlace = 500_000;

/**
 * Limits on names that change all at once, as a person would call each one change
 * (`guard/renames.ts`).
 */
export const oneChange = {
  /** From this share of its addresses on, a woonplaats or street is renamed. */
  renamedFrom: 0.8,
  /** Renamed woonplaatsen at once, and their addresses together. */
  woonplaatsen: { share: 0.01, number: 1 },
  addressesOfWoonplaatsen: { share: 0.1, number: 0 },
  /** Renamed streets in one woonplaats, and the addresses on all renamed streets. */
  streetsInWoonplaats: 25,
  addressesOfStreets: { share: 0.02, number: 1_000 },
  /** Gemeenten that become part of others; if there are more, their addresses together. */
  gemeenten: 3,
  addressesOfGemeenten: twice,
} as const;

/** The sizes of areas that no address lies in. */
export const sizeOf = (size: PlaceSize | undefined, member: SizeMember): number =>
  (size ?? noSize())[member];

/** Which thresholds a limit follows: on all addresses, or in one place. */
export type Scope = 'total' | 'place' | 'gemeente';

/** A limit by the thresholds of a load: the larger of a share and a number. */
export type Allowed = { share: number; number: number };

/** @param share the part of its share that a limit has, for a day */
export function allowedBy(most: Most, thresholds: Thresholds, scope: Scope, share = 1): Allowed {
  const { guard } = loadDefaults;
  const times = most.setting ? thresholds[most.setting] / guard[most.setting] : 1;
  const always = scope === 'total' ? 'alwaysAllowed' : 'alwaysAllowedInPlace';
  return {
    share: Math.min(1, most.share * times * share),
    number: Math.floor(
      ((scope === 'gemeente' ? 2 : 1) * most.number * thresholds[always]) / guard[always],
    ),
  };
}

/** The limit on all addresses, of this many. */
export function allowedInTotal(
  { total, place, isOnOneDay }: Limit,
  addresses: number,
  thresholds: Thresholds,
  shareOfDay: number,
): Allowed {
  const allowed = allowedBy(total, thresholds, 'total', isOnOneDay ? 1 : shareOfDay);
  if (addresses <= largestPlace || place?.setting === undefined) return allowed;
  return {
    ...allowed,
    share: Math.min(allowed.share, allowedBy(place, thresholds, 'place').share),
  };
}

/**
 * The part of a load's shares that days of mutations may change. A day changes a fiftieth as much
 * as a month, but on some days a municipality makes up arrears: so it may change a fifth as much. A
 * delivery with more days may change more, and deliveries together as much as a single one: beyond
 * that, each is judged by itself.
 */
export function shareOfDays(days: readonly { vanaf: string; tot: string }[]): number {
  const lengths = days.map(({ vanaf, tot }) => (Date.parse(tot) - Date.parse(vanaf)) / 86_400_000);
  return Math.min(1, Math.min(...lengths) / 5);
}
