import { hasKeyPrefix } from '../accounts/api-key.ts';
import { longestEcho, maxFaults } from '../address-form.ts';
import {
  type AddressRequest,
  addressesToLookUpSchema,
  type BodyFault,
  type BodyFaultCode,
  type ListedFaults,
  maxAddresses,
} from '../contract.ts';
import { type AvailableIncludes, type IncludeName, includeNames } from '../place-fields.ts';
import { addressNames, readAddress } from './address-input.ts';
import {
  addressFaults,
  adviceOnInclude,
  echoed,
  list,
  listed,
  type NamedFault,
  type Sent,
  type SentValue,
  sentValue,
  strayParameters,
  unclear,
  unknownFaults,
  whatIsMeant,
} from './input-faults.ts';

/** Valid lookups, or what finds the faults. */
export type BatchInput =
  | { requests: AddressRequest[]; include: IncludeName[] }
  | { requests: null; faults: () => ListedFaults };

/**
 * Reads a body by the published schema. The query has no parameters. `include` can name the
 * `available` fields.
 */
export function readBatchInput(
  body: string,
  rawQueryString = '',
  available: AvailableIncludes = includeNames,
): BatchInput {
  const sent = parsed(body);
  const data = hasTooMany(sent) ? undefined : addressesToLookUpSchema.safeParse(sent).data;
  const include = data?.include ?? [];
  const isOffered = include.every((name) => available.includes(name));
  const hasQuery = new URLSearchParams(rawQueryString).size > 0;
  if (!data || !isOffered || hasQuery || hasRepeatedMembers(body, data)) {
    return {
      requests: null,
      faults: () => listed(allFaults(body, sent, rawQueryString, available)),
    };
  }
  const requests = data.addresses.map(({ postcode, huisnummer, toevoeging }) =>
    readAddress(postcode, String(huisnummer), toevoeging ?? ''),
  );
  // The schema has the patterns that `readAddress` reads with.
  return { requests: requests as AddressRequest[], include };
}

function* allFaults(
  body: string,
  sent: unknown,
  rawQueryString: string,
  available: AvailableIncludes,
) {
  yield* strayParameters(rawQueryString, 'send no parameters, and everything in the body');
  yield* bodyFaults(sent, available);
  if (sent !== undefined) yield* repeatedMembers(body);
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

/** Whether a list has too many elements: the schema would examine every one. */
function hasTooMany(sent: unknown): boolean {
  if (!isObject(sent)) return false;
  const { addresses, include } = sent;
  return isLonger(addresses, maxAddresses) || isLonger(include, includeNames.length);
}

const isLonger = (value: unknown, length: number) => Array.isArray(value) && value.length > length;

/**
 * Whether `JSON.parse` has left out members of a body that is valid otherwise: nothing else in that
 * has a colon.
 */
function hasRepeatedMembers(body: string, sent: { addresses: object[] }): boolean {
  const members = [sent, ...sent.addresses].reduce(
    (sum, address) => sum + Object.keys(address).length,
    0,
  );
  return body.split(':').length - 1 > members;
}

/** No member of a valid body is as deep; deeper members are not examined. */
const deepest = 10;

/**
 * The members that an object has more than once. `JSON.parse` keeps the last one, which may be the
 * wrong one.
 */
function* repeatedMembers(body: string): Generator<BodyFault> {
  const pointers = new Set<string>();
  /** The objects and lists that hold a token, the outermost first, each with the token's place. */
  const parents: { names: Map<string, number> | null; at: string | number }[] = [];
  for (const token of tokensOf(body)) {
    const inner = parents.at(-1);
    if (token === '{') parents.push({ names: new Map(), at: '' });
    else if (token === '[') parents.push({ names: null, at: 0 });
    else if (token === '}' || token === ']') parents.pop();
    else if (token === ',' && typeof inner?.at === 'number') inner.at++;
    else if (token.startsWith('"') && inner?.names && parents.length <= deepest) {
      const name = JSON.parse(token) as string;
      inner.at = name;
      const times = (inner.names.get(name) ?? 0) + 1;
      inner.names.set(name, times);
      if (times !== 2) continue;
      const pointer = pointerTo(...parents.map(({ at }) => at));
      if (pointers.has(pointer)) continue;
      pointers.add(pointer);
      const detail = 'This member was sent more than once: send it once.';
      yield { pointer, code: 'duplicate', detail };
    }
  }
}

/** The brackets, the commas and the names of members in a JSON text, in their order. */
function* tokensOf(json: string): Generator<string> {
  for (let at = 0; at < json.length; at++) {
    const character = json[at] ?? '';
    if (character !== '"') {
      if ('{}[],'.includes(character)) yield character;
      continue;
    }
    const begin = at;
    do at += json[at] === '\\' ? 2 : 1;
    while (json[at] !== '"');
    let next = at + 1;
    while (' \t\r\n'.includes(json[next] ?? '-')) next++;
    if (json[next] === ':') yield json.slice(begin, at + 1);
    at = next - 1;
  }
}

type JsonObject = Record<string, unknown>;

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function* bodyFaults(sent: unknown, available: AvailableIncludes): Generator<BodyFault> {
  if (!isObject(sent)) {
    yield fault([], 'body-form', 'The body is not a JSON object: send one with addresses.');
    return;
  }
  const { addresses, include } = sent;
  yield* addressesFaults(addresses);
  if (include !== undefined) yield* includeFaults(include, available);
  const otherwise = 'send only addresses and include';
  const unknown = textsOf(sent, ['addresses', 'include']);
  yield* unknownMembers([], unknownFaults(unknown, whatIsMeant(unknown), { known: [], otherwise }));
}

function* addressesFaults(addresses: unknown): Generator<BodyFault> {
  const at = ['addresses'];
  const instead = `send a list of 1 to ${maxAddresses} addresses`;
  if (addresses === undefined) yield fault(at, 'missing', `addresses is missing: ${instead}.`);
  else if (!Array.isArray(addresses)) {
    yield fault(at, 'member-type', `addresses is not a list: ${instead}.`);
  } else if (addresses.length < 1 || addresses.length > maxAddresses) {
    yield fault(at, 'addresses-count', `addresses has ${addresses.length}: ${instead}.`);
  } else {
    for (const [i, address] of addresses.entries()) yield* memberFaults(['addresses', i], address);
  }
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

function* memberFaults(at: Path, address: unknown): Generator<BodyFault> {
  if (!isObject(address)) {
    const form = `an object with ${list.format(addressNames)}`;
    yield fault(at, 'member-type', `This address is not an object: send ${form}.`);
    return;
  }
  const sent = textsOf(address);
  const meant = whatIsMeant(sent);
  // A member of another type is not missing. `null` is as good as absent.
  const mistyped = addressNames.filter(
    (name) => sent.get(name)?.[0]?.text && !types[name].isRight(address[name]),
  );
  for (const { name, ...rest } of addressFaults(sent, meant)) {
    if (mistyped.some((member) => member === name)) continue;
    yield { pointer: pointerTo(...at, name), ...rest };
  }
  for (const name of mistyped) {
    const detail = `${name} has the wrong type: ${types[name].instead}.`;
    yield fault([...at, name], 'member-type', detail);
  }
  yield* unknownMembers(at, unknownFaults(sent, meant, { known: addressNames }));
}

/** An object with so many members has more unknown members than a response lists. */
const mostMembers = maxFaults + addressNames.length + 1;

/**
 * The members of an object as a query would have them, without the skipped members: the parts of an
 * address, and others as long as they can be among the faults.
 */
function textsOf(object: JsonObject, skipped: readonly string[] = []): Sent {
  const sent = new Map<string, SentValue[]>();
  for (const name of Object.keys(object)) {
    if (skipped.includes(name)) continue;
    if (sent.size >= mostMembers && !addressNames.some((own) => own === name)) continue;
    sent.set(name, [valueSent(object[name])]);
  }
  return sent;
}

function valueSent(value: unknown): SentValue {
  if (value === null) return sentValue('');
  if (typeof value !== 'object') return sentValue(String(value));
  return { text: unclear, isKey: holdsKey(value), isTooLong: false };
}

/** Whether there is an API key in an object or a list, however deep. */
function holdsKey(value: object): boolean {
  const left: unknown[] = [value];
  while (left.length > 0) {
    const part = left.pop();
    if (isText(part) && hasKeyPrefix(part)) return true;
    if (Array.isArray(part)) for (const inner of part) left.push(inner);
    else if (typeof part === 'object' && part !== null) {
      for (const [name, inner] of Object.entries(part)) left.push(name, inner);
    }
  }
  return false;
}

function* includeFaults(names: unknown, available: AvailableIncludes): Generator<BodyFault> {
  const at = ['include'];
  const instead = 'send a list of strings, or leave it out';
  if (!Array.isArray(names)) {
    yield fault(at, 'member-type', `include is not a list: ${instead}.`);
  } else if (names.length === 0) {
    const detail = 'include has no names: send at least one, or leave it out.';
    yield fault(at, 'include-empty', detail);
  } else {
    for (const [i, name] of names.entries()) {
      if (isText(name)) {
        const advice = adviceOnInclude(names, i, available);
        if (advice) yield fault([...at, i], advice.code, `${advice.wrong}: ${advice.instead}.`);
      } else {
        yield fault([...at, i], 'member-type', `This name is not a string: ${instead}.`);
      }
    }
  }
}

/** The faults of unknown members, each with the code of a member. */
function* unknownMembers(at: Path, faults: Iterable<NamedFault>): Generator<BodyFault> {
  for (const { name, code, ...rest } of faults) {
    const own = code === 'parameter-unknown' ? 'unknown-member' : code;
    yield { pointer: pointerTo(...at, name), code: own, ...rest };
  }
}

type Path = readonly (string | number)[];

function fault(at: Path, code: BodyFaultCode, detail: string): BodyFault {
  return { pointer: pointerTo(...at), code, detail };
}

/** Whether a step is one of a valid body: its name or number is ours. */
function isOwnStep(path: Path, at: number): boolean {
  const [first] = path;
  const step = path[at] ?? '';
  if (at === 0) return step === 'addresses' || step === 'include';
  if (at === 1) return typeof step === 'number' && (first === 'addresses' || first === 'include');
  return at === 2 && first === 'addresses' && addressNames.some((name) => name === step);
}

/**
 * A JSON pointer (RFC 6901). Its names are echoed no longer than other texts of a request; deeper
 * than that, it points to the member parents.
 */
function pointerTo(...path: Path): string {
  let pointer = '';
  let left = longestEcho;
  for (const [at, step] of path.entries()) {
    const text = isOwnStep(path, at) ? String(step) : echoed(String(step));
    if (!isOwnStep(path, at)) left -= text.length + (left < longestEcho ? 1 : 0);
    if (left < 0) break;
    pointer += `/${text.replaceAll('~', '~0').replaceAll('/', '~1')}`;
  }
  return pointer;
}
