/** The part of an occurrence (voorkomen) that says whether it counts; dates are `2021-10-15`. */
export type Geldigheid = {
  status: string;
  beginGeldigheid: string;
  eindGeldigheid?: string | undefined;
  tijdstipInactief?: string | undefined;
  tijdstipInactiefLV?: string | undefined;
  tijdstipNietBagLV?: string | undefined;
};

/** The statuses of an object that exists. The only other ones are `Naamgeving ingetrokken`, `Woonplaats ingetrokken`. */
export const liveStatus = { NUM: 'Naamgeving uitgegeven', OPR: 'Naamgeving uitgegeven', WPL: 'Woonplaats aangewezen' };

/** Why an occurrence does not count; the first that applies, in this order. */
export const notCurrentReasons = ['withdrawn', 'future', 'ended', 'inactive', 'not_bag'] as const;
export type NotCurrentReason = (typeof notCurrentReasons)[number];

/**
 * Why an occurrence does not count on `peildatum`, or `null` when it does. It counts from the day on which it begins
 * until the day before it ends, so one that begins and ends on the same day never counts. A withdrawn object often has
 * no end date: only its status says so.
 */
export function whyNotCurrent(geldigheid: Geldigheid, live: string, peildatum: string): NotCurrentReason | null {
  if (geldigheid.status !== live) return 'withdrawn';
  if (geldigheid.beginGeldigheid > peildatum) return 'future';
  if (geldigheid.eindGeldigheid !== undefined && geldigheid.eindGeldigheid <= peildatum) return 'ended';
  if (geldigheid.tijdstipInactief !== undefined || geldigheid.tijdstipInactiefLV !== undefined) return 'inactive';
  return geldigheid.tijdstipNietBagLV === undefined ? null : 'not_bag';
}
