import * as z from 'zod/mini';
import {
  type AddressRequest,
  huisnummerParameter,
  type InputFault,
  postcodeParameter,
  toevoegingParameter,
} from '../contract.ts';

const schemas = { postcode: postcodeParameter, huisnummer: huisnummerParameter, toevoeging: toevoegingParameter };

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
