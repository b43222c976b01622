import { redactKeys } from '../accounts/api-key.ts';
import {
  type AddressRequest,
  addressesToLookUpSchema,
  type BodyFault,
  type BodyFaultCode,
  type InputFault,
  maxAddresses,
} from '../contract.ts';
import { type IncludeName, includeNames } from '../place-fields.ts';
import { addressNames, readAddress } from './address-input.ts';
import {
  addressFaults,
  adviceOnInclude,
  list,
  type NamedFault,
  readQuery,
  type Sent,
  unknownFaults,
} from './input-faults.ts';

/** Valid lookups, or what finds every fault. */
export type BatchInput =
  | { requests: AddressRequest[]; include: IncludeName[] }
  | { requests: null; faults: () => (BodyFault | InputFault)[] };

/**
 * Reads a body by the published schema. The query has no parameters. `include` can name the
 * `offered` fields.
 */
export function readBatchInput(
  body: string,
  rawQueryString = '',
  offered: readonly IncludeName[] = includeNames,
): BatchInput {
  const sent = parsed(body);
  const { data } = addressesToLookUpSchema.safeParse(sent);
  const query = readQuery(rawQueryString);
  const include = data?.include ?? [];
  const isOffered = include.every((name) => offered.includes(name));
  if (!data || !isOffered || query.size > 0 || hasRepeatedMembers(body, data)) {
    const faults = () => [
      ...queryFaults(query),
      ...bodyFaults(sent, offered),
      ...repeatedMembers(body),
    ];
    return { requests: null, faults };
  }
  const requests = data.addresses.map(({ postcode, huisnummer, toevoeging }) =>
    readAddress(postcode, String(huisnummer), toevoeging ?? ''),
  );
  // The schema has the patterns that `readAddress` reads with.
  return { requests: requests as AddressRequest[], include };
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

/**
 * Whether `JSON.parse` has left out members of a body that is valid otherwise: nothing else in that
 * has a colon.
 */
function hasRepeatedMembers(body: string, sent: { addresses: object[] }): boolean {
  const members = [sent, ...sent.addresses].reduce((sum, one) => sum + Object.keys(one).length, 0);
  return body.split(':').length - 1 > members;
}

function queryFaults(query: Sent): InputFault[] {
  const faults = unknownFaults(query, {
    known: [],
    otherwise: 'send no parameters, and everything in the body',
  });
  return faults.map(({ name, ...fault }) => ({ parameter: name, ...fault }));
}

/**
 * The members that an object has more than once. `JSON.parse` keeps the last one, which may be the
 * wrong one.
 */
function repeatedMembers(body: string): BodyFault[] {
  if (parsed(body) === undefined) return [];
  const pointers = new Set<string>();
  /**
   * The objects and lists around a token, the outermost first, each with the token's place in it.
   */
  const around: { names: Set<string> | null; at: string | number }[] = [];
  for (const [token, text, colon] of body.matchAll(/("(?:[^"\\]|\\.)*")\s*(:?)|[{}[\],]/g)) {
    const inner = around.at(-1);
    if (token === '{') around.push({ names: new Set(), at: '' });
    else if (token === '[') around.push({ names: null, at: 0 });
    else if (token === '}' || token === ']') around.pop();
    else if (token === ',' && typeof inner?.at === 'number') inner.at++;
    else if (text && colon && inner?.names) {
      const name = JSON.parse(text) as string;
      inner.at = redactKeys(name);
      if (inner.names.has(name)) pointers.add(pointerTo(...around.map(({ at }) => at)));
      inner.names.add(name);
    }
  }
  const detail = 'This member was sent more than once: send it once.';
  return [...pointers].map((pointer) => ({ pointer, code: 'duplicate', detail }));
}

type JsonObject = Record<string, unknown>;

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function bodyFaults(sent: unknown, offered: readonly IncludeName[]): BodyFault[] {
  if (!isObject(sent)) {
    return [fault([], 'body-form', 'The body is not a JSON object: send one with addresses.')];
  }
  const { addresses, include, ...others } = sent;
  return [
    ...addressesFaults(addresses),
    ...(include === undefined ? [] : includeFaults(include, offered)),
    ...unknownMembers(
      [],
      unknownFaults(textsOf(others), { known: [], otherwise: 'send only addresses and include' }),
    ),
  ];
}

function addressesFaults(addresses: unknown): BodyFault[] {
  const at = ['addresses'];
  const instead = `send a list of 1 to ${maxAddresses} addresses`;
  if (addresses === undefined) return [fault(at, 'missing', `addresses is missing: ${instead}.`)];
  if (!Array.isArray(addresses)) {
    return [fault(at, 'member-type', `addresses is not a list: ${instead}.`)];
  }
  const { length } = addresses;
  if (length < 1 || length > maxAddresses) {
    return [fault(at, 'addresses-count', `addresses has ${length}: ${instead}.`)];
  }
  return addresses.flatMap((address, i) => memberFaults(['addresses', i], address));
}

const types: Record<
  (typeof addressNames)[number],
  { isRight: (value: unknown) => boolean; instead: string }
> = {
  postcode: { isRight: isText, instead: 'send it as a string, such as "1012JS"' },
  huisnummer: {
    isRight: (value) => isText(value) || Number.isInteger(value),
    instead: 'send it as an integer or a string, such as 12',
  },
  toevoeging: { isRight: isText, instead: 'send it as a string, such as "A", or leave it out' },
};

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

function memberFaults(at: Path, address: unknown): BodyFault[] {
  if (!isObject(address)) {
    const form = `an object with ${list.format(addressNames)}`;
    return [fault(at, 'member-type', `This address is not an object: send ${form}.`)];
  }
  const sent = textsOf(address);
  // A member of another type is not missing. `null` is as good as absent.
  const mistyped = addressNames.filter(
    (name) => sent.get(name)?.[0] && !types[name].isRight(address[name]),
  );
  const faults = addressFaults(sent).filter(({ name }) => !mistyped.some((one) => one === name));
  return [
    ...faults.map(({ name, ...rest }) => ({ pointer: pointerTo(...at, name), ...rest })),
    ...mistyped.map((name) =>
      fault([...at, name], 'member-type', `${name} has the wrong type: ${types[name].instead}.`),
    ),
    ...unknownMembers(at, unknownFaults(sent, { known: addressNames })),
  ];
}

/** The members of an object as a query would have them. */
function textsOf(object: JsonObject): Sent {
  return new Map(
    Object.entries(object).map(([name, value]) => [name, [isText(value) ? value : textOf(value)]]),
  );
}

const textOf = (value: unknown) => (value === null ? '' : JSON.stringify(value));

function includeFaults(names: unknown, offered: readonly IncludeName[]): BodyFault[] {
  const at = ['include'];
  const instead = 'send a list of strings, or leave it out';
  if (!Array.isArray(names)) {
    return [fault(at, 'member-type', `include is not a list: ${instead}.`)];
  }
  if (names.length === 0) {
    return [
      fault(at, 'include-empty', 'include has no names: send at least one, or leave it out.'),
    ];
  }
  return names.flatMap((name, i) => {
    if (!isText(name)) {
      return [fault([...at, i], 'member-type', `This name is not a string: ${instead}.`)];
    }
    const advice = adviceOnInclude(names, i, offered);
    return advice ? [fault([...at, i], advice.code, `${advice.wrong}: ${advice.instead}.`)] : [];
  });
}

/** The faults of unknown members, each with the code of a member. */
function unknownMembers(at: Path, faults: NamedFault[]): BodyFault[] {
  return faults.map(({ name, code, ...rest }) => ({
    pointer: pointerTo(...at, name),
    code: code === 'parameter-unknown' ? 'unknown-member' : code,
    ...rest,
  }));
}

type Path = readonly (string | number)[];

function fault(at: Path, code: BodyFaultCode, detail: string): BodyFault {
  return { pointer: pointerTo(...at), code, detail };
}

/** A JSON pointer (RFC 6901), with names no longer than is of use. */
function pointerTo(...path: Path): string {
  return path
    .map((one) => `/${String(one).slice(0, 100).replaceAll('~', '~0').replaceAll('/', '~1')}`)
    .join('');
}
