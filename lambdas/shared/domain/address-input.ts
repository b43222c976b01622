import * as z from 'zod/mini';
import type { AddressRequest } from './address-key.ts';
import type { InputFault } from './refusal.ts';

const withoutSpaces = z.overwrite<string>((value) => value.replaceAll(' ', ''));
const asciiUpperCase = z.overwrite<string>((value) => value.toUpperCase());

/** The pattern is checked before upper case is made: `ß` would become `SS`, and `ſ` would become `S`. */
export const postcodeSchema = z
  .string()
  .check(withoutSpaces, z.regex(/^[1-9][0-9]{3}[A-Za-z]{2}$/, { abort: true }), asciiUpperCase);

export const huisnummerSchema = z.pipe(
  z.string().check(z.regex(/^(?=.*[1-9])[0-9]{1,5}$/)),
  z.transform((digits) => Number(digits)),
);

export const toevoegingSchema = z.pipe(
  z.string().check(withoutSpaces, z.regex(/^[0-9A-Za-z]{0,5}$/)),
  z.transform((value) => value || null),
);

const schemas = { postcode: postcodeSchema, huisnummer: huisnummerSchema, toevoeging: toevoegingSchema };

const expectations = {
  postcode: 'four digits, the first not 0, and two letters, such as 1012JS',
  huisnummer: 'one to five digits, from 1 to 99999',
  toevoeging: 'at most five letters and digits, such as A, 2 or bis',
} as const;

export type AddressInput = { request: AddressRequest; faults: [] } | { request: null; faults: InputFault[] };

/** Reads and normalises the parameters of a lookup from a raw query string; every fault is reported, one a parameter. */
export function readAddressInput(rawQueryString: string): AddressInput {
  const query = new URLSearchParams(rawQueryString);
  const faults: InputFault[] = [];

  function read<Name extends keyof typeof schemas>(name: Name): z.output<(typeof schemas)[Name]> | undefined {
    const values = query.getAll(name);
    const value = values[0] ?? '';
    const optional = name === 'toevoeging';
    if (values.length > 1) return fault(name, 'duplicate', `${name} is given more than once; give it once.`);
    if (!optional && !value.replaceAll(' ', '')) {
      return fault(name, 'missing', `${name} is required: ${expectations[name]}.`);
    }
    const result = z.safeParse(schemas[name], value);
    if (!result.success) return fault(name, 'invalid', `${name} must be ${expectations[name]}.`);
    return result.data as z.output<(typeof schemas)[Name]>;
  }
  function fault(parameter: InputFault['parameter'], code: InputFault['code'], detail: string): undefined {
    faults.push({ parameter, code, detail });
  }

  const postcode = read('postcode');
  const huisnummer = read('huisnummer');
  const toevoeging = read('toevoeging');
  if (postcode === undefined || huisnummer === undefined || toevoeging === undefined) return { request: null, faults };
  return { request: { postcode, huisnummer, toevoeging }, faults: [] };
}
