import assert from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import type { Limits } from '../../core/accounts/quota.ts';
import { isWindowName, type WindowName, windowEnd, windowNames, windowStart } from '../../core/calendar.ts';
import {
  assertJson,
  assertMembers,
  assertProblem,
  assertText,
  type Check,
  type Run,
  Skip,
  type SmokeAddress,
  type SmokeAnswer,
} from './check.ts';

/** A lookup that was answered. */
type Lookup = { answer: SmokeAnswer; status: unknown; request: unknown; address: unknown };

/** A check makes no lookup when fewer units are left: it must not use up a customer's quota. */
const minimumLeft = 20;

/** @throws Skip when the account has little or no quota left */
export function assertRoom({ left }: Run): void {
  if (left !== null && left < minimumLeft) throw new Skip(`the account has only ${left} units left`);
}

/** Looks up, and asserts what every outcome must have. @throws Skip when the account has little or no quota left */
export async function lookUp(run: Run, query: string, { includesAll = false } = {}): Promise<Lookup> {
  assertRoom(run);
  const include = includesAll ? '&include=nummeraanduidingen,toevoegingen' : '';
  const answer = await run.client.send(`/v1/address?${query}${include}`);
  const [, left] = /;r=(\d+)/.exec(answer.headers.ratelimit ?? '') ?? [];
  run.left = left === undefined ? null : Number(left);
  if (answer.status === 429) {
    assertExhausted(answer);
    throw new Skip('the account has no quota left');
  }
  const { asked } = answer;
  const isListed = includesAll || answer.json?.status === 'not_found';
  const members = ['status', 'request', 'address', 'candidates', ...(isListed ? ['toevoegingen'] : [])];
  const { status, request, address, candidates, toevoegingen } = assertJson(answer, members);
  assert(['ok', 'not_found', 'ambiguous'].includes(String(status)), `${asked}: status is ${status}`);
  assertMembers(answer, request, ['postcode', 'huisnummer', 'toevoeging']);
  if (status === 'ok') assertPlace(answer, address, includesAll);
  else assert.equal(address, null, `${asked}: ${status} has an address: ${JSON.stringify(address)}`);
  assertCandidates(answer, status, candidates, includesAll);
  if (isListed) assertToevoegingen(answer, toevoegingen);
  return { answer, status, request, address };
}

function assertPlace(answer: SmokeAnswer, place: unknown, hasIds: boolean): void {
  assertMembers(answer, place, ['straat', 'woonplaats', ...(hasIds ? ['nummeraanduidingen'] : [])]);
  const { nummeraanduidingen: ids = [], ...names } = place as Record<string, unknown>;
  for (const [name, value] of Object.entries(names)) assertText(answer, name, value);
  const areIds = Array.isArray(ids) && ids.length > 0 === hasIds && ids.every((id) => /^\d{16}$/.test(String(id)));
  assert(areIds, `${answer.asked}: nummeraanduidingen is ${JSON.stringify(ids)}`);
}

function assertCandidates(answer: SmokeAnswer, status: unknown, candidates: unknown, haveIds: boolean): void {
  const { asked } = answer;
  assert(Array.isArray(candidates), `${asked}: candidates is not a list`);
  const count = candidates.length;
  assert(status === 'ambiguous' ? count > 1 : count === 0, `${asked}: ${status} has ${count} candidates`);
  for (const place of candidates) assertPlace(answer, place, haveIds);
  const keys = candidates.map(({ woonplaats, straat }) => `${woonplaats}\0${straat}`);
  const sorted = [...new Set(keys)].sort();
  assert.deepEqual(keys, sorted, `${asked}: the candidates are not distinct and sorted by woonplaats, then straat`);
}

function assertToevoegingen({ asked }: SmokeAnswer, toevoegingen: unknown): void {
  const shown = JSON.stringify(toevoegingen);
  assert(Array.isArray(toevoegingen), `${asked}: toevoegingen is ${shown}`);
  const valid = toevoegingen.every((one) => one === null || /^[0-9A-Z]{1,5}$/.test(one));
  assert(valid, `${asked}: toevoegingen is ${shown}`);
  const keys = toevoegingen.map((one) => one ?? '');
  assert.deepEqual(keys, [...new Set(keys)].sort(), `${asked}: toevoegingen is not distinct and sorted: ${shown}`);
}

/** A 429 is checked where one occurs; no check provokes it. */
function assertExhausted(answer: SmokeAnswer): void {
  assertProblem(answer, 429, 'quota-exceeded');
  const { asked, headers, json } = answer;
  assert.match(headers['retry-after'] ?? '', /^[1-9]\d*$/, `${asked}: Retry-After is ${headers['retry-after']}`);
  const windows = json?.violated_windows;
  assert(Array.isArray(windows) && windows.length > 0, `${asked}: violated_windows is ${JSON.stringify(windows)}`);
  assert.match(headers.ratelimit ?? '', /;r=0;/, `${asked}: RateLimit is ${headers.ratelimit}`);
}

function queryOf({ postcode, huisnummer, toevoeging }: SmokeAddress): string {
  return String(new URLSearchParams({ postcode, huisnummer: String(huisnummer), ...(toevoeging && { toevoeging }) }));
}

/** The query with spaces, lower case, leading zeros, an empty toevoeging, and an unknown parameter. */
function untidyQueryOf({ postcode, huisnummer, toevoeging }: SmokeAddress): string {
  const spaced = ` ${postcode.slice(0, 2)} ${postcode.slice(2, 4)} ${postcode.slice(4).toLowerCase()} `;
  const number = String(huisnummer).padStart(5, '0');
  const added = toevoeging === '' ? '  ' : ` ${[...toevoeging].join(' ')} `;
  return String(new URLSearchParams({ postcode: spaced, huisnummer: number, toevoeging: added, callback: 'x' }));
}

function assertRequest({ answer, request }: Lookup, expected: SmokeAddress): void {
  const normalised = { ...expected, toevoeging: expected.toevoeging || null };
  const [found, wanted] = [JSON.stringify(request), JSON.stringify(normalised)];
  assert.deepEqual(request, normalised, `${answer.asked}: request is ${found}, not ${wanted}`);
}

function assertOutcome({ answer, status }: Lookup, expected: string): void {
  assert.equal(status, expected, `${answer.asked}: status is ${status}, not ${expected}`);
}

function assertSameAddress(one: Lookup, other: Lookup): void {
  const same = one.status === other.status && isDeepStrictEqual(one.address, other.address);
  assert(same, `${other.answer.asked} has another answer than ${one.answer.asked}`);
}

/** What `RateLimit` says about one time window. */
type Remaining = { window: WindowName; left: number; resetSeconds: number };

/**
 * Asserts the `RateLimit` fields of a lookup: the policy has every finite window with its limit and length, and one of
 * those is the closest to exhaustion. `null` when no window is finite.
 */
function readRateLimit({ asked, headers }: SmokeAnswer, limits: Limits): Remaining | null {
  const finite = windowNames.flatMap((name) => {
    const limit = limits[name] ?? null;
    return limit === null ? [] : [{ name, limit }];
  });
  const { 'ratelimit-policy': policy, ratelimit } = headers;
  if (finite.length === 0) {
    assert(policy === undefined && ratelimit === undefined, `${asked}: RateLimit fields for an account without limits`);
    return null;
  }
  const at = new Date(headers.date ?? Date.now());
  const expected = finite.map(({ name, limit }) => `"${name}";q=${limit};w=${windowAt(name, at).seconds}`);
  const shown = `RateLimit-Policy is ${policy}, not ${expected.join(', ')}`;
  assert.deepEqual((policy ?? '').split(/, */).sort(), expected.sort(), `${asked}: ${shown}`);
  const [, window = '', r, t] = /^"(\w+)";r=(\d+);t=(\d+)$/.exec(ratelimit ?? '') ?? [];
  const limit = finite.find(({ name }) => name === window)?.limit;
  assert(
    limit !== undefined && isWindowName(window),
    `${asked}: RateLimit is ${ratelimit}, which is no window of the policy`,
  );
  const remaining = { window, left: Number(r), resetSeconds: Number(t) };
  assert(remaining.left < limit, `${asked}: RateLimit is ${ratelimit} after a lookup, with a limit of ${limit}`);
  assertReset(asked, remaining, at);
  return remaining;
}

/** For clocks that differ and the time that a response takes. */
const toleranceSeconds = 3;

function assertReset(asked: string, { window, resetSeconds }: Remaining, at: Date): void {
  const { seconds, left } = windowAt(window, at);
  // At the end of a window the service and this machine may be on either side of it.
  const difference = Math.abs(resetSeconds - left);
  const isNear = Math.min(difference, seconds - difference) <= toleranceSeconds && resetSeconds <= seconds;
  assert(isNear, `${asked}: RateLimit says that the ${window} ends in ${resetSeconds} s; in UTC it ends in ${left} s`);
}

/**
 * The length of the time window at `at` and the time left in it, in seconds; windows are aligned to clock and calendar
 * in UTC.
 */
function windowAt(name: WindowName, at: Date): { seconds: number; left: number } {
  const now = Math.floor(at.getTime() / 1000);
  const start = windowStart(name, now);
  const end = windowEnd(name, start);
  return { seconds: end - start, left: end - now };
}

/** Requests that must not count. */
async function sendUncounted({ client }: Run): Promise<void> {
  const query = 'postcode=1012RJ&huisnummer=147';
  await client.send('/v1/auth/validate');
  await client.send('/v1/address?postcode=0000AA');
  await client.send(`/v1/address/?${query}`);
  await client.send(`/v1/address?${query}`, { method: 'POST' });
  await client.send(`/v1/address?${query}`, { key: null });
}

/** How often two lookups are compared: a window may end between them. */
const comparisons = 3;
/** The most lookups that a run makes: the comparisons, and one or two for each other check. */
export const mostSingleLookups = 3 * comparisons + 8;

/** The fields that say what is left, without the time to the reset. */
function leftFields({ headers }: SmokeAnswer): string {
  return `RateLimit ${headers.ratelimit?.replace(/;t=\d+$/, '')}, RateLimit-Policy ${headers['ratelimit-policy']}`;
}

/** The outcomes of lookups, and what they cost. */
export const lookupChecks: readonly Check[] = [
  {
    section: 'quota',
    title: 'counts one unit for a lookup, and none for a refused request',
    async run(run) {
      const look = async () =>
        readRateLimit((await lookUp(run, queryOf(run.options.address))).answer, run.limits ?? {});
      let shown: string | undefined;
      for (let comparison = 1; comparison <= comparisons; comparison++) {
        const before = await look();
        await sendUncounted(run);
        const after = await look();
        if (!before || !after) return;
        const hasReset = before.window !== after.window || after.resetSeconds > before.resetSeconds;
        const counted = before.left - after.left;
        if (hasReset) continue;
        if (counted === 1) return;
        shown = `two lookups counted ${counted} units in the ${before.window}, not 1`;
      }
      if (shown !== undefined) assert.fail(`${shown}: use an account that nobody else uses`);
      throw new Skip('a time window ended between the two lookups each time');
    },
  },
  {
    section: 'quota',
    title: 'says with the validation of a key what the last lookup said is left',
    async run(run) {
      let shown = '';
      for (let comparison = 1; comparison <= comparisons; comparison++) {
        const { answer } = await lookUp(run, queryOf(run.options.address));
        const validation = await run.client.send('/v1/auth/validate');
        shown = `${validation.asked}: ${leftFields(validation)}, where a lookup just said ${leftFields(answer)}`;
        if (leftFields(validation) === leftFields(answer)) return;
      }
      // A window may end between the two, but not each time.
      assert.fail(`${shown}: use an account that nobody else uses`);
    },
  },
  {
    section: 'outcomes',
    title: 'returns ok for an address that exists, however it is written',
    async run(run) {
      const { address, isGuess } = run.options;
      const plain = await lookUp(run, queryOf(address));
      assertRequest(plain, address);
      const { answer, status } = plain;
      if (isGuess && status !== 'ok')
        throw new Skip(`${answer.asked} is ${status} here; name an address with --address`);
      assertOutcome(plain, 'ok');
      const untidy = await lookUp(run, untidyQueryOf(address));
      assertRequest(untidy, address);
      assertSameAddress(plain, untidy);
    },
  },
  {
    section: 'outcomes',
    title: 'adds the toevoegingen that exist and the BAG ids where include asks for them, to the same outcome',
    async run(run) {
      const query = queryOf(run.options.address);
      const [plain, included] = [await lookUp(run, query), await lookUp(run, query, { includesAll: true })];
      assertOutcome(included, String(plain.status));
      const { nummeraanduidingen: _, ...place } = (included.address ?? {}) as Record<string, unknown>;
      assertSameAddress(plain, { ...included, address: included.address && place });
    },
  },
  {
    section: 'outcomes',
    title: 'returns not_found for an address that does not exist, with the request in the letter case sent',
    async run(run) {
      const { postcode } = run.options.address;
      const found = await lookUp(run, `postcode=${postcode}&huisnummer=99999&toevoeging=z+Z%209`);
      assertRequest(found, { postcode, huisnummer: 99_999, toevoeging: 'zZ9' });
      assertOutcome(found, 'not_found');
    },
  },
  {
    section: 'outcomes',
    title: 'returns ambiguous for an address with several places, with each of them once, sorted',
    async run(run) {
      const { ambiguous } = run.options;
      if (!ambiguous) throw new Skip('name one with --ambiguous');
      assertOutcome(await lookUp(run, queryOf(ambiguous)), 'ambiguous');
    },
  },
  {
    section: 'outcomes',
    title: 'ignores the letter case of a toevoeging, and returns it as sent',
    async run(run) {
      const { lettered } = run.options;
      if (!lettered) throw new Skip('name one with --lettered');
      const [lower, upper] = [lettered.toevoeging.toLowerCase(), lettered.toevoeging.toUpperCase()];
      const look = async (toevoeging: string) => {
        const found = await lookUp(run, queryOf({ ...lettered, toevoeging }));
        assertRequest(found, { ...lettered, toevoeging });
        assertOutcome(found, 'ok');
        return found;
      };
      assertSameAddress(await look(lower), await look(upper));
    },
  },
];
