/** What a parameter of another API is here. */
type Meaning = 'postcode' | 'huisnummer' | 'huisletter' | 'toevoeging';

/**
 * Names under which other Dutch address APIs take a part of an address: those of the Kadaster (BAG and Haal Centraal),
 * postcode.nl, PostcodeAPI.nu, postcode.tech, ApiCheck and PostNL, and what people make of them. In any letter case, and with or
 * without a hyphen or underscore between the words, which a space stands for.
 */
export const otherNames: Record<Meaning, readonly string[]> = {
  postcode: ['post code', 'postal code', 'zip code', 'zip', 'pc6'],
  huisnummer: [
    'huis nummer',
    'huis nr',
    'nummer',
    'nr',
    'house number',
    'house nr',
    'house no',
    'number',
    'street number',
  ],
  huisletter: ['huis letter', 'huisnummer letter', 'house letter', 'house number letter', 'letter'],
  toevoeging: [
    'toevoeging',
    'toevoegsel',
    'toev',
    'huis toevoeging',
    'huisnummer toevoeging',
    'huisnummer toevoegsel',
    'huis nummer toevoeging',
    'huis nr toevoeging',
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
    'number extension',
    'extension',
  ],
};

const meanings = new Map(
  Object.entries(otherNames).flatMap(([meaning, names]) =>
    names.map((name): [string, Meaning] => [name.replaceAll(' ', ''), meaning as Meaning]),
  ),
);

const own = new Set(['postcode', 'huisnummer', 'toevoeging']);
/** A longer name is none of these, however many underscores it has. */
const longest = 40;

/** What a name of a parameter means in another API, or is meant to be here; `null` for our own names and unknown ones. */
export function meaningOf(name: string): Meaning | null {
  if (own.has(name) || name.length > longest) return null;
  return meanings.get(name.replaceAll(/[-_]/g, '').toLowerCase()) ?? null;
}
