import { hasKeyPrefix, redactKeys } from '../accounts/api-key.ts';
import { readHuisnummer, readPostcode, readToevoeging } from '../address-form.ts';
import type { FaultCode, InputFault, Suggestion } from '../contract.ts';
import { includeNames } from '../place-fields.ts';
import {
  type Advice,
  adviseHuisnummer,
  adviseInclude,
  adviseMissing,
  advisePostcode,
  adviseToevoeging,
  adviseTwice,
  comparable,
  numberIn,
  postcodeIn,
  toevoegingIn,
  withAfter,
  withBefore,
} from './input-advice.ts';
import { isOwnName, type Meaning, meaningOf, readQuery, type Sent } from './parameter-names.ts';

/** One fault of what was sent for an address, at the name that was sent or should have been. */
export type AddressFault = { name: string; code: FaultCode; detail: string; suggestion?: Suggestion };

/** Every fault of the parameters of a lookup, in a raw query string. */
export function queryFaults(rawQueryString: string): InputFault[] {
  const sent = readQuery(rawQueryString);
  return [...addressFaults(sent), ...includeFaults(sent)].map(({ name, ...fault }) => ({ parameter: name, ...fault }));
}

/** Every fault of an invalid address, at most one for each name. */
export function addressFaults(sent: Sent): AddressFault[] {
  const meant = whatIsMeant(sent);
  const faults = [
    ownFault('postcode', sent, meant),
    ownFault('huisnummer', sent, meant),
    ownFault('toevoeging', sent, meant),
    ...[...sent.keys()].map((name) => otherFault(name, sent, meant)),
  ];
  return faults.filter((fault) => fault !== undefined);
}

type Own = 'postcode' | 'huisnummer' | 'toevoeging';

const read = { postcode: readPostcode, huisnummer: readHuisnummer, toevoeging: readToevoeging };
const advise = { postcode: advisePostcode, huisnummer: adviseHuisnummer, toevoeging: adviseToevoeging };

function ownFault(name: Own, sent: Sent, meant: Meant): AddressFault | undefined {
  const [value = '', ...further] = sent.get(name) ?? [];
  if ([value, ...further].some(hasKeyPrefix)) return faultAt(name, misplacedKey);
  if (further.length > 0) {
    return faultAt(name, adviseTwice(name), meant[name]);
  }
  if (name !== 'toevoeging' && !value.replaceAll(' ', '')) {
    const missing = faultAt(name, adviseMissing(name), meant[name]);
    const other = [...sent.keys()].find((other) => other !== name && meaningOf(other) === name);
    if (other !== undefined) missing.detail += ` It was sent as ${shown(other)}, which is not a parameter.`;
    return missing;
  }
  return read[name](value) !== null ? undefined : faultAt(name, advise[name](value), meant[name]);
}

/** Every fault of the parameter `include`. */
function includeFaults(sent: Sent): AddressFault[] {
  const [value, ...further] = sent.get('include') ?? [];
  if (value === undefined) return [];
  if ([value, ...further].some(hasKeyPrefix)) return [faultAt('include', misplacedKey)];
  if (further.length > 0) return [faultAt('include', adviseTwice('include'))];
  const names = value.split(',');
  return adviseInclude(names).map((advice) => faultAt('include', advice, includeSuggestion(names)));
}

/** Every fault of a list of names to include. */
export function includeListFaults(names: readonly string[]): AddressFault[] {
  if (names.some(hasKeyPrefix)) return [faultAt('include', misplacedKey)];
  return adviseInclude(names).map((advice) => faultAt('include', advice));
}

/** The names that are known, if these are all but for letter case, spaces, repetition and empty ones. */
function includeSuggestion(names: readonly string[]): Suggestion | undefined {
  const plain = new Set(names.map((name) => name.trim().toLowerCase()).filter(Boolean));
  const known = includeNames.filter((name) => plain.delete(name));
  return known.length > 0 && plain.size === 0 ? { include: known.join(',') } : undefined;
}

const insteadOf = {
  postcode: 'send the postcode as postcode',
  huisnummer: 'send the number as huisnummer',
  toevoeging: 'send what follows the number as toevoeging',
  include: 'send it as include',
};

/** What is wrong with a name that is not ours: it means one of ours, or it has a key. Any other is ignored. */
function otherFault(name: string, sent: Sent, meant: Meant): AddressFault | undefined {
  if (isOwnName(name)) return undefined;
  if ([name, ...(sent.get(name) ?? [])].some(hasKeyPrefix)) return faultAt(redactKeys(name), misplacedKey);
  const meaning = meaningOf(name);
  if (meaning === null) return undefined;
  const own = meaning === 'huisletter' || meaning === 'huisnummertoevoeging' ? 'toevoeging' : meaning;
  const advice: Advice = { code: 'wrong-name', wrong: `${shown(name)} is not a parameter`, instead: insteadOf[own] };
  if (own !== 'include') return faultAt(name, advice, meant[own]);
  const names = [name, own].flatMap((one) => sent.get(one) ?? []).flatMap((value) => value.split(','));
  return faultAt(name, advice, includeSuggestion(names));
}

/** A detail repeats a name only where that is harmless, wherever the text is shown. */
function shown(name: string): string {
  return /^[\w.[\] -]{1,60}$/.test(name) ? name : 'this name';
}

const misplacedKey: Advice = {
  code: 'misplaced-key',
  wrong: 'an API key was sent as a parameter, where logs can keep it',
  instead: 'send it in the header X-API-Key only, and ask for a new one, because this one must be replaced',
};

function faultAt(name: string, { code, wrong, instead }: Advice, suggestion?: Suggestion): AddressFault {
  const values = Object.entries(suggestion ?? {}).map(([own, value]) => (value ? `${own}=${value}` : `no ${own}`));
  const detail = `${wrong}: ${values.length > 0 ? `send ${values.join(' and ')}` : instead}.`;
  return { name, code, detail, ...(suggestion && { suggestion }) };
}

/** What to send for each parameter, where everything that was sent for it says one thing. */
type Meant = Record<Own, Suggestion | undefined>;

/** Joins what was sent under every name, so that the suggestions of several faults never contradict each other. */
function whatIsMeant(sent: Sent): Meant {
  const valuesOf = (meaning: Meaning) =>
    [...sent].flatMap(([name, values]) =>
      meaningOf(name) === meaning ? values.filter((value) => !hasKeyPrefix(value)) : [],
    );
  const filled = (name: Own) => valuesOf(name).filter((value) => value.replaceAll(' ', ''));
  const numbers = filled('huisnummer').map(numberIn);
  const postcode = only(filled('postcode').map(postcodeIn));
  const huisnummer = only(numbers.map((number) => number?.huisnummer));
  const rest = joined(numbers.map((number) => number?.rest ?? ''));
  const [letter, own, addition] = [
    joined(valuesOf('huisletter')),
    joined(valuesOf('toevoeging')),
    joined(valuesOf('huisnummertoevoeging')),
  ];
  const areClear = rest !== undefined && letter !== undefined && own !== undefined && addition !== undefined;
  const toevoeging = areClear ? toevoegingIn(wholeToevoeging(rest, letter, own, addition)) : undefined;
  return {
    postcode: postcode === undefined ? undefined : { postcode },
    huisnummer: numberSuggestion(huisnummer, rest, toevoeging),
    toevoeging: toevoeging === undefined ? undefined : { toevoeging },
  };
}

/** The parts of a toevoeging in their order. The value of our own parameter may contain the others. */
function wholeToevoeging(rest: string, letter: string, own: string, addition: string): string {
  return withBefore(rest, own === '' ? letter + addition : withAfter(withBefore(letter, own), addition));
}

/** A number with what follows it: a number without that would be another address. */
function numberSuggestion(huisnummer?: string, rest?: string, toevoeging?: string): Suggestion | undefined {
  if (huisnummer === undefined || (rest !== '' && toevoeging === undefined)) return undefined;
  return rest === '' ? { huisnummer } : { huisnummer, toevoeging };
}

/** The one value that all are; `undefined` for none, for several, and where one is not clear. */
function only(values: (string | undefined)[]): string | undefined {
  return new Set(values).size === 1 ? values[0] : undefined;
}

/** The one text that all are that aren't empty, but for letter case and separators; `undefined` for several. */
function joined(texts: string[]): string | undefined {
  const [first = '', ...others] = texts.filter((text) => comparable(text));
  return others.every((other) => comparable(other) === comparable(first)) ? first : undefined;
}
