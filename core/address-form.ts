/**
 * The form of a lookup's parameters, as typed: the schemas of the contract and the functions that
 * read a lookup without loading zod are made of it. The pattern of a postcode keeps out `ß` and
 * `ſ`, which upper case turns into ASCII.
 */
export const parameterPatterns = {
  postcode: /^ *[1-9](?: *[0-9]){3}(?: *[A-Za-z]){2} *$/,
  huisnummer: /^0*[1-9][0-9]*$/,
  toevoeging: /^ *(?:[0-9A-Za-z] *){0,5}$/,
} as const;

/** How many digits a huisnummer may have, leading zeros included. */
export const longestHuisnummer = 5;

/** How many characters a value may have without its spaces: far more than any that is valid. */
export const longestValue = 200;

/** How many faults a response lists: the rest of a request is not examined. */
export const maxFaults = 100;

/** How many characters of a request a fault repeats. */
export const longestEcho = 40;

/** The house numbers of the register. */
export const huisnummerRange = { from: 1, to: 99_999 } as const;
