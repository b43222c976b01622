import { editsBetween } from '../similar.ts';
import { type ParameterName, parameterNames } from './address-input.ts';

/**
 * The meaning of a name: one of our parameters, or one of the two parts of a toevoeging, as other
 * APIs divide it.
 */
export type Meaning = ParameterName | 'huisletter' | 'huisnummertoevoeging';

const number = '(?:(?:huis|house|street|straat|door)?(?:nummer|number|num|nr|no)|huis|house|hnr)';
const addition =
  '(?:toev(?:oeg(?:ing|sel)?)?|add(?:ition)?|ext(?:ension)?|suffix|(?:sub)?premise|subaddress|box|bus|unit' +
  '|apartment|appartement|apt|flat|suite|floor|etage|verdieping)';

/**
 * Names that other address APIs use for a part of an address: the Kadaster (BAG and Haal Centraal),
 * PDOK, postcode.nl, PostcodeAPI.nu, postcode.tech, Pro6PP, ApiCheck and PostNL, Belgian ones, and
 * common variants.
 */
const otherNames: [Meaning, RegExp][] = [
  ['postcode', /^(?:postalcode|zip|zipcode|pc6?|pcode)$/],
  ['huisletter', new RegExp(`^(?:${number}?letters?|hl)$`)],
  [
    'huisnummertoevoeging',
    new RegExp(`^(?:${number}?${addition}${number}?|${number}toevoegingen)$`),
  ],
  ['huisnummer', new RegExp(`^${number}(?:andpremise|nlt)?$`)],
];

/** No name that means something is longer, with all the marks that it may have. */
const longestName = 100;
const maxEdits = 2;

/** Whether two names differ by a few letters; other lengths alone are more. */
function isMisspelled(word: string, own: string): boolean {
  return Math.abs(word.length - own.length) <= maxEdits && editsBetween(word, own) <= maxEdits;
}

/**
 * The meaning of a parameter's name: ours, a misspelling or a name of another API; `null` for any
 * other.
 */
export function meaningOf(name: string): Meaning | null {
  if (name.length > longestName) return null;
  // Forms and frameworks write lists as `huisletter[]` or `huisletter[0]`.
  const word = lettersAndDigits(name.replace(/(?:\[[^[\]]*\])+$/, ''));
  const own =
    parameterNames.find((own) => own === word) ??
    otherNames.find(([, pattern]) => pattern.test(word))?.[0];
  return own ?? parameterNames.find((own) => isMisspelled(word, own)) ?? null;
}

/**
 * In lower case, without spaces, separators and marks; full-width letters and ligatures as ordinary
 * ones.
 */
function lettersAndDigits(text: string): string {
  return text
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]/gu, '');
}
