/**
 * A nummeraanduiding as it is on the date of the state. Identifications are the register's own digits: 16 for a
 * nummeraanduiding and an openbare ruimte, 4 for a woonplaats.
 */
export type Nummeraanduiding = {
  /** To be asked for while it is visited: only a problem needs it, and a string for each takes a tenth of parsing. */
  identificatie: () => string;
  /** 1 to 99999. */
  huisnummer: number;
  /** One letter in the case of the register, or `''`. */
  huisletter: string;
  /** One to four letters and digits, or `''`. */
  huisnummertoevoeging: string;
  postcode: string | null;
  /** The street that it lies on. */
  openbareRuimte: string;
  /** Its own place, where that differs from its street's. */
  woonplaats: string | null;
};

/** A street, and the place that it lies in. */
export type OpenbareRuimte = { identificatie: string; naam: string; woonplaats: string };

/** A place: a town, or a part of one. */
export type Woonplaats = { identificatie: string; naam: string };

/** As it is from `begin` on, `2010-09-29`; at most one occurrence of an object should be current, and the last to begin counts. */
export type Begun<T> = T & { begin: string };

/** Finds an object by its identification; a `Map` does. */
type Lookup<T> = { get(identificatie: string): T | undefined };

/** The current streets and places. */
export type Reference = { openbareRuimten: Lookup<OpenbareRuimte>; woonplaatsen: Lookup<Woonplaats> };
