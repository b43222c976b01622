import { hasKeyPrefix, redactKeys } from '../accounts/api-key.ts';
import type { BodyFault, BodyFaultCode } from '../contract.ts';
import {
  addressMembers,
  addressTexts,
  bodyMembers,
  hasItsType,
  hasKeyInQuery,
  isObject,
  type JsonObject,
  maxAddresses,
  parseBody,
  unreadable,
} from './batch-input.ts';
import { addressFaults, includeListFaults } from './input-faults.ts';
import { isOwnName } from './parameter-names.ts';

/** Every fault of the body of many lookups, and of a query with a key, which is in logs now. */
export function batchFaults(body: string, rawQueryString = ''): BodyFault[] {
  const sent = parseBody(body);
  return [
    ...(hasKeyInQuery(rawQueryString) ? [keyInQuery] : []),
    ...bodyFaults(sent),
    ...(sent === unreadable ? [] : repeatedMembers(body)),
  ];
}

/** The members that an object has more than once. `JSON.parse` keeps the last one, which may not be what was meant. */
function repeatedMembers(body: string): BodyFault[] {
  const pointers = new Set<string>();
  /** The objects and lists around a token, the outermost first, each with where the token is in it. */
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
      if (inner.names.has(name)) pointers.add(around.map(({ at }) => `/${escaped(String(at))}`).join(''));
      inner.names.add(name);
    }
  }
  return [...pointers].map((pointer) =>
    fault(pointer, 'duplicate', 'This member was sent more than once: send it once.'),
  );
}

function bodyFaults(sent: unknown): BodyFault[] {
  if (sent === unreadable) return [fault('', 'body-form', 'The body is not JSON: send an object with addresses.')];
  if (!isObject(sent)) return [fault('', 'body-form', 'The body is no object: send an object with addresses.')];
  const others = Object.keys(sent).filter((name) => !bodyMembers.includes(name));
  return [
    ...addressesFaults(sent.addresses),
    ...(sent.include === undefined ? [] : includeFaults(sent.include)),
    ...others.map((name) => unknownMember('', name, sent[name], 'send addresses and include only')),
  ];
}

const keyInQuery: BodyFault = {
  pointer: '',
  code: 'misplaced-key',
  detail:
    'An API key was sent in the query string, where logs can keep it: send it in the header X-API-Key only, and ask for a new one.',
};

function addressesFaults(addresses: unknown): BodyFault[] {
  const pointer = '/addresses';
  const instead = `send a list of 1 to ${maxAddresses} addresses`;
  if (addresses === undefined) return [fault(pointer, 'missing', `addresses is missing: ${instead}.`)];
  if (!Array.isArray(addresses)) return [fault(pointer, 'member-type', `addresses is no list: ${instead}.`)];
  const { length } = addresses;
  if (length < 1 || length > maxAddresses) {
    return [fault(pointer, 'addresses-count', `addresses has ${length}: ${instead}.`)];
  }
  return addresses.flatMap((address, i) => memberFaults(`${pointer}/${i}`, address));
}

function memberFaults(at: string, address: unknown): BodyFault[] {
  const form = 'an object with postcode, huisnummer and, if there is one, toevoeging';
  if (!isObject(address)) return [fault(at, 'member-type', `This address is no object: send ${form}.`)];
  const names = Object.keys(address);
  const mistyped = names.filter((name) => addressMembers.includes(name) && !hasItsType(name, address[name]));
  // What has another type is neither missing nor misspelled.
  const typed = mistyped.filter((name) => address[name] !== null);
  const found = addressFaults(addressTexts(address)).filter(({ name }) => !typed.includes(name));
  const unknown = names.filter(
    (name) => !addressMembers.includes(name) && !found.some((other) => other.name === name) && !hasFault(name, address),
  );
  return [
    ...found.map(({ name, ...rest }) => ({ pointer: `${at}/${escaped(name)}`, ...rest })),
    ...typed.map((name) => fault(`${at}/${name}`, 'member-type', `${name} has the wrong type: ${instead[name]}.`)),
    ...unknown.map((name) => unknownMember(at, name, address[name], `send ${form}`)),
  ];
}

const instead: Record<string, string> = {
  postcode: 'send it as a string, such as "1012JS"',
  huisnummer: 'send it as an integer or a string, such as 12',
  toevoeging: 'send it as a string, such as "A", or leave it out',
};

/** Whether a member that is not ours has a fault under a name without its key. */
function hasFault(name: string, address: JsonObject): boolean {
  return !isOwnName(name) && hasKeyPrefix(name) && address[name] !== null;
}

function includeFaults(names: unknown): BodyFault[] {
  const pointer = '/include';
  if (!Array.isArray(names) || names.some((name) => typeof name !== 'string')) {
    return [fault(pointer, 'member-type', 'include has the wrong type: send a list of strings, or leave it out.')];
  }
  return includeListFaults(names).map(({ name: _, ...rest }) => ({ pointer, ...rest }));
}

/** A member that means nothing here. A key in it is named as what it is, and never repeated. */
function unknownMember(at: string, name: string, value: unknown, instead: string): BodyFault {
  const pointer = `${at}/${escaped(redactKeys(name))}`;
  if (hasKeyPrefix(name) || hasKeyPrefix(JSON.stringify(value) ?? '')) {
    return fault(
      pointer,
      'misplaced-key',
      'An API key was sent in the body: send it in the header X-API-Key only, and ask for a new one if the body is logged.',
    );
  }
  return fault(pointer, 'unknown-member', `This member is unknown: ${instead}.`);
}

function fault(pointer: string, code: BodyFaultCode, detail: string): BodyFault {
  return { pointer, code, detail };
}

/** A name as a part of a JSON pointer (RFC 6901), not longer than is of use. */
function escaped(name: string): string {
  return name.slice(0, 100).replaceAll('~', '~0').replaceAll('/', '~1');
}
