import * as z from 'zod/mini';
import {
  type AddressRequest,
  huisnummerParameter,
  type InputFault,
  postcodeParameter,
  toevoegingParameter,
} from '../contract.ts';
import {
  type Advice,
  adviseHuisnummer,
  adviseMissing,
  advisePostcode,
  adviseToevoeging,
  isHuisnummer,
  joined,
} from './input-faults.ts';
import { meaningOf } from './other-names.ts';

export type AddressInput = { request: AddressRequest; faults: [] } | { request: null; faults: InputFault[] };

/**
 * Reads and normalises the parameters of a lookup from a raw query string. Reports every fault, at most one for each
 * parameter. Ignores unknown parameters, except the names of other APIs for a huisnummer or a toevoeging: without their
 * values the response would be about another address.
 */
export function readAddressInput(rawQueryString: string): AddressInput {
  const query = new URLSearchParams(rawQueryString);
  const faults: InputFault[] = [];
  const others = otherParameters(query);

  function read<Schema extends z.core.$ZodType>(
    parameter: 'postcode' | 'huisnummer' | 'toevoeging',
    schema: Schema,
    advise: (value: string) => Advice,
  ): z.output<Schema> | undefined {
    const values = query.getAll(parameter);
    const value = values[0] ?? '';
    if (values.length > 1) {
      const detail = `${parameter} was sent more than once: send it once.`;
      return void faults.push({ parameter, code: 'duplicate', detail });
    }
    if (parameter !== 'toevoeging' && !value.replaceAll(' ', '')) {
      return void faults.push({ parameter, ...adviseMissing(parameter, others[parameter][0]?.name) });
    }
    const { success, data } = z.safeParse(schema, value);
    if (success) return data;
    faults.push({ parameter, ...advise(value) });
    return undefined;
  }

  const added = addedTo(query, others);
  const postcode = read('postcode', postcodeParameter, advisePostcode);
  const huisnummer = read('huisnummer', huisnummerParameter, (value) => adviseHuisnummer(value, added));
  const toevoeging = read('toevoeging', toevoegingParameter, adviseToevoeging);
  faults.push(...wrongNames(others, added));
  if (postcode === undefined || huisnummer === undefined || toevoeging === undefined || faults.length > 0) {
    return { request: null, faults };
  }
  return { request: { postcode, huisnummer, toevoeging }, faults: [] };
}

type Other = { name: string; value: string };
type Others = Record<NonNullable<ReturnType<typeof meaningOf>>, Other[]>;

/** The parameters under names of other APIs, each name once, by what they mean here. */
function otherParameters(query: URLSearchParams): Others {
  const found: Others = { postcode: [], huisnummer: [], huisletter: [], toevoeging: [] };
  for (const name of new Set(query.keys())) {
    const meaning = meaningOf(name);
    if (meaning) found[meaning].push({ name, value: query.get(name) ?? '' });
  }
  return found;
}

/** The parts of the toevoeging that were sent, under any name, in the order in which they are joined. */
function addedTo(query: URLSearchParams, { huisletter, toevoeging }: Others): string[] {
  const fromOthers = [...huisletter, ...toevoeging].map(({ value }) => value).join('');
  return [fromOthers, query.get('toevoeging') ?? ''];
}

function wrongNames({ huisnummer, huisletter, toevoeging }: Others, added: readonly string[]): InputFault[] {
  const value = joined(added);
  const instead = value === null ? 'send what follows the number as toevoeging.' : `send toevoeging=${value}.`;
  const fault = ({ name }: Other, instead: string): InputFault => ({
    parameter: name,
    code: 'wrong-name',
    detail: `${name} is not a parameter: ${instead}`,
  });
  return [
    ...huisnummer.map((other) => fault(other, numberInstead(other.value, added))),
    ...[...huisletter, ...toevoeging].map((other) => fault(other, instead)),
  ];
}

/** What to send for the value of a huisnummer under another name. */
function numberInstead(value: string, added: readonly string[]): string {
  if (isHuisnummer(value)) return `send huisnummer=${Number(value)}.`;
  if (!value.replaceAll(' ', '')) return 'send the number as huisnummer.';
  const { detail } = adviseHuisnummer(value, added);
  return `send it as huisnummer. ${detail}`;
}
