import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '../bench/generator/random.ts';
import type { Journal } from './journal.ts';
import type { Row, State } from './register.ts';

/** An account of the run, with its limits. */
export type Customer = { account: string; key: string; limits: { minute?: number; day?: number } };

/** `unknown`: it may have been charged. `never sent`: the service did not run. */
type Outcome = 'ok' | 'exceeded' | 'unknown' | 'never sent';
/** A request, with the units that it consumes: its addresses. */
type Sent = { from: number; to: number; units: number; outcome: Outcome; windows: string[] };

/** The states that the table may be in, or between. */
export class Possible {
  #sets: { since: number; states: ReadonlySet<State> }[];

  constructor(first: State) {
    this.#sets = [{ since: 0, states: new Set([first]) }];
  }

  get now(): ReadonlySet<State> {
    return this.#sets.at(-1)?.states ?? new Set();
  }

  become(states: Iterable<State>): void {
    this.#sets.push({ since: Date.now(), states: new Set(states) });
  }

  /** All that were possible at some time from `from` on. */
  since(from: number): Set<State> {
    const last = this.#sets.findLastIndex(({ since }) => since <= from);
    return new Set(this.#sets.slice(last).flatMap(({ states }) => [...states]));
  }
}

/** The longest that an answer may take, with a pause of this machine on top of the five seconds. */
const longestMilliseconds = 12_000;

/**
 * Of the requests, how many ask for several addresses, and for how many at most: some limits are
 * below it.
 */
const batchShare = 0.2;
const mostInABatch = 12;

/**
 * Sends single lookups and batches, until `stop`; compares each answer with the register; counts
 * what was charged.
 */
export class Hammer {
  readonly sent = new Map<string, Sent[]>();
  readonly #journal: Journal;
  readonly #possible: Possible;
  readonly #keys: string[];
  readonly #random: Random;
  /** When the service was stopped or ended, so that nothing is said of how long an answer took. */
  readonly interruptions: number[] = [];
  #stopped = false;

  constructor(journal: Journal, possible: Possible, states: readonly State[], random: Random) {
    this.#journal = journal;
    this.#possible = possible;
    this.#random = random;
    const [first] = states;
    const changing = states.flatMap(({ table }) =>
      [...table].flatMap(([key, row]) => (sameRow(first?.table.get(key), row) ? [] : [key])),
    );
    const steady = [...(first?.table.keys() ?? [])].filter((_, index) => index % 20 === 0);
    this.#keys = [...new Set(changing), ...steady];
  }

  stop(): void {
    this.#stopped = true;
  }

  async run(customers: readonly Customer[], baseUrl: () => string | undefined): Promise<void> {
    while (!this.#stopped) {
      const customer = this.#random.pick(customers);
      const base = baseUrl();
      await (base === undefined ? sleep(100) : this.#lookUp(base, customer));
      await sleep(this.#random.int(40));
    }
  }

  #pickKey(): string {
    return this.#random.chance(0.02) ? '9999ZZ#99999#' : this.#random.pick(this.#keys);
  }

  async #lookUp(base: string, { account, key }: Customer): Promise<void> {
    const isBatch = this.#random.chance(batchShare);
    const wanted = Array.from({ length: isBatch ? 1 + this.#random.int(mostInABatch) : 1 }, () =>
      this.#pickKey(),
    );
    const from = Date.now();
    let outcome: Outcome = 'unknown';
    let windows: string[] = [];
    try {
      const response = await (isBatch
        ? sendBatch(base, key, wanted)
        : sendLookup(base, key, wanted[0] ?? ''));
      const body = (await response.json()) as { violated_windows?: string[]; results?: unknown[] };
      outcome = this.#judge(response.status, body, wanted, isBatch ? body.results : [body], from);
      windows = body.violated_windows ?? [];
    } catch (error) {
      const { cause } = error as { cause?: { code?: string } };
      if (cause?.code === 'ECONNREFUSED') outcome = 'never sent';
    }
    const to = Date.now();
    const counted = `${isBatch ? 'batch' : 'lookup'} ${outcome}`;
    this.#journal.counts.set(counted, (this.#journal.counts.get(counted) ?? 0) + 1);
    this.sent.set(account, [
      ...(this.sent.get(account) ?? []),
      { from, to, units: wanted.length, outcome, windows },
    ]);
    const isExcused = this.interruptions.some((at) => at > from - 1_000 && at < to);
    if (to - from > longestMilliseconds && !isExcused) {
      this.#journal.finding(`an answer took ${to - from} ms`);
    }
  }

  #judge(
    status: number,
    body: unknown,
    keys: readonly string[],
    results: unknown,
    from: number,
  ): Outcome {
    if (status === 429) return 'exceeded';
    if (status === 503) return 'unknown';
    if (status !== 200) {
      this.#journal.finding(`a lookup was answered ${status}: ${JSON.stringify(body)}`);
      return 'unknown';
    }
    if (!Array.isArray(results) || results.length !== keys.length) {
      this.#journal.finding(`${keys.length} addresses were answered by ${JSON.stringify(body)}`);
      return 'ok';
    }
    for (const [index, key] of keys.entries()) this.#compare(key, results[index], from);
    return 'ok';
  }

  #compare(key: string, result: unknown, from: number): void {
    const states = [...this.#possible.since(from)];
    const got = canonical(answerOf(result));
    if (states.some(({ table }) => canonical(expectedAnswer(table, key)) === got)) return;
    const right = states.map(
      ({ peildatum, table }) => `${peildatum}: ${canonical(expectedAnswer(table, key))}`,
    );
    this.#journal.finding(
      `the answer for ${key} is of no state: ${got}; right would be\n${right.join('\n')}`,
    );
  }
}

function partsOf(address: string): { postcode: string; huisnummer: string; toevoeging?: string } {
  const [postcode = '', huisnummer = '', toevoeging = ''] = address.split('#');
  return { postcode, huisnummer, ...(toevoeging && { toevoeging }) };
}

async function sendLookup(base: string, key: string, address: string): Promise<Response> {
  return await fetch(`${base}/v1/address?${new URLSearchParams(partsOf(address))}`, {
    headers: { 'x-api-key': key },
  });
}

async function sendBatch(
  base: string,
  key: string,
  addresses: readonly string[],
): Promise<Response> {
  return await fetch(`${base}/v1/addresses`, {
    method: 'POST',
    headers: { 'x-api-key': key, 'content-type': 'application/json' },
    body: JSON.stringify({ addresses: addresses.map(partsOf) }),
  });
}

type Answer = { places: unknown[]; toevoegingen: unknown };

function answerOf(body: unknown): Answer {
  const { status, address, candidates, toevoegingen } = body as Record<string, unknown>;
  const places = status === 'ok' ? [address] : (candidates as unknown[]);
  return { places, toevoegingen: status === 'not_found' ? toevoegingen : null };
}

/**
 * The answer that a table has to give: of a key without an address, the toevoegingen that exist
 * beside it.
 */
function expectedAnswer(table: ReadonlyMap<string, Row>, key: string): Answer {
  const places = table.get(key)?.places ?? [];
  if (places.length > 0) return { places, toevoegingen: null };
  const bare = key.slice(0, key.lastIndexOf('#') + 1);
  const row = table.get(bare);
  const toevoegingen = row?.toevoegingen ?? (row ? [null] : []);
  return { places: [], toevoegingen };
}

function canonical({ places, toevoegingen }: Answer): string {
  const texts = places.map((place) => {
    const { straat, woonplaats } = place as Row['places'][number];
    return `${straat}, ${woonplaats}`;
  });
  return JSON.stringify([texts, toevoegingen]);
}

/** Whether two rows say the same. */
export function sameRow(a: Row | undefined, b: Row | undefined): boolean {
  return rowText(a) === rowText(b);
}

/** A row as text, to compare and to show. */
export function rowText(row: Row | undefined): string {
  if (!row) return 'nothing';
  return JSON.stringify([row.places, row.toevoegingen ?? null]);
}

/**
 * Compares what an account was charged with what it was answered: every success counts its units, a
 * request whose outcome nobody knows all of them or none, and nothing counts twice.
 */
export function judgeCharges(
  journal: Journal,
  { account, limits }: Customer,
  sent: readonly Sent[],
  charged: number,
): void {
  const successes = sent.filter(({ outcome }) => outcome === 'ok');
  const unknown = sent.filter(({ outcome }) => outcome === 'unknown');
  const answered = [...successes, ...unknown];
  const least = unitsOf(successes);
  const most = unitsOf(answered);
  if (charged < least || charged > most) {
    journal.finding(
      `${account} was charged ${charged}, for ${least} units answered and at most ${most}`,
    );
  }
  const periods = { minute: 60_000, day: 86_400_000 };
  for (const window of ['minute', 'day'] as const) {
    const limit = limits[window];
    if (limit === undefined) continue;
    const period = periods[window];
    const windowOf = (time: number) => Math.floor(time / period);
    for (const at of new Set(sent.map(({ from }) => windowOf(from)))) {
      const isInside = ({ from, to }: Sent) => windowOf(from) === at && windowOf(to) === at;
      const inside = unitsOf(successes.filter(isInside));
      if (inside > limit) {
        journal.finding(`${account} was answered ${inside} addresses in a ${window} of ${limit}`);
      }
      const refused = sent.filter((lookup) => lookup.windows.includes(window) && isInside(lookup));
      if (refused.length === 0) continue;
      // A late attempt may count in the next window.
      const touching = answered.filter(
        ({ from, to }) => windowOf(from) <= at && windowOf(to + 10_000) >= at,
      );
      const possible = unitsOf(touching);
      const fewest = Math.min(...refused.map(({ units }) => units));
      if (possible + fewest <= limit) {
        journal.finding(
          `${account} was refused ${fewest} after at most ${possible} units in a ${window} of ${limit}`,
        );
      }
    }
  }
}

function unitsOf(sent: readonly Sent[]): number {
  return sent.reduce((sum, { units }) => sum + units, 0);
}
