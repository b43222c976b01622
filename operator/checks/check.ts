import assert from 'node:assert/strict';
import type { Limits } from '../../core/accounts/quota.ts';

/** An address as a person writes it: `1381AA 9 a`. */
export type SmokeAddress = { postcode: string; huisnummer: number; toevoeging: string };

export type SmokeOptions = {
  key: string;
  /** An address that exists. `isGuess`: the operator did not name it; the register of the whole country has it. */
  address: SmokeAddress;
  isGuess: boolean;
  /** One with several places, and one with a letter. Left out where the operator names none. */
  ambiguous?: SmokeAddress;
  lettered?: SmokeAddress;
};

/** What the checks of one run share. */
export type Run = {
  client: Client;
  options: SmokeOptions;
  limits: Limits | null;
  /** Units left in the account's scarcest window, as the last lookup said. */
  left: number | null;
};

/** One guarantee of the API and its test. It asserts with `node:assert`, and throws `Skip` where it can't be tested. */
export type Check = { section: string; title: string; run(run: Run): Promise<void> };

/** A check can't be made here; the message says why. */
export class Skip extends Error {
  override name = 'Skip';
}

/** A response; header names are in lower case. */
export type SmokeAnswer = {
  /** `GET /v1/address?...`, for messages; never has the key. */
  asked: string;
  status: number;
  headers: Record<string, string>;
  text: string;
  /** The body if it is a JSON object. */
  json: Record<string, unknown> | null;
  milliseconds: number;
};

export type RequestOptions = {
  method?: string;
  /** By default the key under test; `null` is none. */
  key?: string | null;
  headers?: Record<string, string>;
  body?: string;
  /** What messages show instead of the path, where the path has the key. */
  shown?: string;
};

/** Sends requests as a consumer does, and keeps every response. */
export type Client = {
  /** @throws NoAnswerError */
  send(path: string, options?: RequestOptions): Promise<SmokeAnswer>;
  readonly answers: readonly SmokeAnswer[];
  /** How many units the responses counted against the quota. */
  lookups(): number;
};

/** No response: wrong URL, or no service is running there. */
export class NoAnswerError extends Error {
  override name = 'NoAnswerError';
}

/** Twice the five seconds in which every request must be answered. */
const timeoutMilliseconds = 10_000;

/** A client for the API at `baseUrl`. */
export function createClient(baseUrl: string, key: string): Client {
  const base = baseUrl.replace(/\/+$/, '');
  const answers: SmokeAnswer[] = [];
  return {
    answers,
    lookups: () => answers.reduce((sum, answer) => sum + unitsOf(answer), 0),
    async send(path, { method = 'GET', key: sent = key, headers = {}, body, shown = path } = {}) {
      const asked = `${method} ${shown}`;
      const startedAt = performance.now();
      try {
        const response = await fetch(base + path, {
          method,
          headers: { ...(sent === null ? {} : { 'x-api-key': sent }), ...headers },
          redirect: 'manual',
          ...(body !== undefined && { body }),
          signal: AbortSignal.timeout(timeoutMilliseconds),
        });
        const text = await response.text();
        const milliseconds = performance.now() - startedAt;
        const received = Object.fromEntries(response.headers);
        const answer = { asked, status: response.status, headers: received, text, json: parsed(text), milliseconds };
        answers.push(answer);
        return answer;
      } catch (error) {
        throw new NoAnswerError(`${asked}: ${reasonOf(error as Error)}`, { cause: error });
      }
    },
  };
}

/** What a response counted: one for a lookup, one for each result of many. */
function unitsOf({ asked, status, json }: SmokeAnswer): number {
  if (status !== 200) return 0;
  if (asked.startsWith('GET /v1/address?')) return 1;
  return asked === 'POST /v1/addresses' && Array.isArray(json?.results) ? json.results.length : 0;
}

/** When several addresses refuse the connection, the error itself has no message. */
function reasonOf({ message, cause }: Error): string {
  if (!(cause instanceof Error)) return message;
  return cause.message || String((cause as NodeJS.ErrnoException).code);
}

function parsed(text: string): SmokeAnswer['json'] {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as SmokeAnswer['json']) : null;
  } catch {
    return null;
  }
}

/** The response has this status. */
export function assertStatus({ asked, status }: SmokeAnswer, expected: number): void {
  assert.equal(status, expected, `${asked} returns ${status}, not ${expected}`);
}

/** The response is 200 and JSON with exactly these members. */
export function assertJson(answer: SmokeAnswer, members: readonly string[]): Record<string, unknown> {
  assertStatus(answer, 200);
  const json = jsonOf(answer, /^application\/json\b/);
  assertMembers(answer, json, members);
  return json;
}

const problemMembers = ['type', 'title', 'status', 'detail', 'request_id'];
const furtherMembers: Record<string, string[]> = {
  'invalid-input': ['errors'],
  'quota-exceeded': ['violated_windows'],
};

/** The response is a problem of this type (RFC 9457) with exactly the members of one. */
export function assertProblem(answer: SmokeAnswer, status: number, type: string): void {
  assertStatus(answer, status);
  const { asked } = answer;
  const json = jsonOf(answer, /^application\/problem\+json\b/);
  assert(String(json.type).endsWith(`/${type}`), `${asked}: type is ${json.type}, which does not end in /${type}`);
  assert.equal(json.status, status, `${asked}: the body has status ${json.status}`);
  for (const name of ['title', 'detail', 'request_id']) assertText(answer, name, json[name]);
  assertMembers(answer, json, [...problemMembers, ...(furtherMembers[type] ?? [])]);
}

function jsonOf({ asked, headers, json, text }: SmokeAnswer, contentType: RegExp): Record<string, unknown> {
  const received = headers['content-type'] ?? '';
  assert(json !== null, `${asked} returns no JSON object: ${text.slice(0, 80)}`);
  assert.match(received, contentType, `${asked}: Content-Type is ${received}`);
  return json;
}

/** The value is an object with exactly these members. */
export function assertMembers({ asked }: SmokeAnswer, value: unknown, names: readonly string[]): void {
  const found = typeof value === 'object' && value !== null ? Object.keys(value).sort() : [];
  const expected = [...names].sort();
  assert.deepEqual(found, expected, `${asked}: members are ${found.join(', ') || 'none'}, not ${expected.join(', ')}`);
}

/** The member is a text that is not empty. */
export function assertText({ asked }: SmokeAnswer, name: string, value: unknown): void {
  assert(typeof value === 'string' && value !== '', `${asked}: ${name} is ${JSON.stringify(value)}, not a text`);
}
