/**
 * The fields of an address, and all that follows from their values: no DOM, no time, no network.
 * With the element in `form-element.js` it keeps five invariants:
 *
 * 1. A mark (`ok`) shows only while the fields, read now, hold exactly the address that was found.
 * 2. A write goes only into a field that is empty and was not tried for this address, or that still
 *    holds the element's own value for another address. Anything else takes a person's click.
 * 3. A write is a task of its own, outside the events of other fields, and is read back. If a field
 *    does not take it, moved text goes back, and the answer is shown as text.
 * 4. A query follows only an event in a field that is asked about, and each query is sent once.
 * 5. A page has no fewer fields and no more listeners through the element.
 */

export const asked = ['postcode', 'huisnummer', 'toevoeging'] as const;
export const found = ['straat', 'woonplaats', 'gemeente'] as const;
export const names = [...asked, ...found];

type Found = (typeof found)[number];
export type Name = (typeof names)[number];
/** The value of each field that the page has. */
export type FieldValues = Partial<Record<Name, string>>;
export type FoundPlace = Record<Found, string>;
/** An answer of the route. A number without a toevoeging has the toevoeging `''`. */
export type RouteAnswer = {
  status: string;
  places: FoundPlace[];
  toevoegingen: string[];
  /** The parameter that the service refused. */
  parameter?: string | undefined;
};
type Parts = { postcode: string; huisnummer: string; toevoeging: string };

/** Towns by the names that people use and the register (2026) does not. */
const townNames: Record<string, string> = {
  DENHAAG: 'SGRAVENHAGE',
  THEHAGUE: 'SGRAVENHAGE',
  DENBOSCH: 'SHERTOGENBOSCH',
};

/** Without the residue of a paste: full width, spaces of any kind, characters that nobody sees. */
export const tidy = (text: unknown): string =>
  String(text ?? '')
    .replace(/[\uff01-\uff5e]/g, (character) =>
      String.fromCharCode(character.charCodeAt(0) - 0xfee0),
    )
    .replace(/[\s\u00ad\u200b-\u200f\u202a-\u202e\u2060]+/g, ' ')
    .trim();
const capitals = (text: unknown) =>
  tidy(text).normalize('NFD').replace(/\p{M}/gu, '').toUpperCase();
const plain = (text: unknown) => capitals(text).replace(/[^\p{L}\p{N}]/gu, '') || capitals(text);

/** Whether a field took a value, in its own way: `a` as `A`, `1012RJ` as `1012 RJ`. */
export const holdsSame = (value: unknown, other: unknown): boolean =>
  capitals(value).replace(/ /g, '') === capitals(other).replace(/ /g, '');

/** `St. Oedenrode` is `Sint-Oedenrode`; `a/d`, `aan den`; the province in `Hengelo (Gld)` apart. */
function townOf(text: string): [town: string, province: string] {
  const name = capitals(text)
    .replace(/-/g, ' ')
    .replace(/\bSINT\b/g, 'ST')
    .replace(/\bA[/.]D\b|\bAAN DEN?\b/g, 'AD')
    .replace(/\./g, '');
  const province = / (?:\((.+)\)|(GLD|OV|[NZ]H|NB|UT|GR|FR|DR|FL|ZL|LB?))$/.exec(name);
  return [plain(name.slice(0, province?.index)), province?.[1] ?? province?.[2] ?? ''];
}

function isTown(typed: string, place: string): boolean {
  const [town, province] = townOf(typed);
  const [registered, its] = townOf(place);
  // Two towns have one name in two provinces.
  if (province && its && province !== its) return false;
  return town === registered || townNames[town] === registered;
}

const isName = (name: Name, typed: string, place: string) =>
  name === 'woonplaats' ? isTown(typed, place) : plain(typed) === plain(place);

/** A toevoeging that the register may have; `undefined` for another: `A/B`, `1 2`, `tweehoog`. */
function registerForm(text: string): string | undefined {
  const isOne = /^[a-z0-9 .-]*$/i.test(text) && !/\d[ .-]+\d|[a-z] ?- ?[a-z]/i.test(text);
  const form = text && plain(text);
  return isOne && form.length < 6 ? form : undefined;
}

/** A letter, a digit, or a character that an encoding lost: `?` and `-` are no toevoeging. */
const isWord = (text: string) => /[\p{L}\p{N}\ufffd]/u.test(text);

const startsWithNumber =
  /^(?:(?:huisnummer|nummer|nr|no)\b\.? ?|# ?)?0*([1-9]\d{0,4})(?!\d)[ \-–—/.,]*(.*)$/i;

/** The number that a text begins with, and what follows it: 14 and 7 for `14 7`, never 147. */
function split(text: string) {
  const [, number, rest = ''] = startsWithNumber.exec(text) ?? [];
  return { number, rest: isWord(rest) ? rest : '' };
}

const startsWithPostcode = /^(?:nl[ -]*)?([1-9]\d{3})[ .-]*([a-z]{2})(?![a-z])[ ,;.-]*(.*)$/i;

/** How the fields are read. */
export type FieldsReading = {
  number?: string | undefined;
  /** The text after the number, in its field or in a whole address in the postcode. */
  rest: string;
  /** The field that holds no address, or contradicts another. */
  wrong?: 'postcode' | 'huisnummer';
  address?: Address;
};
type Address = {
  parts: Parts;
  /** The toevoeging as the register writes it, `undefined` if it can't have it. */
  form: string | undefined;
  /** The parts as one text. */
  key: string;
  /** The text with the number, and its field. */
  text: string;
  source: 'postcode' | 'huisnummer';
  /** Whether a toevoeging stands elsewhere although it has a field. */
  isSplit: boolean;
  /** Whether nobody can read the number in another way. */
  isPlain: boolean;
  /** The value that belongs in each field, in an order that loses nothing on the way. */
  moves: [name: Name, value: string][];
};

/** Reads the fields that are asked about. */
export function read({ postcode = '', huisnummer = '', toevoeging }: FieldValues): FieldsReading {
  const [, digits, letters = '', pasted = ''] = startsWithPostcode.exec(postcode) ?? [];
  const typed = split(huisnummer);
  const after = split(pasted);
  const number = typed.number ?? after.number;
  const rest = typed.rest || after.rest;
  if (postcode && (!digits || (pasted && after.number !== number))) {
    return { number, rest, wrong: 'postcode' };
  }
  const own = tidy(toevoeging);
  const additions = [own, typed.rest, after.rest].filter(isWord);
  const [addition = ''] = additions;
  if ((huisnummer && !typed.number) || !additions.every((held) => holdsSame(held, addition))) {
    return { number, rest, wrong: 'huisnummer' };
  }
  if (!digits || !number) return { number, rest };

  const code = digits + letters.toUpperCase();
  const text = typed.rest || !pasted ? huisnummer : pasted;
  // `12A-12C` are several numbers.
  const isRange = new RegExp(`[ -]${number}[a-z]$`, 'i').test(rest);
  const form = isRange ? undefined : registerForm(addition);
  const isSplit = rest !== '' && toevoeging !== undefined;
  const isMoved = isSplit && form !== undefined;
  const moves: [Name, string][] = [];
  if (isMoved) moves.push(['toevoeging', rest]);
  if (isMoved || pasted) moves.push(['huisnummer', isMoved ? number : text]);
  if (pasted) moves.push(['postcode', code]);
  const address: Address = {
    parts: { postcode: code, huisnummer: number, toevoeging: addition },
    form,
    key: [code, number, form ?? addition].join(' '),
    text,
    source: pasted ? 'postcode' : 'huisnummer',
    isSplit,
    isPlain: !pasted && /^\d+ ?[a-z]?$/i.test(huisnummer),
    moves,
  };
  return { number, rest, address };
}

/** The answer of the route, `undefined` if it is none. */
export function checked(answer: unknown): RouteAnswer | undefined {
  const { status, address, candidates, toevoegingen = [], errors } = Object(answer);
  const all = { ok: [address], ambiguous: candidates, not_found: [], invalid: [] };
  const places = Object.hasOwn(all, status) && all[status as keyof typeof all];
  const isText = (name: unknown) => typeof name === 'string' && tidy(name) !== '';
  const isPlace = (place?: Partial<FoundPlace>) =>
    isText(place?.straat) && isText(place?.woonplaats);
  const isRight = Array.isArray(places) && places.every(isPlace) && Array.isArray(toevoegingen);
  if (!isRight) return undefined;
  return {
    status,
    places: places.map(({ straat, woonplaats, gemeente }) => ({
      straat,
      woonplaats,
      gemeente: String(gemeente?.naam ?? ''),
    })),
    toevoegingen: toevoegingen.map((toevoeging) => String(toevoeging ?? '')),
    parameter: errors?.[0]?.parameter,
  };
}

/**
 * The known answer about an address, or the query to `ask`: its own, and another for the street of
 * a number whose toevoeging does not exist (`near`).
 */
function resolve(address: Address, known: Map<string, RouteAnswer>) {
  const { postcode, huisnummer, toevoeging } = address.parts;
  const { form = '' } = address;
  const query = (toevoeging: string) =>
    String(new URLSearchParams({ postcode, huisnummer, toevoeging }));
  const ofNumber = [...known].filter(([asked]) => asked.startsWith(query('')));
  const lists = ofNumber.map(([, { toevoegingen }]) => toevoegingen);
  const list = lists.find((entries) => entries.length > 0) ?? [];
  // A list of 400 may not have all.
  const mayExist = list.length === 0 || list.length > 399 || list.includes(form);
  const none: RouteAnswer = { status: 'not_found', places: [], toevoegingen: list };
  const answer = mayExist ? known.get(query(form)) : none;
  if (!answer) return { ask: query(form) };
  const { status, places, toevoegingen } = answer;
  const [first] = toevoegingen;
  const isExact = places.length > 0 && address.form !== undefined;
  if (status === 'invalid' || isExact || !toevoeging) return { answer };
  if (places.length > 0) return { answer, near: places };
  if (first === undefined) return { answer };
  const near = known.get(query(first));
  return near ? { answer, near: near.places } : { ask: query(first) };
}

const nameOf = ({ straat, woonplaats }: FoundPlace) => `${straat}, ${woonplaats}`;

function lineOf({ postcode, huisnummer, toevoeging }: Parts, place?: FoundPlace): string {
  // `14 7` can be read in two ways.
  const isNumber = /^\d/.test(toevoeging);
  const number = `${huisnummer}${isNumber ? ', toevoeging' : ''} ${toevoeging}`.trim();
  const code = `${postcode.slice(0, 4)} ${postcode.slice(4)}`;
  return place ? `${place.straat} ${number}, ${code} ${place.woonplaats}` : `${code} ${number}`;
}

/** A value that the element wrote into a field. */
export type Wrote = {
  value: string;
  /** The address that it belongs to; for a toevoeging, the number. */
  at: string;
  /** The text that it was taken from, for as long as the field may still drop it. */
  from?: string | undefined;
  /** The value of the field before. */
  before?: string;
};
export type FieldWrite = {
  name: Name;
  value: string;
  at: string;
  /** The key, the name and the value, for `tried`. */
  id: string;
  from?: string | undefined;
};
/** A text by its name, and the values in it. */
type Sentence = [name: string, ...values: string[]];
type Choice<W> = { label?: string; writes: W[] };
type Shown<W> = {
  kind: 'hint' | 'ok' | 'ask' | 'wrong';
  say: Sentence[];
  /** The address under a mark. */
  line?: string;
  choices?: Choice<W>[];
  /** The name of the text before the choices. */
  list?: string;
  wrong?: 'postcode' | 'huisnummer';
};
/** A message, with at most one write and one query. */
export type FormStep = Shown<FieldWrite> & {
  key: string;
  write?: FieldWrite | undefined;
  ask?: string | undefined;
};

export type State = {
  values: FieldValues;
  wrote: Partial<Record<Name, Wrote>>;
  /** The `id` of each write for the address of the fields, taken or not. */
  tried: Set<string>;
  /** The answers, by query. */
  known: Map<string, RouteAnswer>;
  /** The queries without an answer yet. */
  asking: Set<string>;
  /** The field with the focus. */
  busy?: Name | undefined;
  /** The key after the latest event in a field that is asked about; `true` right after it. */
  touched?: string | true | undefined;
  /** Whether somebody left such a field, or paused in it. */
  isReady?: boolean;
  /** The key whose query failed. */
  failed?: string | undefined;
  isSlow?: boolean;
  isForeign?: boolean;
  /** The field that the message is about already. */
  complained?: string | undefined;
};

type AddressFields = {
  values: FieldValues;
  isOurs(name: Name): boolean;
  write(name: Name, value: string, from?: string): FormStep | undefined;
};

/** Decides on the message, a write and a query by a state. */
export function decide(state: State): FormStep {
  const { values, wrote, tried, busy, touched, isForeign = false } = state;
  const isOurs = (name: Name) =>
    Boolean(wrote[name]?.value) && holdsSame(wrote[name]?.value, values[name]);
  const all = read(values);
  // The text in the number is newer than the toevoeging that was moved out of it.
  const isOlder = all.rest !== '' && isOurs('toevoeging');
  const typed = isOlder ? read({ ...values, toevoeging: '' }) : all;
  const address = isForeign ? undefined : typed.address;
  const { number = '', wrong } = typed;
  const key = address?.key ?? '';
  const isTouched = touched !== undefined;
  const of = (name: Name) => (name === 'toevoeging' ? number : key);
  const idOf = (name: Name, value: string) => [key, name, capitals(value)].join('|');
  const hint: FormStep = { key, kind: 'hint', say: isForeign || key ? [] : [['hint']] };
  const write = (name: Name, value: string, from?: string): FormStep | undefined => {
    const id = idOf(name, value);
    const isHere = values[name] !== undefined && !holdsSame(values[name], value);
    if (!isTouched || !isHere || tried.has(id)) return undefined;
    return { ...hint, write: { name, value, at: of(name), id, from } };
  };

  /** A toevoeging that its field drops later, by itself, returns to its first field. */
  function keepMoved() {
    const { from, at } = wrote.toevoeging ?? {};
    if (!from || at !== number || isOurs('toevoeging')) return undefined;
    if (isOurs('huisnummer')) return write('huisnummer', from);
    return isOurs('postcode') ? write('postcode', wrote.postcode?.before ?? '') : undefined;
  }

  function clearOld() {
    const cleared: Name[] = isForeign ? [...found] : ['toevoeging', ...found];
    const old = cleared.filter((name) => isOurs(name) && wrote[name]?.at !== of(name));
    return old.map((name) => write(name, '')).find(Boolean);
  }

  /** The next move; if its field has refused it, the earlier ones go back. */
  function move(moves: [Name, string][], from: string) {
    const index = moves.findIndex(([name, value]) => !holdsSame(values[name], value));
    const [name, value] = moves[index] ?? [];
    if (name === undefined || value === undefined) return undefined;
    const earlier = moves.slice(0, index).map(([moved]) => moved);
    const back = earlier.reverse().find((moved) => wrote[moved]?.from && isOurs(moved));
    return write(name, value, from) ?? (back && write(back, wrote[back]?.before ?? ''));
  }

  const kept = keepMoved() ?? clearOld();
  if (kept) return kept;
  if (wrong && !isForeign) {
    const isShown = isTouched && (busy !== wrong || state.complained === wrong);
    return isShown ? { key, kind: 'wrong', say: [[`wrong-${wrong}`]], wrong } : hint;
  }
  if (!address) return hint;

  // A script that changes fields without an event is no reason to ask or to move.
  const isAnnounced = touched === true || touched === key;
  const mayMove = isAnnounced && busy !== address.source;
  const moved = mayMove ? move(address.moves, address.text) : undefined;
  if (moved) return moved;
  const { answer, near, ask } = resolve(address, state.known);
  if (answer) {
    const shown = show(address, answer, near, { values, isOurs, write });
    if ('key' in shown) return shown;
    const { choices = [], ...step } = shown;
    const complete = ([name, value]: [Name, string]) => {
      return { name, value, at: of(name), id: idOf(name, value) };
    };
    const given = choices.map((choice) => ({ ...choice, writes: choice.writes.map(complete) }));
    return { key, ...step, choices: given };
  }
  if (state.failed === key) return { key, kind: 'wrong', say: [['unavailable']] };
  // An answer about the number says which toevoegingen it has.
  const prefix = ask.slice(0, ask.lastIndexOf('=') + 1);
  const isAsked = [...state.asking].some((asked) => asked.startsWith(prefix));
  const mayAsk = state.isReady && isAnnounced && !isAsked;
  return { ...hint, say: state.isSlow ? [['slow']] : [], ask: mayAsk ? ask : undefined };
}

type Choices = Shown<[name: Name, value: string]>;

/** The writes of a click on a toevoeging. */
function writesOf(values: FieldValues, { postcode, huisnummer }: Parts, toevoeging: string) {
  const writes: [Name, string][] = [
    ['toevoeging', toevoeging],
    ['huisnummer', huisnummer],
    ['postcode', postcode],
  ];
  const inNumber: [Name, string] = ['huisnummer', `${huisnummer} ${toevoeging}`.trim()];
  return values.toevoeging === undefined ? [inNumber] : writes;
}

/** Compares an answer with the fields. */
function show(
  { parts, isSplit, isPlain }: Address,
  { status, parameter, places, toevoegingen }: RouteAnswer,
  near: FoundPlace[] | undefined,
  { values, isOurs, write }: AddressFields,
): Choices | FormStep {
  if (status === 'invalid') {
    const wrong = parameter === 'postcode' ? 'postcode' : 'huisnummer';
    return { kind: 'wrong', say: [[`wrong-${wrong}`]], wrong };
  }
  const additions = toevoegingen
    .filter((toevoeging) => toevoeging !== plain(parts.toevoeging))
    .map((label) => ({ label, writes: writesOf(values, parts, label) }));
  const options = near ?? places;
  if (options.length === 0 && toevoegingen.length === 0) {
    const reading: Sentence[] = isPlain ? [] : [['readAs', lineOf(parts)]];
    return { kind: 'wrong', say: [...reading, ['notFound']] };
  }
  if (options.length === 0) {
    const named = toevoegingen.filter(Boolean);
    const few = named.length > 5 ? [...named.slice(0, 5), '…'] : named;
    return { kind: 'ask', say: [['needsToevoeging', few.join(', ')]], choices: additions };
  }

  const fields = found.filter((name) => values[name] !== undefined);
  const isHeld = (name: Found, place: FoundPlace) =>
    place[name] === '' || (values[name] ? isName(name, values[name], place[name]) : false);
  const areHeld = (place: FoundPlace) => fields.every((name) => isHeld(name, place));
  const take = (place: FoundPlace): [Name, string][] =>
    fields.filter((name) => !isHeld(name, place)).map((name) => [name, place[name]]);
  const unknown: Sentence[] = near ? [['unknownToevoeging', parts.toevoeging]] : [];
  const [only] = options.length === 1 ? options : [];
  const place = options.find(areHeld) ?? only;
  if (!place) {
    const choices = options.map((option) => ({ label: nameOf(option), writes: take(option) }));
    return { kind: 'ask', say: [['several'], ...unknown], choices };
  }

  const others = fields.filter((name) => values[name] && !isOurs(name) && !isHeld(name, place));
  const isTownOnly = others.length === 1 && others[0] === 'woonplaats';
  const free = fields.filter((name) => !values[name] && place[name]);
  const wanted =
    others.length === 0 ? free : free.filter((name) => isTownOnly && name === 'straat');
  const filled = wanted.map((name) => write(name, place[name])).find(Boolean);
  if (filled) return filled;
  const line = lineOf(parts, place);
  if (!areHeld(place)) {
    const name = near ? nameOf(place) : line;
    const differs = isTownOnly && isHeld('straat', place) ? place.woonplaats : name;
    const choices = [{ writes: take(place) }];
    return { kind: 'ask', say: [...unknown, ['differs', differs]], choices };
  }
  const rest = { choices: additions, list: 'toevoeging' };
  if (near) return { kind: 'ask', say: [...unknown, ['near', nameOf(place)]], ...rest };
  if (isSplit) return { kind: 'ask', say: [['readAs', line]], ...rest };
  return { kind: 'ok', line, say: [], ...rest };
}
