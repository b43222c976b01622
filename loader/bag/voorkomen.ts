/**
 * A nummeraanduiding as it is on the date of the state. Identifications are the register's own digits: 16 for a
 * nummeraanduiding and an openbare ruimte, 4 for a woonplaats.
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
  /** The street that it lies on. */
  openbareRuimte: string;
  /** Its own place, where that differs from its street's. */
  woonplaats: string | null;
};

/** A street, and the place that it lies in. */
export type OpenbareRuimte = { identificatie: string; naam: string; woonplaats: string };

/** A place: a town, or a part of one. */
export type Woonplaats = { identificatie: string; naam: string };

/** The current streets and places, by identification. */
export type Reference = {
  openbareRuimten: Map<string, OpenbareRuimte>;
  woonplaatsen: Map<string, Woonplaats>;
};
