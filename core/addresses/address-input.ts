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
  additionIn,
  adviseHuisnummer,
  adviseMissing,
  advisePostcode,
  adviseToevoeging,
  isHuisnummer,
  toevoegingOf,
  withAfter,
  withBefore,
} from './input-faults.ts';

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

  const sent = sentAsToevoeging(query, others);
  const postcode = read('postcode', postcodeParameter, advisePostcode);
  const huisnummer = read('huisnummer', huisnummerParameter, (value) => adviseHuisnummer(value, sent));
  const toevoeging = read('toevoeging', toevoegingParameter, adviseToevoeging);
  faults.push(...wrongNames(query, others, sent));
  if (postcode === undefined || huisnummer === undefined || toevoeging === undefined || faults.length > 0) {
    return { request: null, faults };
  }
  return { request: { postcode, huisnummer, toevoeging }, faults: [] };
}

type Other = { name: string; values: string[] };
type Others = Record<Meaning, Other[]>;

/** The parameters under names of other APIs, each name once, by what they mean here. */
function otherParameters(query: URLSearchParams): Others {
  const found: Others = { postcode: [], huisnummer: [], huisletter: [], toevoeging: [] };
  for (const name of new Set(query.keys())) {
    const meaning = meaningOf(name);
    if (meaning) found[meaning].push({ name, values: [...new Set(query.getAll(name))] });
  }
  return found;
}

/** What was sent as the toevoeging, under any name, joined as the register does; `null` where a name has several values. */
function sentAsToevoeging(query: URLSearchParams, { huisletter, toevoeging }: Others): string | null {
  if ([...huisletter, ...toevoeging].some(({ values }) => values.length > 1)) return null;
  const [letter, addition] = [huisletter, toevoeging].map((others) => others.flatMap(({ values }) => values).join(''));
  const own = query.get('toevoeging') ?? '';
  return own === '' ? `${letter}${addition}` : withAfter(withBefore(letter ?? '', own), addition ?? '');
}

function wrongNames(query: URLSearchParams, others: Others, sent: string | null): InputFault[] {
  const { huisnummer, huisletter, toevoeging } = others;
  const number = query.get('huisnummer') ?? huisnummer[0]?.values[0] ?? '';
  const value = sent === null ? null : toevoegingOf(withBefore(additionIn(number), sent));
  const instead = value === null ? 'send what follows the number as toevoeging.' : `send toevoeging=${value}.`;
  const fault = ({ name }: Other, instead: string): InputFault => ({
    parameter: name,
    code: 'wrong-name',
    detail: `${name} is not a parameter: ${instead}`,
  });
  return [
    ...huisnummer.map((other) => fault(other, numberInstead(other, sent))),
    ...[...huisletter, ...toevoeging].map((other) => fault(other, instead)),
  ];
}

/** What to send for the value of a huisnummer under another name. */
function numberInstead({ values: [value = '', ...further] }: Other, sent: string | null): string {
  if (further.length > 0 || !value.replaceAll(' ', '')) return 'send the number as huisnummer.';
  if (isHuisnummer(value)) return `send huisnummer=${Number(value)}.`;
  const { detail } = adviseHuisnummer(value, sent);
  return `send it as huisnummer. ${detail}`;
}

/** What a parameter of another API is here. */
type Meaning = 'postcode' | 'huisnummer' | 'huisletter' | 'toevoeging';

/**
 * Names under which other Dutch address APIs take a part of an address: those of the Kadaster (BAG and Haal Centraal),
 * PDOK, postcode.nl, PostcodeAPI.nu, postcode.tech, Pro6PP, ApiCheck and PostNL, and common variants. A space stands for an
 * optional space, dot, hyphen or underscore; letter case does not matter.
 */
export const otherNames: Record<Meaning, readonly string[]> = {
  postcode: ['post code', 'postal code', 'zip code', 'zip', 'pc6'],
  huisnummer: [
    'huis nummer',
    'huis nr',
    'hnr',
    'huis nlt',
    'nummer',
    'nr',
    'house number',
    'house nr',
    'house no',
    'number',
    'street number',
    'street number and premise',
  ],
  huisletter: ['huis letter', 'huisnummer letter', 'house letter', 'house number letter', 'letter'],
  toevoeging: [
    'toevoeging',
    'toevoegsel',
    'toev',
    'huis toevoeging',
    'huisnummer toevoeging',
    'huisnummer toevoegsel',
    'huisnummer toev',
    'huis nummer toevoeging',
    'huis nr toevoeging',
    'huis nr toev',
    'hnr toevoeging',
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
    'house number ext',
    'number extension',
    'extension',
    'premise',
  ],
};

const meanings = new Map(
  Object.entries(otherNames).flatMap(([meaning, names]) =>
    names.map((name): [string, Meaning] => [name.replaceAll(' ', ''), meaning as Meaning]),
  ),
);

const ownNames = new Set(['postcode', 'huisnummer', 'toevoeging']);
/** No name in the list is longer than this. */
const longestName = 40;

/** The meaning of a parameter name of another API; `null` for our own names and unknown ones. */
function meaningOf(name: string): Meaning | null {
  if (ownNames.has(name) || name.length > longestName) return null;
  // Forms and frameworks write lists as `huisletter[]` or `huisletter[0]`.
  const word = name.replace(/\[\w*\]$/, '').replaceAll(/[ ._-]/g, '');
  return meanings.get(word.toLowerCase()) ?? null;
}
