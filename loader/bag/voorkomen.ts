import type { AdresObject } from '../../core/adres-object.ts';
import type { ObjectenKind } from './elements.ts';

/**
 * A nummeraanduiding as it is on the peildatum. Identifications are the register's own digits: 16
 * for a nummeraanduiding and an openbare ruimte, 4 for a woonplaats.
 */
export type Nummeraanduiding = {
  identificatie: string;
  /** 1 to 99999. */
  huisnummer: number;
  /** One letter in the case of the register, or `''`. */
  huisletter: string;
  /** One to four letters and digits, or `''`. */
  huisnummertoevoeging: string;
  postcode: string | null;
  openbareRuimte: string;
  /** Its own place, if that differs from its street's. */
  woonplaats: string | null;
};

/** A street, and the place that it is in. */
export type OpenbareRuimte = { identificatie: string; naam: string; woonplaats: string };

/** A place: a town, or a part of one. */
export type Woonplaats = { identificatie: string; naam: string };

/**
 * A woonplaats, and the code of the gemeente that it belongs to; absent where no relation says
 * that.
 */
export type WoonplaatsInGemeente = Woonplaats & { gemeente?: string };

/**
 * That a woonplaats belongs to a gemeente, each by its code of four digits, from `begin` until
 * `eind`.
 */
export type GemeenteRelatie = Omit<Span, 'volgnummer'> & { woonplaats: string; gemeente: string };

/**
 * When an occurrence holds, and which one of its object it is. Dates are numbers, `20211015`, which
 * compare fast.
 */
export type Span = {
  /** Its voorkomenidentificatie. */
  volgnummer: number;
  begin: number;
  /** The first day when it no longer holds, or `noEind`. */
  eind: number;
};

/** The `eind` of an occurrence that has none. */
export const noEind = 99_999_999;

/** A nummeraanduiding that outlives a visit, and when it holds. */
export type NumVoorkomen = Span & Nummeraanduiding & { kind: 'NUM' };
export type OprVoorkomen = Span & OpenbareRuimte & { kind: 'OPR' };
export type WplVoorkomen = Span & Woonplaats & { kind: 'WPL' };

/**
 * One occurrence of an adresseerbaar object, with its nummeraanduidingen; a polygon is at its
 * centroid.
 */
export type AdresseerbaarVoorkomen = Span &
  Omit<AdresObject, 'hoofdadres'> & {
    kind: ObjectenKind;
    hoofdadres: string /** Sorted. */;
    nevenadressen: string[];
  };

/**
 * One occurrence (voorkomen) of a street, a place or a number, which counts from `begin` until
 * `eind`.
 */
export type ObjectVoorkomen = NumVoorkomen | OprVoorkomen | WplVoorkomen;

export type AnyVoorkomen = ObjectVoorkomen | AdresseerbaarVoorkomen;

const zero = 0x30;

/**
 * `2021-10-15` as the number 20211015; without other strings, as it is read for every occurrence.
 */
export function dayOf(date: string): number {
  let day = 0;
  for (let at = 0; at < date.length; at++) {
    if (at !== 4 && at !== 7) day = 10 * day + date.charCodeAt(at) - zero;
  }
  return day;
}

/** 20211015 as `2021-10-15`. */
export function dayText(day: number): string {
  const digits = String(day).padStart(8, '0');
  return `${digits.slice(0, 4)}-${digits.slice(4, 6)}-${digits.slice(6)}`;
}

/** The part of an occurrence (voorkomen) that decides whether it counts. */
export type Geldigheid = {
  span: Span;
  /** Whether its status means that the object exists. */
  isLive: boolean;
  isInactief: boolean;
  isNietBag: boolean;
};

/** Why an occurrence does not count: the first reason that applies, in this order. */
export const notCurrentReasons = ['withdrawn', 'future', 'ended', 'inactive', 'not_bag'] as const;
export type NotCurrentReason = (typeof notCurrentReasons)[number];

/** Why an occurrence does not count on a day, or `null`. It counts until the day before it ends. */
export function whyNotCurrent(
  { span, isLive, isInactief, isNietBag }: Geldigheid,
  day: number,
): NotCurrentReason | null {
  if (!isLive) return 'withdrawn';
  if (span.begin > day) return 'future';
  if (span.eind <= day) return 'ended';
  if (isInactief) return 'inactive';
  return isNietBag ? 'not_bag' : null;
}
