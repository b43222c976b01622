import { type ParameterName, parameterNames } from './address-input.ts';

/** The meaning of a name: one of our parameters, or one of the two parts of a toevoeging, as other APIs divide it. */
export type Meaning = ParameterName | 'huisletter' | 'huisnummertoevoeging';

const number = '(?:(?:huis|house|street|straat|door)?(?:nummer|number|num|nr|no)|huis|house|hnr)';
const addition =
  '(?:toev(?:oeg(?:ing|sel)?)?|add(?:ition)?|ext(?:ension)?|suffix|(?:sub)?premise|subaddress|box|bus|unit' +
  '|apartment|appartement|apt|flat|suite|floor|etage|verdieping)';

/**
 * Names that other address APIs use for a part of an address: the Kadaster (BAG and Haal Centraal), PDOK, postcode.nl,
 * PostcodeAPI.nu, postcode.tech, Pro6PP, ApiCheck and PostNL, Belgian ones, and common variants.
 */
const otherNames: [Meaning, RegExp][] = [
  ['postcode', /^(?:postalcode|zip|zipcode|pc6?|pcode)$/],
  ['huisletter', new RegExp(`^(?:${number}?letters?|hl)$`)],
  ['huisnummertoevoeging', new RegExp(`^(?:${number}?${addition}${number}?|${number}toevoegingen)$`)],
  ['huisnummer', new RegExp(`^${number}(?:andpremise|nlt)?$`)],
];

/** No name that means something is longer, with all the marks that it may have. */
const longestName = 100;
const maxEdits = 2;

/** The meaning of a parameter's name: ours, a misspelling or a name of another API; `null` for any other. */
export function meaningOf(name: string): Meaning | null {
  if (name.length > longestName) return null;
  // Forms and frameworks write lists as `huisletter[]` or `huisletter[0]`.
  const word = lettersAndDigits(name.replace(/(?:\[[^[\]]*\])+$/, ''));
  const ownWithin = (edits: number) => parameterNames.find((own) => isWithin(word, own, edits));
  return ownWithin(0) ?? otherNames.find(([, pattern]) => pattern.test(word))?.[0] ?? ownWithin(maxEdits) ?? null;
}

/** In lower case, without spaces, separators and marks; full-width letters and ligatures as ordinary ones. */
function lettersAndDigits(text: string): string {
  return text
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]/gu, '');
}

/** Whether at most `edits` letters of `a` must be inserted, left out, replaced or swapped to make `b`. */
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
