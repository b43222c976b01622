/**
 * The form of a lookup's parameters. These are functions rather than schemas: a function that starts reads its first
 * lookup with them, without loading zod. The schemas of the contract are made of the same patterns.
 */

/** The parameters as typed. The pattern of a postcode keeps out `ß` and `ſ`, which upper case turns into ASCII. */
export const parameterPatterns = {
  postcode: /^ *[1-9](?: *[0-9]){3}(?: *[A-Za-z]){2} *$/,
  huisnummer: /^0*[1-9][0-9]*$/,
  toevoeging: /^ *(?:[0-9A-Za-z] *){0,5}$/,
} as const;

/** How many digits a huisnummer may have, leading zeros included. */
export const longestHuisnummer = 5;

/** The house numbers of the register. */
export const huisnummerRange = { from: 1, to: 99_999 } as const;

/** A postcode as typed, in the form of the register; `null` if it is invalid. */
export function readPostcode(text: string): string | null {
  return parameterPatterns.postcode.test(text) ? text.replaceAll(' ', '').toUpperCase() : null;
}

/** Digits, with leading zeros, as a house number; `null` if they are invalid. */
export function readHuisnummer(text: string): number | null {
  return text.length <= longestHuisnummer && parameterPatterns.huisnummer.test(text) ? Number(text) : null;
}

/** A toevoeging in the letter case that was sent, empty if there is none; `null` if it is invalid. */
export function readToevoeging(text: string): string | null {
  return parameterPatterns.toevoeging.test(text) ? text.replaceAll(' ', '') : null;
}
