/** What was sent for one address: the values of each name, in their order. */
export type Sent = ReadonlyMap<string, readonly string[]>;

/** The parameters of a raw query string. */
export function readQuery(rawQueryString: string): Sent {
  const query = new URLSearchParams(rawQueryString);
  return new Map([...new Set(query.keys())].map((name) => [name, query.getAll(name)]));
}

/** The parameters of a lookup. */
export const ownNames = ['postcode', 'huisnummer', 'toevoeging', 'include'] as const;
export type OwnName = (typeof ownNames)[number];

/** What a name means: one of our parameters, or a part of a toevoeging as other APIs divide it. */
export type Meaning = OwnName | 'huisletter' | 'huisnummertoevoeging';

/**
 * Names under which other address APIs take a part of an address: the Kadaster (BAG and Haal Centraal), PDOK,
 * postcode.nl, PostcodeAPI.nu, postcode.tech, Pro6PP, ApiCheck and PostNL, Belgian ones, and common variants. A space
 * stands for an optional space or separator; letter case does not matter.
 */
export const otherNames: Record<Exclude<Meaning, 'toevoeging' | 'include'>, readonly string[]> = {
  postcode: ['postal code', 'zip code', 'zip', 'pc6', 'pc', 'p code'],
  huisnummer: [
    'huis nr',
    'hnr',
    'huis nlt',
    'nummer',
    'nr',
    'house number',
    'house nr',
    'house no',
    'huis no',
    'street nr',
    'straat nr',
    'number',
    'street number',
    'street number and premise',
  ],
  huisletter: [
    'huis letter',
    'huis letters',
    'hl',
    'huisnummer letter',
    'house letter',
    'house number letter',
    'letter',
  ],
  huisnummertoevoeging: [
    'toevoegsel',
    'toev',
    'huis toevoeging',
    'huisnummer toevoeging',
    'huisnummer toevoegingen',
    'huisnummer toevoegsel',
    'huisnummer toev',
    'huis nr toevoeging',
    'huis nr toev',
    'hnr toevoeging',
    'hnr toev',
    'huisnummer ext',
    'toevoeging nummer',
    'nummer toevoeging',
    'addition',
    'number addition',
    'number add',
    'number ext',
    'addition number',
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
    'ext',
    'premise',
    'sub premise',
    'sub address',
    'box',
    'box number',
    'unit',
    'unit number',
    'apartment',
    'apartment number',
    'appartement',
    'apt',
    'flat',
    'flat number',
    'suite',
    'floor',
    'etage',
    'verdieping',
    'bus',
    'bus nr',
    'bus nummer',
  ],
};

const meanings = new Map(
  Object.entries(otherNames).flatMap(([meaning, names]) =>
    names.map((name): [string, Meaning] => [lettersAndDigits(name), meaning as Meaning]),
  ),
);

const maxEdits = 2;
/** No name that means something is longer, with all the marks that it may have. */
const longestName = 100;

/**
 * What the name of a parameter means: ours, a misspelling of ours or a name of another API. `null` for a name that
 * means nothing here, which is ignored.
 */
export function meaningOf(name: string): Meaning | null {
  if (isOwnName(name)) return name;
  if (name.length > longestName) return null;
  // Forms and frameworks write lists as `huisletter[]` or `huisletter[0]`.
  const word = lettersAndDigits(name.replace(/(?:\[[^[\]]*\])+$/, ''));
  return meanings.get(word) ?? ownNames.find((own) => isWithin(word, own, maxEdits)) ?? null;
}

/** Whether a name is exactly one of ours. */
export function isOwnName(name: string): name is OwnName {
  return ownNames.some((own) => own === name);
}

/** In lower case, without spaces, separators and marks; full-width letters and ligatures as ordinary ones. */
function lettersAndDigits(text: string): string {
  return text
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]/gu, '');
}

/**
 * Whether at most `edits` letters of `a` must be inserted, left out, replaced or swapped with their neighbour to make
 * `b`. A swap is one edit, which Levenshtein's distance counts as two.
 */
function isWithin(a: string, b: string, edits: number): boolean {
  let same = 0;
  while (same < a.length && a[same] === b[same]) same++;
  const [x, y] = [a.slice(same), b.slice(same)];
  if (x === '' || y === '') return x.length + y.length <= edits;
  if (edits === 0) return false;
  return (
    isWithin(x.slice(1), y.slice(1), edits - 1) ||
    isWithin(x.slice(1), y, edits - 1) ||
    isWithin(x, y.slice(1), edits - 1) ||
    (x[0] === y[1] && x[1] === y[0] && isWithin(x.slice(2), y.slice(2), edits - 1))
  );
}
