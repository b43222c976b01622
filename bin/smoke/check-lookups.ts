import { isDeepStrictEqual } from 'node:util';
import type { Answer } from './api.ts';
import {
  type Check,
  demand,
  demandJson,
  demandMembers,
  demandProblem,
  isText,
  Skip,
  type SmokeAddress,
  type Visit,
} from './check.ts';
import { type Remaining, readRateLimit } from './check-every-answer.ts';

/** What an answered lookup says. */
export type Looked = {
  answer: Answer;
  status: 'ok' | 'not_found' | 'ambiguous';
  request: unknown;
  address: unknown;
  candidates: unknown[];
};

/** What must be left for a lookup: a customer's quota is not for tests to use up. */
const enough = 20;

/** The query of an address as its caller writes it. */
export function queryOf({ postcode, huisnummer, toevoeging }: SmokeAddress): string {
  const extra: Record<string, string> = toevoeging === '' ? {} : { toevoeging };
  return String(new URLSearchParams({ postcode, huisnummer: String(huisnummer), ...extra }));
}

/**
 * Looks up, and holds the answer against the form of its outcome.
 * @throws Disagreement; Skip where the account has little left
 */
export async function lookUp(visit: Visit, query: string): Promise<Looked> {
  if (visit.left !== null && visit.left < enough) throw new Skip(`the account has only ${visit.left} units left`);
  const answer = await visit.api.send(`/v1/address?${query}`);
  const [, left] = /;r=(\d+)/.exec(answer.headers.ratelimit ?? '') ?? [];
  visit.left = left === undefined ? null : Number(left);
  if (answer.status === 429) {
    demandExhausted(answer);
    throw new Skip('the account has no quota left');
  }
  const { asked } = answer;
  const isNotFound = answer.json?.status === 'not_found';
  const members = ['status', 'request', 'address', 'candidates', ...(isNotFound ? ['toevoegingen'] : [])];
  const { status, request, address, candidates, toevoegingen } = demandJson(answer, members);
  if (isNotFound) demand(Array.isArray(toevoegingen), `${asked}: toevoegingen is no list`);
  demandMembers(answer, request, ['postcode', 'huisnummer', 'toevoeging']);
  demand(Array.isArray(candidates), `${asked}: candidates is no list`);
  demand(status === 'ok' || status === 'not_found' || status === 'ambiguous', `${asked}: the status is ${status}`);
  if (status === 'ok') demandPlace(answer, address);
  else demand(address === null, `${asked}: ${status} has an address: ${JSON.stringify(address)}`);
  const several = status === 'ambiguous' ? candidates.length > 1 : candidates.length === 0;
  demand(several, `${asked}: ${status} has ${candidates.length} candidates`);
  demandSorted(answer, candidates);
  return { answer, status, request, address, candidates };
}

/** The answer repeats the request in its normal form. @throws Disagreement */
export function demandRequest({ answer, request }: Looked, expected: SmokeAddress): void {
  const normal = { ...expected, toevoeging: expected.toevoeging || null };
  const said = JSON.stringify(request);
  demand(isDeepStrictEqual(request, normal), `${answer.asked}: the request is ${said}, not ${JSON.stringify(normal)}`);
}

function demandPlace(answer: Answer, place: unknown): void {
  demandMembers(answer, place, ['straat', 'woonplaats']);
  const { straat, woonplaats } = place as Record<string, unknown>;
  demand(isText(straat) && isText(woonplaats), `${answer.asked}: a place is ${JSON.stringify(place)}`);
}

function demandSorted(answer: Answer, candidates: unknown[]): void {
  for (const place of candidates) demandPlace(answer, place);
  const keys = (candidates as { straat: string; woonplaats: string }[]).map(
    (one) => `${one.woonplaats}\0${one.straat}`,
  );
  const sorted = [...new Set(keys)].sort();
  demand(
    isDeepStrictEqual(keys, sorted),
    `${answer.asked}: the candidates are not distinct and sorted by woonplaats, straat`,
  );
}

/** A 429 in full: met by chance only, since no check may use up a customer's quota. */
function demandExhausted(answer: Answer): void {
  demandProblem(answer, 429, 'quota-exceeded');
  const { asked, headers, json } = answer;
  demand(/^[1-9]\d*$/.test(headers['retry-after'] ?? ''), `${asked}: Retry-After is ${headers['retry-after']}`);
  const windows = json?.violated_windows;
  demand(Array.isArray(windows) && windows.length > 0, `${asked}: violated_windows is ${JSON.stringify(windows)}`);
  demand(/;r=0;/.test(headers.ratelimit ?? ''), `${asked}: RateLimit is ${headers.ratelimit}`);
}

/** Pairs of lookups for the arithmetic: a window may end between the two. */
const attempts = 3;
/** The most that a run is charged: the arithmetic, and one or two for each other check. */
export const mostLookups = 2 * attempts + 6;

/** The outcomes of lookups, and what they cost. */
export const lookupChecks: Check[] = [
  {
    section: 'quota',
    title: 'a lookup costs one unit, and nothing else that was asked between two lookups costs any',
    async run(visit) {
      const limits = visit.limits ?? {};
      for (let attempt = 1; ; attempt++) {
        const before = readRateLimit((await lookUp(visit, queryOf(visit.options.address))).answer, limits);
        await askWithoutCharge(visit);
        const after = readRateLimit((await lookUp(visit, queryOf(visit.options.address))).answer, limits);
        if (!before || !after) return;
        if (demandOneUnit(before, after, attempt === attempts)) return;
      }
    },
  },
  {
    section: 'outcomes',
    title: 'an address that is there is ok, in whatever way it is written',
    async run(visit) {
      const { address } = visit.options;
      const plain = await lookUp(visit, queryOf(address));
      demandRequest(plain, address);
      demandFound(visit, plain);
      const spelled = await lookUp(visit, untidy(address));
      demandRequest(spelled, address);
      demandSame(plain, spelled);
    },
  },
  {
    section: 'outcomes',
    title: 'an address that is not there is not_found, with the request as it was given',
    async run(visit) {
      const { postcode } = visit.options.address;
      const found = await lookUp(visit, `postcode=${postcode}&huisnummer=99999&toevoeging=z+Z%209`);
      demandRequest(found, { postcode, huisnummer: 99_999, toevoeging: 'zZ9' });
      demand(found.status === 'not_found', `${found.answer.asked}: the status is ${found.status}`);
    },
  },
  {
    section: 'outcomes',
    title: 'an address with several places is ambiguous, with each of them once, in order',
    async run(visit) {
      const { ambiguous } = visit.options;
      if (!ambiguous) throw new Skip('name one with --ambiguous');
      const { answer, status } = await lookUp(visit, queryOf(ambiguous));
      demand(status === 'ambiguous', `${answer.asked}: the status is ${status}`);
    },
  },
  {
    section: 'outcomes',
    title: 'the letter case of a toevoeging does not matter, and is echoed as given',
    async run(visit) {
      const { lettered } = visit.options;
      if (!lettered) throw new Skip('name one with --lettered');
      const spellings = [lettered.toevoeging.toLowerCase(), lettered.toevoeging.toUpperCase()];
      const found: Looked[] = [];
      for (const toevoeging of spellings) {
        const one = await lookUp(visit, queryOf({ ...lettered, toevoeging }));
        demandRequest(one, { ...lettered, toevoeging });
        demand(one.status === 'ok', `${one.answer.asked}: the status is ${one.status}`);
        found.push(one);
      }
      const [lower, upper] = found;
      if (lower && upper) demandSame(lower, upper);
    },
  },
];

async function askWithoutCharge({ api }: Visit): Promise<void> {
  const query = 'postcode=1012RJ&huisnummer=147';
  await api.send('/v1/auth/validate');
  await api.send('/v1/address?postcode=0000AA');
  await api.send(`/v1/address/?${query}`);
  await api.send(`/v1/address?${query}`, { method: 'POST' });
  await api.send(`/v1/address?${query}`, { key: null });
}

/** @throws Disagreement; false where a window ended in between, so that nothing can be told */
function demandOneUnit(before: Remaining, after: Remaining, isLast: boolean): boolean {
  const rolled = before.window !== after.window || after.resetSeconds > before.resetSeconds;
  if (!rolled && after.left === before.left - 1) return true;
  if (!isLast) return false;
  if (rolled) throw new Skip('a window ended between two lookups each time');
  const taken = before.left - after.left;
  demand(
    false,
    `two lookups after one another took ${taken} units of the ${before.window}, not 1 (take an account that nobody else uses)`,
  );
}

/** Spaces, lower case, leading zeros, an empty toevoeging, and a parameter that nobody knows. */
function untidy({ postcode, huisnummer, toevoeging }: SmokeAddress): string {
  const spaced = ` ${postcode.slice(0, 2)} ${postcode.slice(2, 4)} ${postcode.slice(4).toLowerCase()} `;
  const number = String(huisnummer).padStart(5, '0');
  const added = toevoeging === '' ? '  ' : ` ${[...toevoeging].join(' ')} `;
  return String(new URLSearchParams({ postcode: spaced, huisnummer: number, toevoeging: added, callback: 'x' }));
}

function demandFound({ options }: Visit, { answer, status }: Looked): void {
  if (options.isGuess && status !== 'ok') {
    throw new Skip(`${answer.asked} is ${status} in this register; name an address that is there with --address`);
  }
  demand(status === 'ok', `${answer.asked}: the status is ${status}`);
}

function demandSame(one: Looked, other: Looked): void {
  const same = one.status === other.status && isDeepStrictEqual(one.address, other.address);
  demand(same, `${other.answer.asked} is answered in another way than ${one.answer.asked}`);
}
