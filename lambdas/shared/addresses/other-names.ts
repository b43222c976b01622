/** What a parameter of another API is here. */
type Meaning = 'postcode' | 'huisnummer' | 'huisletter' | 'toevoeging';

/**
 * Names under which other Dutch address APIs take a part of an address: those of the Kadaster (BAG and Haal Centraal),
 * PDOK, postcode.nl, PostcodeAPI.nu, postcode.tech, Pro6PP, ApiCheck and PostNL, and common variants. A space stands for an
 * optional space, dot, hyphen or underscore; letter case does not matter.
 */
export const otherNames: Record<Meaning, readonly string[]> = {
  postcode: ['post code', 'postal code', 'zip code', 'zip', 'pc6'],
  huisnummer: [
    'huis nummer',
    'huis nr',
    'hnr',
    'huis nlt',
    'nummer',
    'nr',
    'house number',
    'house nr',
    'house no',
    'number',
    'street number',
    'street number and premise',
  ],
  huisletter: ['huis letter', 'huisnummer letter', 'house letter', 'house number letter', 'letter'],
  toevoeging: [
    'toevoeging',
    'toevoegsel',
    'toev',
    'huis toevoeging',
    'huisnummer toevoeging',
    'huisnummer toevoegsel',
    'huisnummer toev',
    'huis nummer toevoeging',
    'huis nr toevoeging',
    'huis nr toev',
    'hnr toevoeging',
    'nummer toevoeging',
    'addition',
    'number addition',
    'number add',
    'house number addition',
    'house nr addition',
    'house addition',
    'house number suffix',
    'number suffix',
    'suffix',
    'house number extension',
    'house number ext',
    'number extension',
    'extension',
    'premise',
  ],
};

const meanings = new Map(
  Object.entries(otherNames).flatMap(([meaning, names]) =>
    names.map((name): [string, Meaning] => [name.replaceAll(' ', ''), meaning as Meaning]),
  ),
);

const own = new Set(['postcode', 'huisnummer', 'toevoeging']);
/** A name longer than this is none of these. */
const longest = 40;

/** The meaning of a parameter name of another API; `null` for our own names and unknown ones. */
export function meaningOf(name: string): Meaning | null {
  if (own.has(name) || name.length > longest) return null;
  // Forms and frameworks write lists as `huisletter[]` or `huisletter[0]`.
  const word = name.replace(/\[\w*\]$/, '').replaceAll(/[ ._-]/g, '');
  return meanings.get(word.toLowerCase()) ?? null;
}
