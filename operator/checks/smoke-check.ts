import assert from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod/mini';
import type { Limits } from '../../core/accounts/quota.ts';
import {
  invalidBodySchema,
  invalidInputSchema,
  type ProblemBody,
  problemSchema,
  quotaExceededSchema,
} from '../../core/contract.ts';
import { type ApiAnswer, type ApiRequest, callApi, NoAnswerError } from '../../lambdas/canary/call-api.ts';

/** An address as a person writes it: `1381AA 9 a`. */
export type WrittenAddress = { postcode: string; huisnummer: number; toevoeging: string };

export type SmokeOptions = {
  key: string;
  /** An address that exists. `isGuess`: the operator did not name it; the register of the whole country has it. */
  address: WrittenAddress;
  isGuess: boolean;
  /** One with several places, and one with a letter. Left out where the operator names none. */
  ambiguous?: WrittenAddress;
  lettered?: WrittenAddress;
};

/** What the checks of one run share. */
export type SmokeRun = {
  client: Client;
  options: SmokeOptions;
  limits: Limits | null;
  /** Units left in the account's scarcest window, as the last lookup said. */
  left: number | null;
};

/** One guarantee of the API and its test. It asserts with `node:assert`, and throws `Skip` where it can't be tested. */
export type Check = { section: string; title: string; run(run: SmokeRun): Promise<void> };

/** Checks by their titles. */
export function inSection(section: string, checks: Record<string, Check['run']>): Check[] {
  return Object.entries(checks).map(([title, run]) => ({ section, title, run }));
}

/** A check can't be made here; the message says why. */
export class Skip extends Error {
  override name = 'Skip';
}

/** `asked` is `GET /v1/address?...`, for messages; it never has the key. */
export type SmokeAnswer = ApiAnswer & { asked: string };

/** Sends requests as a consumer does, and keeps every response. */
export type Client = {
  /**
   * Sends the key under test, unless `key` is another one or `null`. Messages show `shown` instead of the path, where
   * the path has the key. @throws NoAnswerError
   */
  send(path: string, options?: ApiRequest & { shown?: string }): Promise<SmokeAnswer>;
  readonly answers: readonly SmokeAnswer[];
};

/** A client for the API at `baseUrl`. */
export function createClient(baseUrl: string, key: string): Client {
  const base = baseUrl.replace(/\/+$/, '');
  const answers: SmokeAnswer[] = [];
  return {
    answers,
    async send(path, { shown = path, ...request } = {}) {
      const asked = `${request.method ?? 'GET'} ${shown}`;
      const answer = await callApi(base + path, { key, ...request }).catch((error: Error) => {
        throw new NoAnswerError(`${asked}: ${error.message}`, { cause: error });
      });
      answers.push({ asked, ...answer });
      return { asked, ...answer };
    },
  };
}

/** The response has this status. */
export function assertStatus({ asked, status }: SmokeAnswer, expected: number): void {
  assert.equal(status, expected, `${asked} returns ${status}, not ${expected}`);
}

/** The names of all members, at any depth. */
const memberNames = (value: unknown) =>
  [...(JSON.stringify(value) ?? '').matchAll(/"(\w+)":/g)].map(([, name]) => name);

/** The response is JSON as `schema` describes it, without an empty text and without any other member. */
export function assertJson<T>(
  { asked, headers, json, text }: SmokeAnswer,
  schema: z.ZodMiniType<T>,
  contentType = /^application\/json\b/,
): T {
  const received = headers['content-type'] ?? '';
  assert(json !== null, `${asked} returns no JSON object: ${text.slice(0, 80)}`);
  assert.match(received, contentType, `${asked}: Content-Type is ${received}`);
  const { data, error } = z.safeParse(schema, json);
  assert(data !== undefined, `${asked} is not as the contract says: ${error && z.prettifyError(error)}`);
  const known = memberNames(data);
  const others = memberNames(json).filter((name) => !known.includes(name));
  // Parsing leaves out what the schema does not name.
  assert(isDeepStrictEqual(data, json), `${asked} has members that the contract does not have: ${others.join(', ')}`);
  // A parameter that is to be left out is suggested as an empty one.
  const texts = JSON.stringify(json, (name, value) => (name === 'suggestion' ? undefined : value));
  assert(!/":""/.test(texts), `${asked} has a member that is empty`);
  return data;
}

const problemSchemas: Record<string, z.ZodMiniType<ProblemBody>> = {
  'invalid-input': z.union([invalidInputSchema, invalidBodySchema]),
  'quota-exceeded': quotaExceededSchema,
};

/** The response is a problem of this type (RFC 9457) with exactly the members of one. */
export function assertProblem(answer: SmokeAnswer, status: number, type: string): ProblemBody {
  assertStatus(answer, status);
  const { asked } = answer;
  const problem = assertJson(answer, problemSchemas[type] ?? problemSchema, /^application\/problem\+json\b/);
  assert(problem.type.endsWith(`/${type}`), `${asked}: type is ${problem.type}, which does not end in /${type}`);
  assert.equal(problem.status, status, `${asked}: the body has status ${problem.status}`);
  return problem;
}

/** The input is refused for exactly these faults, each a code and the parameter or JSON pointer that it is about. */
export function assertFaults(answer: SmokeAnswer, ...expected: string[]): void {
  const { errors = [] } = assertProblem(answer, 422, 'invalid-input');
  const found = errors.map((error) => `${error.code} ${'pointer' in error ? error.pointer : error.parameter}`).sort();
  assert.deepEqual(found, expected.sort(), `${answer.asked}: the faults are ${found.join(', ') || 'none'}`);
}
