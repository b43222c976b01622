import { hasKeyPrefix, redactKeys } from '../accounts/api-key.ts';
import { longestEcho, longestValue, maxFaults } from '../address-form.ts';
import type { FaultCode, InputFault, ListedFaults, Suggestion } from '../contract.ts';
import { type AvailableIncludes, includeNames } from '../place-fields.ts';
import {
  addressNames,
  type ParameterName,
  parameterNames,
  readHuisnummer,
  readPostcode,
  readToevoeging,
} from './address-input.ts';
import { type Meaning, meaningOf } from './parameter-names.ts';

type AddressName = (typeof addressNames)[number];

/**
 * A value that was sent, in a length that is cheap to examine: with one space for several in a row,
 * and as `unclear` if it is too long without its spaces.
 */
export type SentValue = { text: string; isKey: boolean; isTooLong: boolean };

/** The values of each name that was sent, in their order. */
export type Sent = ReadonlyMap<string, readonly SentValue[]>;

/** Stands for a value without a meaning: a letter of another encoding, in no pattern here. */
export const unclear = '\ufffd';

/** Bounds a value before anything else examines it. */
export function sentValue(value: string): SentValue {
  const isKey = hasKeyPrefix(value);
  if (value.length <= longestValue) return { text: value, isKey, isTooLong: false };
  const isTooLong = value.replaceAll(' ', '').length > longestValue;
  return { text: isTooLong ? unclear : value.replaceAll(/ {2,}/g, ' '), isKey, isTooLong };
}

/** The part of a name that a response repeats, without the API keys in it. */
export function echoed(name: string): string {
  return redactKeys(name).slice(0, longestEcho).toWellFormed();
}

/** The first faults; what comes after them is not looked for. */
export function listed<Fault>(all: Iterable<Fault>): ListedFaults<Fault> {
  const faults: Fault[] = [];
  for (const fault of all) {
    if (faults.length === maxFaults) return { faults, hasMore: true };
    faults.push(fault);
  }
  return { faults, hasMore: false };
}

/** One fault of a request, at the name that was sent or is missing. */
export type NamedFault = { name: string; code: FaultCode; detail: string; suggestion?: Suggestion };

/** The fault of a value, and the advice if its meaning is not clear: two halves of a sentence. */
type Advice = { code: FaultCode; wrong: string; instead: string };

/** Makes `a, b, and c` of names. */
export const list = new Intl.ListFormat('en');

/** The parameters of a raw query string. */
function readQuery(rawQueryString: string): Sent {
  const sent = new Map<string, SentValue[]>();
  for (const [name, value] of new URLSearchParams(rawQueryString)) {
    const values = sent.get(name);
    if (values) values.push(sentValue(value));
    else {
      sent.set(name, [sentValue(value)]);
    }
  }
  return sent;
}

/** The fields that a deployment offers to include: nothing else is advised. */

/** The faults of the parameters of a lookup, in a raw query string. */
export function queryFaults(
  rawQueryString: string,
  available: AvailableIncludes = includeNames,
): ListedFaults<InputFault> {
  return listed(faultsOfQuery(readQuery(rawQueryString), available));
}

function* faultsOfQuery(sent: Sent, available: AvailableIncludes): Generator<InputFault> {
  const meant = whatIsMeant(sent, available);
  yield* atParameters(addressFaults(sent, meant));
  yield* atParameters(includeFaults(sent, available));
  yield* atParameters(unknownFaults(sent, meant, { known: parameterNames }));
}

/** The faults of a query that has no parameters. */
export function* strayParameters(rawQueryString: string, otherwise: string): Generator<InputFault> {
  const faults = unknownFaults(readQuery(rawQueryString), nothingMeant, { known: [], otherwise });
  yield* atParameters(faults);
}

function* atParameters(faults: Iterable<NamedFault>): Generator<InputFault> {
  for (const { name, ...fault } of faults) yield { parameter: name, ...fault };
}

/** The faults of the postcode, the huisnummer and the toevoeging, at most one for each. */
export function* addressFaults(sent: Sent, meant: Meant): Generator<NamedFault> {
  for (const name of addressNames) {
    const fault = addressFault(name, sent.get(name) ?? [], meant);
    if (fault) yield fault;
  }
}

function addressFault(
  name: AddressName,
  values: readonly SentValue[],
  meant: Meant,
): NamedFault | undefined {
  if (values.some(({ isKey }) => isKey)) return faultAt(name, misplacedKey);
  if (values.length > 1) return faultAt(name, sentTwice(name), meant()[name]);
  const { text = '', isTooLong = false } = values[0] ?? {};
  const instead = `send ${forms[name]}`;
  if (isTooLong) return faultAt(name, tooLong(name, instead), meant()[name]);
  if (name !== 'toevoeging' && !text.replaceAll(' ', '')) {
    const missing: Advice = { code: 'missing', wrong: `${name} is required`, instead };
    return faultAt(name, missing, meant()[name]);
  }
  if (read[name](text) !== null) return undefined;
  return faultAt(name, adviceOn(name, text), meant()[name]);
}

/** The faults of the names that are not `known`, with the right name if they mean a known one. */
export function* unknownFaults(
  sent: Sent,
  meant: Meant,
  { known, otherwise }: { known: readonly ParameterName[]; otherwise?: string },
): Generator<NamedFault> {
  for (const [name, values] of sent) {
    if (known.some((parameter) => parameter === name)) continue;
    if (hasKeyPrefix(name) || values.some(({ isKey }) => isKey)) {
      yield faultAt(echoed(name), misplacedKey);
      continue;
    }
    const meaning = meaningOf(name);
    const own =
      meaning === 'huisletter' || meaning === 'huisnummertoevoeging' ? 'toevoeging' : meaning;
    const isKnown = own !== null && known.includes(own);
    const instead = isKnown
      ? `send it as ${own}`
      : (otherwise ?? `send only ${list.format(known)}`);
    const advice: Advice = {
      code: 'parameter-unknown',
      wrong: `${shown(name)} is unknown`,
      instead,
    };
    yield faultAt(echoed(name), advice, isKnown ? meant()[own] : undefined);
  }
}

function includeFaults(sent: Sent, available: AvailableIncludes): NamedFault[] {
  const values = sent.get('include') ?? [];
  const [value] = values;
  if (value === undefined) return [];
  if (values.some(({ isKey }) => isKey)) return [faultAt('include', misplacedKey)];
  if (values.length > 1) return [faultAt('include', sentTwice('include'))];
  if (value.isTooLong) return [faultAt('include', tooLong('include', includeForm(available)))];
  const names = value.text.split(',');
  const found = new Map(
    names
      .flatMap((_, i) => adviceOnInclude(names, i, available) ?? [])
      .map((advice) => [advice.code, advice]),
  );
  return [...found.values()].map((advice) =>
    faultAt('include', advice, includeSuggestion(names, available)),
  );
}

const includeForm = (available: AvailableIncludes) =>
  `send one or more of ${list.format(available)}, each once`;

/** The fault of a name in `include`. */
export function adviceOnInclude(
  names: readonly string[],
  at: number,
  available: AvailableIncludes,
): Advice | undefined {
  const { text: name, isKey, isTooLong } = sentValue(names[at] ?? '');
  const instead = includeForm(available);
  if (isKey) return misplacedKey;
  if (isTooLong) return tooLong('include', instead);
  if (name === '') return { code: 'include-empty', wrong: 'include has an empty name', instead };
  const known = includeNames.find((own) => own === name);
  if (!known) return { code: 'include-unknown', wrong: 'include has an unknown name', instead };
  if (!available.includes(known)) {
    const wrong = `include has ${known}, which the operator of this service has not turned on`;
    return { code: 'include-unavailable', wrong, instead };
  }
  if (names.indexOf(name) === at) return undefined;
  return { code: 'include-repeated', wrong: 'include has a name more than once', instead };
}

/**
 * The names that are known, if these are all but for letter case, spaces, repetition and empty
 * ones.
 */
function includeSuggestion(
  names: readonly string[],
  available: AvailableIncludes,
): Suggestion | undefined {
  const plain = new Set(names.map((name) => name.trim().toLowerCase()).filter(Boolean));
  const known = available.filter((name) => plain.delete(name));
  return known.length > 0 && plain.size === 0 ? { include: known.join(',') } : undefined;
}

const misplacedKey: Advice = {
  code: 'misplaced-key',
  wrong: 'an API key was sent outside its header, where logs can keep it',
  instead:
    'send it in the header X-API-Key only, and ask for a new one, because this one must be replaced',
};

function tooLong(name: ParameterName, instead: string): Advice {
  return {
    code: 'value-too-long',
    wrong: `${name} has a value of more than ${longestValue} characters`,
    instead,
  };
}

function sentTwice(name: string): Advice {
  return { code: 'duplicate', wrong: `${name} was sent more than once`, instead: 'send it once' };
}

const read = { postcode: readPostcode, huisnummer: readHuisnummer, toevoeging: readToevoeging };
const forms = {
  postcode: 'four digits, the first not 0, and two letters, such as 1012JS',
  huisnummer: 'one to five digits, from 1 to 99999',
  toevoeging: 'at most five letters and digits, such as A, 2 or bis',
};

const range = /^0*([1-9]\d{0,4})(?:[\s\-–/,;&+]+|\s*(?:t\/?m|tot|en)\s*)0*([1-9]\d{0,4})$/i;
/** Digits, then any separator, then the rest. */
const numberAndRest = /^0*([1-9]\d{0,4})[\s\-–/.,]*([a-z][0-9a-z\s\-–/.]*)$/i;
/**
 * Texts that people and programs write for no addition: a text without letters and digits, or these
 * with any marks.
 */
const nothing =
  /^(?:geen|zonder|no)(?:toevoeging|addition)$|^(?:geen|zonder|leeg|nee|niets|nvt|nietvantoepassing|none|nothing|na|notapplicable|null|nil|nan|undefined|empty|blank)?$/i;
/**
 * Parts of an addition that stand for several addresses, or for a second number: they have no
 * single meaning.
 */
const severalPatterns = [
  /(?<=[0-9a-z]\s*)[,;&+]\s*[0-9a-z]/i, // A, B
  /t\s*\/\s*m|(?<![a-z])(?:tm|tot|to|en|and|of|or)(?![a-z])/i, // A t/m C
  /(?<![a-z])[a-z](?:tm|tot|en|of)(?:\d|[a-z](?![a-z]))/i, // AenB
  /\d[^0-9a-z]+\d/i, // 1-3
  /[a-z]\s*[/\\]\s*[a-z]/i, // A/B
  /(?<![a-z])(?:[a-z]|[ivx]+)\s*[-–—_]\s*(?:[a-z]|[ivx]+)(?![a-z])/i, // A-C, I-III
  /(?<![a-z])(?:hs|huis|bg)\s*[-–—_/\\]\s*\d|\d\s*[-–—_/\\]\s*(?:hs|huis|bg)(?![a-z])/i, // hs-2
  /[a-z][^0-9a-z]+[1-9]\d*\s?[a-z](?![a-z])/i, // A-14B
];
/**
 * A range of house numbers is on one side of a street, so both are odd or both even, and not longer
 * than this.
 */
const longestRange = 20;
const numberAlone = /^[+\-–−]?0*([1-9]\d{0,4})(?:[.,]0*)?$/;

/**
 * The kinds of invalid values: the first whose pattern fits, without spaces or, for a huisnummer,
 * around it.
 */
const kinds: Record<AddressName, [code: FaultCode, pattern: RegExp, wrong: string][]> = {
  postcode: [
    ['postcode-character', /[^0-9A-Za-z]/, 'has characters other than letters and digits'],
    ['postcode-leading-zero', /^0/, "can't begin with 0"],
    ['postcode-incomplete', /^[1-9]\d{0,3}$|^[1-9]\d{3}[A-Za-z]$/, 'is incomplete'],
    ['postcode-too-long', /^[1-9]\d{3}[A-Za-z]{2}/, 'has more than four digits and two letters'],
    ['postcode-form', /^/, 'has another form'],
  ],
  huisnummer: [
    ['huisnummer-range', range, 'has two numbers'],
    ['huisnummer-with-toevoeging', numberAndRest, 'has more than a number'],
    ['huisnummer-sign', /^[+\-–−]\d+$/, 'has a sign'],
    ['huisnummer-decimal', /^\d+[.,]0*$/, 'is a whole number'],
    ['huisnummer-zero', /^0+$/, 'must be at least 1'],
    ['huisnummer-too-long', /^\d{6,}$/, 'has more than five digits'],
    ['huisnummer-form', /^/, 'has other characters than digits'],
  ],
  toevoeging: [
    ['toevoeging-too-long', /^[0-9A-Za-z]*$/, 'is longer than the register has, which abbreviates'],
    ['toevoeging-character', /^/, 'has characters other than letters and digits'],
  ],
};

function adviceOn(name: AddressName, value: string): Advice {
  const instead = `send ${forms[name]}`;
  if (
    name === 'huisnummer' &&
    /^\s*\d{1,5}\s*$/.test(value) &&
    readHuisnummer(value.trim()) !== null
  ) {
    return {
      code: 'huisnummer-space',
      wrong: 'huisnummer has a space, a tab or a line break around it',
      instead,
    };
  }
  const text = name === 'huisnummer' ? plainText(value).trim() : value.replaceAll(' ', '');
  const [code, , wrong] = kinds[name].find(([, pattern]) =>
    pattern.test(text),
  ) as (typeof kinds)[AddressName][number];
  if (name === 'toevoeging' && isNothing(value)) {
    return { code, wrong: 'toevoeging has a text for no addition', instead };
  }
  if (name === 'huisnummer' && numberIn(text)?.rest === null) {
    return {
      code,
      wrong: `${name} ${wrong}`,
      instead: 'send one address, what follows its number as toevoeging',
    };
  }
  const [, from, to] = range.exec(text) ?? [];
  if (code !== 'huisnummer-range') return { code, wrong: `${name} ${wrong}`, instead };
  const either = `send one, huisnummer=${from} or huisnummer=${to}`;
  const both = `if the second is a toevoeging, huisnummer=${from} and toevoeging=${to}`;
  return { code, wrong: `${name} ${wrong}`, instead: `${either}; ${both}` };
}

function faultAt(
  name: string,
  { code, wrong, instead }: Advice,
  suggestion?: Suggestion,
): NamedFault {
  const values = Object.entries(suggestion ?? {}).map(([own, value]) =>
    value ? `${own}=${value}` : `no ${own}`,
  );
  const detail = `${wrong}: ${values.length > 0 ? `send ${values.join(' and ')}` : instead}.`;
  return { name, code, detail, ...(suggestion && { suggestion }) };
}

/** A detail repeats a name only if that is harmless, wherever the text is shown. */
function shown(name: string): string {
  const isHarmless = name.length <= longestEcho && /^[\w.[\] -]+$/.test(name);
  return isHarmless ? redactKeys(name) : 'this name';
}

type Suggestions = Partial<Record<ParameterName, Suggestion | undefined>>;

/** The value to send for each parameter; found out when a fault needs the first one. */
type Meant = () => Suggestions;

const nothingMeant: Meant = () => ({});

/** More names or values than these in one lookup are no address, and nothing is suggested. */
const mostMeant = 100;

/**
 * The value to send for each parameter if all its sent values agree: suggestions never contradict.
 */
export function whatIsMeant(sent: Sent, available: AvailableIncludes = []): Meant {
  let found: Suggestions | undefined;
  return () => {
    found ??= suggestionsFor(sent, available);
    return found;
  };
}

function suggestionsFor(sent: Sent, available: AvailableIncludes): Suggestions {
  let count = 0;
  for (const values of sent.values()) count += values.length;
  if (count > mostMeant) return {};
  const byMeaning = new Map<Meaning, string[]>();
  for (const [name, values] of sent) {
    const meaning = meaningOf(name);
    if (meaning === null) continue;
    const texts = values
      .filter(({ text, isKey }) => !isKey && text.replaceAll(' ', ''))
      .map(({ text }) => text);
    byMeaning.set(meaning, [...(byMeaning.get(meaning) ?? []), ...texts]);
  }
  const valuesOf = (meaning: Meaning) => byMeaning.get(meaning) ?? [];
  const postcode = only(valuesOf('postcode').map(postcodeIn));
  const numbers = valuesOf('huisnummer').map(numberIn);
  const huisnummer = only(numbers.map((number) => number?.huisnummer));
  const rest = numbers.some((number) => number?.rest === null)
    ? undefined
    : oneOf(numbers.map((number) => number?.rest ?? ''));
  const letter = oneOf(valuesOf('huisletter'));
  const own = oneOf(valuesOf('toevoeging'));
  const addition = oneOf(valuesOf('huisnummertoevoeging'));
  const parts = [rest, letter, own, addition];
  const toevoeging = parts.includes(undefined) ? undefined : joined(parts as string[]);
  // A number without what follows it would be another address.
  const isWhole = huisnummer !== undefined && (rest === '' || toevoeging !== undefined);
  return {
    ...(postcode !== undefined && { postcode: { postcode } }),
    ...(isWhole && { huisnummer: rest === '' ? { huisnummer } : { huisnummer, toevoeging } }),
    ...(toevoeging !== undefined && { toevoeging: { toevoeging } }),
    include: includeSuggestion(
      valuesOf('include').flatMap((value) => value.split(',')),
      available,
    ),
  };
}

/** The postcode that a value stands for, in its normal form; `undefined` if that is not clear. */
function postcodeIn(value: string): string | undefined {
  return readPostcode(withoutSeparators(value).slice(0, 6)) ?? undefined;
}

/**
 * The number in a huisnummer, and the part of the toevoeging behind it: `A` in `12 A`, `null` in
 * `12A-12C`.
 */
function numberIn(value: string): { huisnummer: string; rest: string | null } | undefined {
  const text = plainText(value).trim();
  const [, huisnummer, rest = ''] = range.test(text)
    ? []
    : (numberAndRest.exec(text) ?? numberAlone.exec(text) ?? []);
  if (huisnummer === undefined) return undefined;
  if (isNothing(rest)) return { huisnummer, rest: '' };
  return {
    huisnummer,
    rest: isSeveral(rest) || repeatsNumber(rest, Number(huisnummer)) ? null : rest,
  };
}

function isNothing(text: string): boolean {
  // U+FFFD stands for a letter in another encoding.
  return nothing.test(text.replaceAll(/[^\p{L}\p{N}\ufffd]/gu, ''));
}

function isSeveral(text: string): boolean {
  const plain = plainText(text);
  return severalPatterns.some((pattern) => pattern.test(plain));
}

/**
 * Whether the rest has the number again, `A12C`, or the end of a range that begins with it: `A-14`
 * after 12.
 */
function repeatsNumber(rest: string, huisnummer: number): boolean {
  const isEnd = (to: number) =>
    to > huisnummer && to <= huisnummer + longestRange && (to - huisnummer) % 2 === 0;
  return [...rest.matchAll(/[a-z](\s*[-–/]\s*|)0*(\d+)([a-z]?)/gi)].some(
    ([, separator, number, letter]) =>
      (letter && Number(number) === huisnummer) || (separator && !letter && isEnd(Number(number))),
  );
}

/**
 * The parts of a toevoeging as one; a part that others contain is left out. `undefined` if that is
 * invalid.
 */
function joined(parts: string[]): string | undefined {
  const [rest = '', letter = '', own = '', addition = ''] = parts;
  const plain = own.toUpperCase();
  const hasBoth = plain.startsWith(letter.toUpperCase()) && plain.endsWith(addition.toUpperCase());
  const whole = own && hasBoth ? own : letter + own + addition;
  const toevoeging = whole.toUpperCase().startsWith(rest.toUpperCase()) ? whole : rest + whole;
  return readToevoeging(toevoeging) ?? undefined;
}

/** The value that all agree on; `undefined` for none, for several, and for an unclear value. */
function only(values: (string | undefined)[]): string | undefined {
  return new Set(values).size === 1 ? values[0] : undefined;
}

/**
 * The one text that all are that have letters or digits, but for letter case; `undefined` for
 * several addresses.
 */
function oneOf(texts: string[]): string | undefined {
  const written = texts.filter((text) => !isNothing(text));
  if (written.some(isSeveral)) return undefined;
  const [first = '', ...others] = written.map(withoutSeparators);
  return others.every((other) => other.toUpperCase() === first.toUpperCase()) ? first : undefined;
}

/**
 * The text with full-width and mathematical characters and ligatures as ASCII, and with each
 * invisible character as a space. No other character has one meaning: `12²` may be number 12 with
 * an addition.
 */
function plainText(text: string): string {
  if (/^[ -~]*$/.test(text)) return text;
  return text
    .replaceAll(/[\uff01-\uff5e\ufb00-\ufb06\u0132\u0133\u{1d400}-\u{1d7ff}]+/gu, (some) =>
      some.normalize('NFKC'),
    )
    .replaceAll(/[\p{Cc}\p{Cf}]/gu, ' ');
}

/** Plain, and without white space and the marks that people put into postcodes and toevoegingen. */
function withoutSeparators(text: string): string {
  return plainText(text).replaceAll(/[\s\-–—_/\\.,:;'"()]/g, '');
}
