import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  asked,
  checked,
  decide,
  type FieldValues,
  type FieldWrite,
  type FormStep,
  found,
  holdsSame,
  type Name,
  type RouteAnswer,
  type Wrote,
} from '../../../../packages/form/source/address-in-fields.ts';
import { isFullSweep } from '../../../support/sweep.ts';

/** The addresses that exist: by postcode and number, each toevoeging with its street and town. */
const register: Record<string, [toevoeging: string, straat: string, woonplaats: string][]> = {
  '1381AA 9': [
    ['', 'Buitenveer', 'Weesp'],
    ['A', 'Buitenveer', 'Weesp'],
  ],
  '1381AA 12': [['', 'Achtergracht', 'Weesp']],
  '1234AB 5': [
    ['', 'Hoofdstraat', 'Dorp'],
    ['A', 'Zijstraat', 'Dorp'],
    ['B', 'Achterstraat', 'Dorp'],
  ],
  '1012RJ 14': [['7', 'Voorburgwal', 'Amsterdam']],
  '1012RJ 147': [['', 'Voorburgwal', 'Amsterdam']],
  '9999SD 3': [
    ['', 'Teststraat', 'Testdorp'],
    ['', 'Teststraat', 'Teststad'],
  ],
};

/** What each text in a number means: the number, and the rest in capitals. */
const numbers: Record<string, [number: string, rest: string]> = {
  '': ['', ''],
  '9': ['9', ''],
  '9 a': ['9', 'A'],
  'nr 9': ['9', ''],
  '#9': ['9', ''],
  '9½': ['9', '½'],
  '１２': ['12', ''],
  '12': ['12', ''],
  '12A-12C': ['12', 'A-12C'],
  '5': ['5', ''],
  '5-b': ['5', 'B'],
  '5 a': ['5', 'A'],
  '14 7': ['14', '7'],
  '14': ['14', ''],
  '147': ['147', ''],
  '3': ['3', ''],
};
/** What each text in a postcode means: the postcode, a number, and the rest in capitals. */
const postcodes: Record<string, [postcode: string, number: string, rest: string]> = {
  '': ['', '', ''],
  '1381': ['', '', ''],
  '1381AA': ['1381AA', '', ''],
  '1381 aa': ['1381AA', '', ''],
  'NL-1381AA': ['1381AA', '', ''],
  '1381-AA': ['1381AA', '', ''],
  '1234AB': ['1234AB', '', ''],
  '1012RJ': ['1012RJ', '', ''],
  '9999SD': ['9999SD', '', ''],
  '1381 AA 9 a': ['1381AA', '9', 'A'],
  '1012rj 14 7': ['1012RJ', '14', '7'],
};
const texts: Record<Name, string[]> = {
  postcode: Object.keys(postcodes),
  huisnummer: Object.keys(numbers),
  toevoeging: ['', 'a', 'A', 'b', 'x', '7'],
  straat: ['', 'Mijn weg', 'buitenveer'],
  woonplaats: ['', 'Weesp', 'Utrecht'],
  gemeente: [''],
};

/** A field may hold a text in other letters. */
function inTable<T>(table: Record<string, T>, text = ''): T | undefined {
  return Object.entries(table).find(([one]) => one.toLowerCase() === text.toLowerCase())?.[1];
}

/** A click may write another number with its toevoeging. */
function numberOf(text = ''): [number: string, rest: string] {
  const [, number = '?', rest = ''] = /^(\d+) ([A-Z]|7)$/.exec(text) ?? [];
  return inTable(numbers, text) ?? [number, rest];
}

/** What the fields mean, by the tables above and in no way by the code that is tested. */
function meaningOf(values: FieldValues): { parts: string[]; isClear: boolean } {
  const [postcode, second, more] = inTable(postcodes, values.postcode) ?? ['?', '', ''];
  const [first, rest] = numberOf(values.huisnummer);
  const own = (values.toevoeging ?? '').toUpperCase();
  const all = [rest, more, own].filter(Boolean);
  const isClear = new Set(all).size < 2 && (first === '' || second === '' || first === second);
  return { parts: [postcode, first || second, all[0] ?? ''], isClear };
}

function answerOf(query: string): RouteAnswer {
  const given = new URLSearchParams(query);
  const all = register[`${given.get('postcode')} ${given.get('huisnummer')}`] ?? [];
  const hits = all.filter(([toevoeging]) => toevoeging === given.get('toevoeging'));
  const candidates = hits.map(([, straat, woonplaats]) => ({ straat, woonplaats }));
  const [address] = candidates;
  const status = hits.length === 0 ? 'not_found' : hits.length === 1 ? 'ok' : 'ambiguous';
  const toevoegingen = [...new Set(all.map(([toevoeging]) => toevoeging || null))];
  const answer = checked({ status, address, candidates, toevoegingen });
  if (!answer) throw new Error('a valid answer is refused');
  return answer;
}

const isEqual = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other);

/** As `expect`, which takes most of the time of so many histories. */
function must(rule: string, isKept: boolean): void {
  if (!isKept) throw new Error(`It breaks the rule: ${rule}.`);
}

/** A page: its fields, and how they behave. */
type Host = {
  fields: Name[];
  /** The field that takes no text of a script. */
  refuses: Name | undefined;
  /** Whether a field writes in capitals. */
  isUpper: boolean;
  /** Whether the toevoeging empties itself after it took a text. */
  isLate: boolean;
};
type Act =
  | { does: 'types'; name: Name; text: number; stays: boolean }
  | { does: 'sets without an event'; name: Name; text: number }
  | { does: 'leaves' }
  | { does: 'clicks'; choice: number }
  | { does: 'receives'; query: number }
  | { does: 'fails' }
  | { does: 'resets' }
  | { does: 'comes back' };

/** The element without a page: does what `decide` says, with every check on the way. */
class History {
  values: FieldValues;
  wrote: Partial<Record<Name, Wrote>> = {};
  tried = new Set<string>();
  known = new Map<string, RouteAnswer>();
  asking = new Set<string>();
  sent = new Map<string, Set<string>>();
  busy: Name | undefined;
  touched: string | true | undefined;
  isReady = false;
  failed: string | undefined;
  complained: string | undefined;
  shown: FormStep = { key: '', kind: 'hint', say: [] };
  /** The postcode and the number when an event said that they may be asked about. */
  announced: string[] = [];
  lines: string[] = [];
  kinds = new Set<string>();
  private host: Host;

  constructor(host: Host) {
    this.host = host;
    this.values = Object.fromEntries(host.fields.map((name) => [name, '']));
  }

  do(act: Act): void {
    this.lines.push(JSON.stringify(act));
    if (act.does === 'types') this.type(act.name, act.text, act.stays);
    else if (act.does === 'sets without an event') this.set(act.name, act.text);
    else if (act.does === 'leaves') this.leave();
    else if (act.does === 'receives' || act.does === 'fails') this.receive(act);
    else if (act.does === 'clicks') this.click(act.choice);
    else if (act.does === 'resets') this.reset();
    else this.comeBack();
    this.look();
    if (this.host.isLate && this.wrote.toevoeging?.from && this.values.toevoeging) {
      this.lines.push('  the toevoeging empties itself');
      const moved = meaningOf(this.values).parts;
      this.values.toevoeging = '';
      this.look();
      must(
        'keeps a toevoeging that its field dropped',
        isEqual(meaningOf(this.values).parts, moved),
      );
    }
    delete this.wrote.toevoeging?.from;
  }

  private set(name: Name, text: number): boolean {
    const all = texts[name];
    if (this.values[name] === undefined) return false;
    this.values[name] = all[text % all.length] ?? '';
    return true;
  }

  private type(name: Name, text: number, stays: boolean): void {
    if (!this.set(name, text)) return;
    delete this.wrote[name];
    this.busy = stays ? name : undefined;
    if (!this.isAsked(name)) return;
    delete this.wrote.toevoeging?.from;
    this.announce();
    this.isReady = !stays;
  }

  private isAsked(name: Name): boolean {
    return (asked as readonly string[]).includes(name);
  }

  private announce(): void {
    this.touched = true;
    this.failed = undefined;
    this.announced = meaningOf(this.values).parts.slice(0, 2);
  }

  private leave(): void {
    this.busy = undefined;
    this.isReady = true;
    if (this.touched !== undefined) this.announce();
  }

  private receive(act: { does: 'receives'; query: number } | { does: 'fails' }): void {
    if (act.does === 'fails') {
      const [query] = this.asking;
      if (query === undefined) return;
      this.asking.delete(query);
      this.failed = this.shown.key;
      return;
    }
    const all = [...this.asking];
    const query = all[act.query % Math.max(all.length, 1)];
    if (query === undefined) return;
    this.asking.delete(query);
    this.known.set(query, answerOf(query));
  }

  private click(index: number): void {
    const { choices = [] } = this.shown;
    const choice = choices[index % Math.max(choices.length, 1)];
    if (!choice) return;
    this.tried.clear();
    this.busy = undefined;
    this.isReady = true;
    for (const write of choice.writes) if (!this.fill(write)) break;
    this.announce();
  }

  private reset(): void {
    for (const name of this.host.fields) this.values[name] = '';
    this.wrote = {};
    this.tried.clear();
    this.touched = undefined;
    this.isReady = false;
    this.busy = undefined;
  }

  /** Back: the fields, what was written and the answers are there, and nobody did anything. */
  private comeBack(): void {
    this.touched = undefined;
    this.isReady = false;
    this.failed = undefined;
    this.busy = undefined;
    this.asking.clear();
    this.tried.clear();
  }

  private look(): void {
    const isUntouched = this.touched === undefined;
    const before = JSON.stringify(this.values);
    for (let steps = 0; ; steps++) {
      if (steps > 20) throw new Error('it never comes to rest');
      const step = decide(this);
      if (!step.write) {
        this.rest(step);
        break;
      }
      must('shows no mark while it writes', step.kind !== 'ok');
      this.checkWrite(step.write);
      this.fill(step.write);
    }
    must(
      'writes nothing that nobody asked for',
      !isUntouched || JSON.stringify(this.values) === before,
    );
  }

  /** Only what is empty or its own, or a text that says the same once it is moved. */
  private checkWrite({ name, value, at }: FieldWrite): void {
    const before = this.values[name] ?? '';
    this.lines.push(`  writes ${name}=${value} over ${before}`);
    const own = this.wrote[name];
    if (before === '') return;
    if (own && holdsSame(own.value, before)) {
      const isBack = holdsSame(value, own.before) || value === this.wrote.toevoeging?.from;
      must('keeps what it wrote for this address', own.at !== at || isBack || this.isAsked(name));
      return;
    }
    const after = meaningOf({ ...this.values, [name]: value });
    const isMove = this.isAsked(name) && isEqual(after, meaningOf(this.values));
    must('writes only what is its own, or moves what stands elsewhere now', isMove);
  }

  /** A field that refuses holds what it held. */
  private fill({ name, value, at, id, from }: FieldWrite): boolean {
    const before = this.values[name];
    if (before === undefined || holdsSame(before, value)) return true;
    this.tried.add(id);
    if (name === this.host.refuses) return false;
    const held = this.host.isUpper ? value.toUpperCase() : value;
    this.values[name] = held;
    this.wrote[name] = { value: held, at, from, before };
    return true;
  }

  private rest(step: FormStep): void {
    this.shown = step;
    this.kinds.add(step.kind);
    this.complained = step.wrong;
    if (this.touched === true) this.touched = step.key;
    for (const one of this.tried) if (!one.startsWith(`${step.key}|`)) this.tried.delete(one);
    this.lines.push(`  ${step.kind} ${JSON.stringify(this.values)} ${step.line ?? step.say}`);
    if (step.kind === 'ok') this.checkMark(step);
    if (step.ask) this.ask(step.ask, step.key);
  }

  /** The register has exactly the address that the fields mean, with the place that they hold. */
  private checkMark({ line = '' }: FormStep): void {
    const { parts, isClear } = meaningOf(this.values);
    const [postcode = '', number = '', toevoeging = ''] = parts;
    const all = register[`${postcode} ${number}`] ?? [];
    const places = all.filter(([one]) => one === toevoeging);
    const { straat, woonplaats } = this.values;
    const isHeld = places.some(
      ([, one, town]) =>
        (straat === undefined || holdsSame(straat, one)) &&
        (woonplaats === undefined || holdsSame(woonplaats, town)),
    );
    must('marks the address that the fields hold', isClear && isHeld && line.includes(number));
    const [, rest] = numberOf(this.values.huisnummer);
    must(
      'marks no address in the wrong fields',
      this.values.toevoeging === undefined || rest === '',
    );
  }

  /** Nothing is asked but what an event announced, once, and twice at most for one address. */
  private ask(query: string, key: string): void {
    this.lines.push(`  asks ${query}`);
    must('asks nothing twice', !this.known.has(query) && !this.asking.has(query));
    // Without a toevoeging that belonged to another number.
    must(
      'asks only after an event',
      isEqual(meaningOf(this.values).parts.slice(0, 2), this.announced),
    );
    const queries = this.sent.get(key) ?? new Set();
    this.sent.set(key, queries.add(query));
    must('asks twice at most', queries.size <= 2);
    this.asking.add(query);
  }
}

const name = fc.constantFrom<Name>(...asked, 'huisnummer', 'postcode', ...found.slice(0, 2));
const host: fc.Arbitrary<Host> = fc.record({
  fields: fc.constantFrom<Name[]>(
    ['postcode', 'huisnummer', 'toevoeging', 'straat', 'woonplaats'],
    ['postcode', 'huisnummer', 'toevoeging', 'straat', 'woonplaats'],
    ['postcode', 'huisnummer', 'straat', 'woonplaats'],
    ['postcode', 'huisnummer', 'toevoeging', 'straat'],
    ['postcode', 'huisnummer', 'toevoeging'],
  ),
  refuses: fc.option(
    fc.constantFrom<Name>('toevoeging', 'huisnummer', 'postcode', 'straat', 'woonplaats'),
    { nil: undefined, freq: 3 },
  ),
  isUpper: fc.boolean(),
  isLate: fc.boolean(),
});
const text = fc.nat(1_000);
const act: fc.Arbitrary<Act> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      does: fc.constant('types'),
      name,
      text,
      stays: fc.boolean(),
    }) as fc.Arbitrary<Act>,
  },
  {
    weight: 2,
    arbitrary: fc.record({
      does: fc.constant('sets without an event'),
      name,
      text,
    }) as fc.Arbitrary<Act>,
  },
  {
    weight: 5,
    arbitrary: fc.record({ does: fc.constant('receives'), query: fc.nat(9) }) as fc.Arbitrary<Act>,
  },
  { weight: 2, arbitrary: fc.constant<Act>({ does: 'leaves' }) },
  {
    weight: 2,
    arbitrary: fc.record({ does: fc.constant('clicks'), choice: fc.nat(9) }) as fc.Arbitrary<Act>,
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom<Act>({ does: 'fails' }, { does: 'resets' }, { does: 'comes back' }),
  },
);
/** Most histories begin with an address that exists: random fields rarely hold one. */
const begin: fc.Arbitrary<Act[]> = fc.oneof(
  fc.constant<Act[]>([]),
  fc
    .constantFrom(
      ['1381AA', '9 a'],
      ['1381AA', '9'],
      ['1234AB', '5-b'],
      ['1012RJ', '14 7'],
      ['9999SD', '3'],
      ['1381 AA 9 a', ''],
    )
    .map(([postcode = '', number = '']): Act[] => [
      { does: 'types', name: 'postcode', text: texts.postcode.indexOf(postcode), stays: false },
      { does: 'types', name: 'huisnummer', text: texts.huisnummer.indexOf(number), stays: false },
      { does: 'receives', query: 0 },
      { does: 'receives', query: 0 },
    ]),
);

describe('a history of people, scripts, fields that refuse, and answers in any order', () => {
  const kinds = new Map<string, number>();
  const numRuns = isFullSweep ? 20_000 : 3_000;

  it('marks only an address that the fields hold, writes only what is its own, loses nothing, asks only after an event, and comes to rest', () => {
    fc.assert(
      fc.property(host, begin, fc.array(act, { maxLength: 14 }), (one, first, more) => {
        const history = new History(one);
        try {
          for (const each of [...first, ...more]) history.do(each);
        } catch (error) {
          throw new Error(`${JSON.stringify(one)}\n${history.lines.join('\n')}`, { cause: error });
        }
        for (const kind of history.kinds) kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
      }),
      { numRuns },
    );
  });

  it('reaches each kind of message in many histories', () => {
    for (const kind of ['hint', 'ok', 'ask', 'wrong']) {
      expect(kinds.get(kind) ?? 0).toBeGreaterThan(numRuns / 20);
    }
  });
});
