import assert from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import { type Limits, reportWindows, type WindowReport } from '../../core/accounts/quota.ts';
import { windowNames, windowStart } from '../../core/calendar.ts';
import { batchAnswerSchema, type LookupAnswer, lookupAnswerSchema } from '../../core/contract.ts';
import { compareNames } from '../../core/place-fields.ts';
import {
  assertFaults,
  assertJson,
  assertProblem,
  assertStatus,
  inSection,
  Skip,
  type SmokeAnswer,
  type SmokeRun,
  type WrittenAddress,
} from './smoke-check.ts';

/** A lookup that was answered. */
type Lookup = { answer: SmokeAnswer; body: LookupAnswer };

/** A check makes no lookup when fewer units are left: it must not use up a customer's quota. */
const minimumLeft = 20;

/** @throws Skip when the account has little or no quota left */
function assertQuotaLeft({ left }: SmokeRun): void {
  if (left !== null && left < minimumLeft) throw new Skip(`the account has only ${left} units left`);
}

/** Looks up, and asserts what every outcome must have. @throws Skip when the account has little or no quota left */
async function lookUp(run: SmokeRun, query: string, { includesAll = false } = {}): Promise<Lookup> {
  assertQuotaLeft(run);
  const include = includesAll ? '&include=gemeente,nummeraanduidingen,toevoegingen' : '';
  const answer = await run.client.send(`/v1/address?${query}${include}`);
  const [, left] = /;r=(\d+)/.exec(answer.headers.ratelimit ?? '') ?? [];
  run.left = left === undefined ? null : Number(left);
  if (answer.status === 429) {
    assertExhausted(answer);
    throw new Skip('the account has no quota left');
  }
  assertStatus(answer, 200);
  const body = assertJson(answer, lookupAnswerSchema);
  const { status, candidates, toevoegingen } = body;
  const { asked } = answer;
  for (const place of status === 'ok' ? [body.address] : candidates)
    for (const field of ['gemeente', 'nummeraanduidingen'])
      assert.equal(field in place, includesAll, `${asked}: ${field} of ${JSON.stringify(place)}`);
  const areSorted = candidates.every((place, i) => compareNames(candidates[i - 1] ?? noPlace, place) < 0);
  assert(areSorted, `${asked}: the candidates are not distinct and sorted by woonplaats, then straat`);
  const isListed = includesAll || status === 'not_found';
  assert.equal(toevoegingen !== undefined, isListed, `${asked}: toevoegingen is ${JSON.stringify(toevoegingen)}`);
  const keys = (toevoegingen ?? []).map((one) => one ?? '');
  assert.deepEqual(keys, [...new Set(keys)].sort(), `${asked}: toevoegingen is not distinct and sorted: ${keys}`);
  return { answer, body };
}

/** Sorts before any other. */
const noPlace = { straat: '', woonplaats: '' };

/** A 429 is checked where one occurs; no check provokes it. */
function assertExhausted(answer: SmokeAnswer): void {
  assertProblem(answer, 429, 'quota-exceeded');
  const { asked, headers } = answer;
  assert.match(headers['retry-after'] ?? '', /^[1-9]\d*$/, `${asked}: Retry-After is ${headers['retry-after']}`);
  assert.match(headers.ratelimit ?? '', /;r=0;/, `${asked}: RateLimit is ${headers.ratelimit}`);
}

function queryOf({ postcode, huisnummer, toevoeging }: WrittenAddress): string {
  return String(new URLSearchParams({ postcode, huisnummer: String(huisnummer), ...(toevoeging && { toevoeging }) }));
}

/** The query with spaces, lower case, leading zeros and an empty toevoeging. */
function untidyQueryOf({ postcode, huisnummer, toevoeging }: WrittenAddress): string {
  const spaced = ` ${postcode.slice(0, 2)} ${postcode.slice(2, 4)} ${postcode.slice(4).toLowerCase()} `;
  const number = String(huisnummer).padStart(5, '0');
  const added = toevoeging === '' ? '  ' : ` ${[...toevoeging].join(' ')} `;
  return String(new URLSearchParams({ postcode: spaced, huisnummer: number, toevoeging: added }));
}

function assertRequest({ answer, body: { request } }: Lookup, expected: WrittenAddress): void {
  const normalised = { ...expected, toevoeging: expected.toevoeging || null };
  const [found, wanted] = [JSON.stringify(request), JSON.stringify(normalised)];
  assert.deepEqual(request, normalised, `${answer.asked}: request is ${found}, not ${wanted}`);
}

function assertOutcome({ answer, body: { status } }: Lookup, expected: string): void {
  assert.equal(status, expected, `${answer.asked}: status is ${status}, not ${expected}`);
}

function assertSameAddress(one: Lookup, other: Lookup): void {
  const [a, b] = [one, other].map(({ body: { status, address } }) => {
    const { straat, woonplaats } = { ...address };
    return { status, straat, woonplaats };
  });
  assert(isDeepStrictEqual(a, b), `${other.answer.asked} has another answer than ${one.answer.asked}`);
}

/** What `RateLimit` says about one time window. */
type Remaining = { window: string; left: number; resetSeconds: number };

/** Allows for clocks that differ and the time that a response takes. */
const toleranceSeconds = 3;

/**
 * Asserts the `RateLimit` fields of a lookup: the policy has every finite window with its limit and length, and one of
 * those, which ends when it ends in UTC, is the closest to exhaustion. `null` when no window is finite.
 */
function readRateLimit({ asked, headers }: SmokeAnswer, limits: Limits): Remaining | null {
  const windows = windowsAt(limits, new Date(headers.date ?? Date.now()));
  const { 'ratelimit-policy': policy, ratelimit } = headers;
  if (windows.length === 0) {
    assert(policy === undefined && ratelimit === undefined, `${asked}: RateLimit fields for an account without limits`);
    return null;
  }
  const expected = windows.map(({ name, limit, seconds }) => `"${name}";q=${limit};w=${seconds}`);
  const shown = `RateLimit-Policy is ${policy}, not ${expected.join(', ')}`;
  assert.deepEqual((policy ?? '').split(/, */).sort(), expected.sort(), `${asked}: ${shown}`);
  const [, window = '', r, t] = /^"(\w+)";r=(\d+);t=(\d+)$/.exec(ratelimit ?? '') ?? [];
  const found = windows.find(({ name }) => name === window);
  assert(found, `${asked}: RateLimit is ${ratelimit}, which is no window of the policy`);
  const { limit, seconds, reset } = found;
  const [left, resetSeconds] = [Number(r), Number(t)];
  assert(left < limit, `${asked}: RateLimit is ${ratelimit} after a lookup, with a limit of ${limit}`);
  // At the end of a window the service and this machine may be on either side of it.
  const difference = Math.abs(resetSeconds - reset);
  const isNear = Math.min(difference, seconds - difference) <= toleranceSeconds && resetSeconds <= seconds;
  assert(isNear, `${asked}: RateLimit says that the ${window} ends in ${resetSeconds} s; in UTC it ends in ${reset} s`);
  return { window, left, resetSeconds };
}

/** The finite windows at a time, aligned to clock and calendar in UTC. */
function windowsAt(limits: Limits, at: Date): WindowReport[] {
  const now = Math.floor(at.getTime() / 1000);
  const started = windowNames.flatMap((name) => {
    const limit = limits[name];
    return limit === undefined ? [] : [[name, { limit, start: windowStart(name, now), used: 0 }]];
  });
  return reportWindows(Object.fromEntries(started), now);
}

const query = 'postcode=1012RJ&huisnummer=147';

/** Requests that must not count. */
const uncounted = [
  { path: '/v1/auth/validate' },
  { path: '/v1/address?postcode=0000AA' },
  { path: `/v1/address/?${query}` },
  { path: `/v1/address?${query}`, method: 'POST' },
  { path: `/v1/address?${query}`, key: null },
];

/** How often two lookups are compared: a window may end between them. */
const comparisons = 3;

/** The most lookups that a run makes: the comparisons, one or two for each other check, and five for many at once. */
export const mostLookups = 3 * comparisons + 9 + 5;

/** The fields that say what is left, without the time to the reset. */
function leftFields({ headers }: SmokeAnswer): string {
  return `RateLimit ${headers.ratelimit?.replace(/;t=\d+$/, '')}, RateLimit-Policy ${headers['ratelimit-policy']}`;
}

const quotaChecks = inSection('quota', {
  async 'counts one unit for a lookup, and none for a refused request'(run) {
    const look = async () => readRateLimit((await lookUp(run, queryOf(run.options.address))).answer, run.limits ?? {});
    let shown: string | undefined;
    for (let comparison = 1; comparison <= comparisons; comparison++) {
      const before = await look();
      for (const { path, ...request } of uncounted) await run.client.send(path, request);
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
  async 'says with the validation of a key what the last lookup said is left'(run) {
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
});

const outcomeChecks = inSection('outcomes', {
  async 'returns ok for an address that exists, however it is written'(run) {
    const { address, isGuess } = run.options;
    const plain = await lookUp(run, queryOf(address));
    assertRequest(plain, address);
    const { status } = plain.body;
    if (isGuess && status !== 'ok')
      throw new Skip(`${plain.answer.asked} is ${status} here; name an address with --address`);
    assertOutcome(plain, 'ok');
    const untidy = await lookUp(run, untidyQueryOf(address));
    assertRequest(untidy, address);
    assertSameAddress(plain, untidy);
  },
  async 'adds the toevoegingen that exist, the gemeente and the BAG ids where include asks for them, to the same outcome'(
    run,
  ) {
    const query = queryOf(run.options.address);
    assertSameAddress(await lookUp(run, query), await lookUp(run, query, { includesAll: true }));
  },
  async 'adds the objects of an address if the document offers them, and refuses include=objecten if not'(run) {
    const document = await run.client.send('/v1/openapi.json');
    const isOffered = JSON.stringify(document.json).includes('"objecten"');
    if (isOffered) assertQuotaLeft(run);
    const answer = await run.client.send(`/v1/address?${queryOf(run.options.address)}&include=objecten`);
    if (!isOffered) return assertFaults(answer, 'include-unavailable include');
    assertStatus(answer, 200);
    const { status, address, candidates } = assertJson(answer, lookupAnswerSchema);
    for (const place of status === 'ok' ? [address] : candidates)
      assert('objecten' in place, `${answer.asked}: there are no objecten in ${JSON.stringify(place)}`);
  },
  async 'returns not_found for an address that does not exist, with the request in the letter case sent'(run) {
    const { postcode } = run.options.address;
    const found = await lookUp(run, `postcode=${postcode}&huisnummer=99999&toevoeging=z+Z%209`);
    assertRequest(found, { postcode, huisnummer: 99_999, toevoeging: 'zZ9' });
    assertOutcome(found, 'not_found');
  },
  async 'returns ambiguous for an address with several places, with each of them once, sorted'(run) {
    const { ambiguous } = run.options;
    if (!ambiguous) throw new Skip('name one with --ambiguous');
    assertOutcome(await lookUp(run, queryOf(ambiguous)), 'ambiguous');
  },
  async 'ignores the letter case of a toevoeging, and returns it as sent'(run) {
    const { lettered } = run.options;
    if (!lettered) throw new Skip('name one with --lettered');
    const look = async (toevoeging: string) => {
      const found = await lookUp(run, queryOf({ ...lettered, toevoeging }));
      assertRequest(found, { ...lettered, toevoeging });
      assertOutcome(found, 'ok');
      return found;
    };
    const { toevoeging } = lettered;
    assertSameAddress(await look(toevoeging.toLowerCase()), await look(toevoeging.toUpperCase()));
  },
});

const many = '/v1/addresses';

function sendMany({ client }: SmokeRun, body: unknown, contentType = 'application/json'): Promise<SmokeAnswer> {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return client.send(many, { method: 'POST', headers: { 'content-type': contentType }, body: text });
}

const manyChecks = inSection('many at once', {
  async 'returns for each address, in order, what the single lookup returns'(run) {
    assertQuotaLeft(run);
    const { toevoeging, ...rest } = run.options.address;
    const address = { ...rest, ...(toevoeging && { toevoeging }) };
    const missing = { ...address, huisnummer: 99_999 };
    const answer = await sendMany(run, { addresses: [address, { ...missing, huisnummer: '99999' }, address] });
    assertStatus(answer, 200);
    const { results } = assertJson(answer, batchAnswerSchema);
    const one = await lookUp(run, queryOf({ toevoeging, ...address }));
    const other = await lookUp(run, queryOf({ toevoeging, ...missing }));
    const expected = [one.body, other.body, one.body];
    assert(isDeepStrictEqual(results, expected), `${answer.asked}: results differ from those of single lookups`);
  },
  async 'reports every fault of the body at its JSON pointer'(run) {
    const valid = { postcode: '1012RJ', huisnummer: 147 };
    const addresses = [valid, { postcode: '0123AB', huisnummer: '12A' }, { ...valid, note: 'x' }];
    const answer = await sendMany(run, { addresses, include: ['x'] });
    assertFaults(
      answer,
      'huisnummer-with-toevoeging /addresses/1/huisnummer',
      'include-unknown /include/0',
      'postcode-leading-zero /addresses/1/postcode',
      'unknown-member /addresses/2/note',
    );
  },
  async 'refuses 101 addresses, a body over 64 KB, one that is not JSON, and other methods'(run) {
    const addresses = Array(101).fill({ postcode: '1012RJ', huisnummer: 147 });
    assertProblem(await sendMany(run, { addresses }), 422, 'invalid-input');
    assertProblem(await sendMany(run, 'x'.repeat(64 * 1024 + 1)), 413, 'content-too-large');
    assertProblem(await sendMany(run, '{}', 'text/plain'), 415, 'unsupported-media-type');
    for (const method of ['GET', 'PUT', 'DELETE']) {
      const answer = await run.client.send(many, { method });
      assertProblem(answer, 405, 'method-not-allowed');
      assert.equal(answer.headers.allow, 'POST', `${answer.asked}: Allow is ${answer.headers.allow}`);
    }
  },
});

/** The outcomes of lookups, and what they cost. */
export const lookupChecks = [...quotaChecks, ...outcomeChecks, ...manyChecks];
