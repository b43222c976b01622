import * as z from 'zod/mini';

const withoutSpaces = z.overwrite<string>((value) => value.replaceAll(' ', ''));
const upperCase = z.overwrite<string>((value) => value.toUpperCase());

/** A postcode as it is typed, to one as the register writes it. The pattern keeps `ß` and `ſ` out, which turn ASCII. */
export const postcodeParameter = z
  .string()
  .check(z.regex(/^ *[1-9](?: *[0-9]){3}(?: *[A-Za-z]){2} *$/, { abort: true }), withoutSpaces, upperCase);

/** A house number of the register: 1 to 99999. */
export const huisnummerSchema = z.int().check(z.gte(1), z.lte(99_999));

/** Digits, leading zeros among them, to a house number. */
export const huisnummerParameter = z.pipe(
  z.pipe(
    z.string().check(z.regex(/^[0-9]{1,5}$/)),
    z.transform((digits: string) => Number(digits)),
  ),
  huisnummerSchema,
);

/** Letters and digits to a toevoeging in the letter case it was given; none of them to `null`. */
export const toevoegingParameter = z.pipe(
  z.string().check(z.regex(/^ *(?:[0-9A-Za-z] *){0,5}$/), withoutSpaces),
  z.transform((value: string) => value || null),
);

/** What a lookup asks for, normalised. */
export const addressRequestSchema = z.object({
  postcode: z.string().check(z.regex(/^[1-9][0-9]{3}[A-Z]{2}$/)),
  huisnummer: huisnummerSchema,
  toevoeging: z.nullable(z.string().check(z.regex(/^[0-9A-Za-z]{1,5}$/))),
});

/** What a lookup asks for, normalised; `toevoeging` in the letter case it was given. */
export type AddressRequest = z.infer<typeof addressRequestSchema>;
