/** What else to return with each outcome. */
type Include = 'toevoegingen' | 'gemeente' | 'nummeraanduidingen';

/** One lookup. */
export type Query = {
  postcode: string;
  huisnummer: number;
  toevoeging?: string;
  include?: Include[];
};

/** 1 to 100 lookups in one request. */
export type Batch = { addresses: Omit<Query, 'include'>[]; include?: Include[] };
