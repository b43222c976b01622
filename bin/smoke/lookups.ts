import { isDeepStrictEqual } from 'node:util';
import type { Answer } from './api.ts';
import { demand, Skip, type SmokeAddress, type Visit } from './check.ts';
import { demandJson, demandMembers, demandProblem, isText } from './demands.ts';

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
  const { status, request, address, candidates } = demandJson(answer, ['status', 'request', 'address', 'candidates']);
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
