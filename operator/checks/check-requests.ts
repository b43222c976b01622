import assert from 'node:assert/strict';
import type { Limits } from '../../core/accounts/quota.ts';
import { isWindowName } from '../../core/calendar.ts';
import {
  assertJson,
  assertMembers,
  assertProblem,
  assertStatus,
  assertText,
  type Check,
  type RequestOptions,
  type Run,
  type SmokeAnswer,
} from './check.ts';

const p = 'postcode=1012RJ';
const h = 'huisnummer=147';
const operations = ['/v1/address', '/v1/auth/validate'];
const valid = `/v1/address?${p}&${h}`;

function isLimits(limits: unknown): limits is Limits {
  if (typeof limits !== 'object' || limits === null) return false;
  return Object.entries(limits).every(
    ([name, limit]) => isWindowName(name) && (limit === null || (Number.isInteger(limit) && limit >= 0)),
  );
}

/** Keys that must be refused: a missing key, and the valid one with each part altered, truncated or extended. */
function badKeys(key: string): (string | null)[] {
  const { length } = key;
  const altered = [length - 1, length - 12, length - 40]
    .filter((index) => index > 0)
    .map((index) => key.slice(0, index) + (key.at(index) === 'a' ? 'b' : 'a') + key.slice(index + 1));
  const others = ['', 'x', 'null', key.slice(0, -1), `${key}a`, `Bearer ${key}`, key.replace(/^[^_]*/, 'other')];
  return [null, ...others, ...altered];
}

async function refusal({ client }: Run, path: string, options: RequestOptions): Promise<SmokeAnswer> {
  const answer = await client.send(path, options);
  assertProblem(answer, 401, 'unauthorized');
  return answer;
}

/** Headers that differ between any two responses. */
const varying = /^(?:x-request-id|date|age|via|connection|keep-alive|x-amz.*|apigw.*)$/;

function assertSameRefusal(answers: SmokeAnswer[]): void {
  const [first, ...others] = answers.map(({ asked, text, headers, json }) => ({
    asked,
    text: text.replaceAll(String(json?.request_id), 'ID'),
    headers: JSON.stringify(
      Object.entries(headers)
        .filter(([name]) => !varying.test(name))
        .sort(),
    ),
  }));
  for (const { asked, text, headers } of others) {
    assert.equal(text, first?.text, `${asked} has another body than ${first?.asked}: ${text}`);
    assert.equal(headers, first?.headers, `${asked} has other headers than ${first?.asked}: ${headers}`);
  }
}

const keyChecks: Check[] = [
  {
    section: 'validation',
    title: 'returns the label, plan and limits of a valid key',
    async run(run) {
      const answer = await run.client.send('/v1/auth/validate', { headers: { origin: 'https://example.org' } });
      const members = ['valid', 'key_label', 'plan_code', 'limits'];
      const { valid, key_label, plan_code, limits } = assertJson(answer, members);
      assert.equal(valid, true, `${answer.asked}: valid is ${valid}`);
      assertText(answer, 'key_label', key_label);
      assertText(answer, 'plan_code', plan_code);
      assert(isLimits(limits), `${answer.asked}: limits are ${JSON.stringify(limits)}`);
      run.limits = limits;
    },
  },
  {
    section: 'authentication',
    title: 'refuses a missing, malformed, made-up or altered key with the same 401',
    async run(run) {
      const refusals: SmokeAnswer[] = [];
      for (const path of ['/v1/auth/validate', valid, '/v1/address?postcode=x']) {
        for (const key of badKeys(run.options.key)) refusals.push(await refusal(run, path, { key }));
      }
      assertSameRefusal(refusals);
    },
  },
  {
    section: 'authentication',
    title: 'reads a key in its header only',
    async run(run) {
      const { key } = run.options;
      const refusals: SmokeAnswer[] = [];
      for (const name of ['key', 'api_key', 'apikey', 'x-api-key', 'X-API-Key']) {
        const path = `/v1/auth/validate?${name}=`;
        refusals.push(await refusal(run, path + encodeURIComponent(key), { key: null, shown: `${path}KEY` }));
      }
      for (const [name, value] of [
        ['authorization', `Bearer ${key}`],
        ['cookie', `x-api-key=${key}`],
      ] as const) {
        refusals.push(await refusal(run, valid, { key: null, headers: { [name]: value } }));
      }
      assertSameRefusal(refusals);
    },
  },
  {
    section: 'authentication',
    title: 'says in a 401 how to authenticate',
    async run({ client }) {
      const { asked, headers } = await client.send('/v1/auth/validate', { key: null });
      // API Gateway may rename the header on its way from a Lambda function.
      const challenge = headers['www-authenticate'] ?? headers['x-amzn-remapped-www-authenticate'] ?? '';
      assert.match(challenge, /^[\w-]+/, `${asked}: WWW-Authenticate is "${challenge}"`);
    },
  },
];

/** The headers of a browser that asks whether it may send a request. */
const preflight = { origin: 'https://example.org', 'access-control-request-method': 'GET' };

const pathChecks: Check[] = [
  {
    section: 'paths and methods',
    title: 'returns 404 for any other path, also for one with a trailing slash',
    async run({ client }) {
      const others = ['/', '/v1', '/v1/', '/v2/address', '/v1/nothing', '/V1/address', '/v1/addresses/'];
      for (const path of [...others, ...operations.map((operation) => `${operation}/`)]) {
        assertProblem(await client.send(`${path}?${p}&${h}`), 404, 'not-found');
      }
    },
  },
  {
    section: 'paths and methods',
    title: 'returns 405 with Allow: GET for any other method',
    async run({ client }) {
      for (const path of operations) {
        for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'HEAD']) {
          const answer = await client.send(`${path}?${p}&${h}`, { method, headers: preflight });
          if (method === 'HEAD') assertStatus(answer, 405);
          else assertProblem(answer, 405, 'method-not-allowed');
          assert.equal(answer.headers.allow, 'GET', `${answer.asked}: Allow is ${answer.headers.allow}`);
        }
      }
    },
  },
  {
    section: 'paths and methods',
    title: 'publishes its OpenAPI document without a key, in the version that it reports',
    async run({ client }) {
      const answer = await client.send('/v1/openapi.json', { key: null });
      assertStatus(answer, 200);
      const { openapi, info } = assertJson(answer, Object.keys(answer.json ?? {}));
      assert.match(String(openapi), /^3\./, `${answer.asked}: openapi is ${openapi}`);
      const described = (info as { version?: unknown } | undefined)?.version;
      const reported = answer.headers['api-version'];
      assert.equal(described, reported, `${answer.asked}: describes ${described}, API-Version is ${reported}`);
    },
  },
];

/** Queries by the one fault that they have: its code, its parameter. */
const faulty: [code: string, parameter: string, queries: string[]][] = [
  ['missing', 'postcode', [h, `${h}&postcode=`, `${h}&postcode=+%20`]],
  ['missing', 'huisnummer', [p, `${p}&huisnummer=`]],
  ...invalid('postcode', h, {
    'postcode-leading-zero': ['0123AB'],
    'postcode-incomplete': ['1234', '1234A', '1012+J'],
    'postcode-too-long': ['1234ABC'],
    'postcode-form': ['AB1234', '12345', '1234A1'],
    'postcode-character': ['1234-AB', '1234%09AB', '1234%C2%A0AB', '1234%C3%9F', '1234AB%00'],
  }),
  ...invalid('huisnummer', p, {
    'huisnummer-zero': ['0', '00000'],
    'huisnummer-sign': ['-1', '%2B1'],
    'huisnummer-space': ['+1', '1+', '1%09'],
    'huisnummer-decimal': ['1.0'],
    'huisnummer-with-toevoeging': ['12A', '1e3'],
    'huisnummer-range': ['12-14'],
    'huisnummer-too-long': ['100000', '000147'],
    'huisnummer-form': ['0x10', 'een', '%D9%A1', '1%00'],
  }),
  ...invalid('toevoeging', `${p}&${h}`, {
    'toevoeging-character': ['a-b', '%C3%A9', 'A%09', 'A%C2%A0', '_', '%00', 'a%2Fb'],
    'toevoeging-too-long': ['ABCDEF', 'tweehoog'],
  }),
  ['include-unknown', 'include', [`${p}&${h}&include=straat`, `${p}&${h}&include=Toevoegingen`]],
  ['include-empty', 'include', [`${p}&${h}&include=`, `${p}&${h}&include=toevoegingen,`]],
  ['include-repeated', 'include', [`${p}&${h}&include=toevoegingen,toevoegingen`]],
  ['wrong-name', 'huisletter', [`${p}&${h}&huisletter=b`, `${p}&${h}&huisletter=`]],
  ['wrong-name', 'house_number', [`${p}&${h}&house_number=147`]],
  ['wrong-name', 'toevoging', [`${p}&${h}&toevoging=A`]],
  ['misplaced-key', 'api_key', [`${p}&${h}&api_key=bagadres_example_key`]],
  ['duplicate', 'postcode', [`${p}&${p}&${h}`, `${p}&postcode=2513AA&${h}`]],
  ['duplicate', 'huisnummer', [`${p}&${h}&${h}`]],
  ['duplicate', 'toevoeging', [`${p}&${h}&toevoeging=a&toevoeging=a`]],
];

function invalid(parameter: string, rest: string, values: Record<string, string[]>): typeof faulty {
  return Object.entries(values).map(([code, some]) => [
    code,
    parameter,
    some.map((value) => `${rest}&${parameter}=${value}`),
  ]);
}

type Fault = { parameter: string; code: string };

function assertFaults(answer: SmokeAnswer, expected: Fault[]): void {
  assertProblem(answer, 422, 'invalid-input');
  const { asked, json } = answer;
  const errors = (Array.isArray(json?.errors) ? json.errors : []) as Record<string, unknown>[];
  for (const error of errors) {
    const { suggestion, ...always } = error;
    assertMembers(answer, always, ['parameter', 'code', 'detail']);
    assertText(answer, 'detail of a fault', error.detail);
    if (suggestion !== undefined) assertSuggestion(answer, suggestion);
  }
  const text = (faults: Partial<Record<keyof Fault, unknown>>[]) =>
    faults.map(({ parameter, code }) => `${code} ${parameter}`).sort();
  const found = text(errors);
  assert.deepEqual(found, text(expected), `${asked}: the faults are ${found.join(', ') || 'none'}`);
}

/** An object of one or more parameters to send, as texts. */
function assertSuggestion({ asked }: SmokeAnswer, suggestion: unknown): void {
  const values = typeof suggestion === 'object' && suggestion !== null ? Object.entries(suggestion) : [];
  const isOne = values.length > 0 && values.every(([, value]) => typeof value === 'string');
  assert(isOne, `${asked}: suggestion is ${JSON.stringify(suggestion)}, not parameters with texts`);
}

const inputChecks: Check[] = [
  ...faulty.map(([code, parameter, queries]) => ({
    section: 'input',
    title: `reports ${code} of ${parameter}`,
    async run({ client }: Run) {
      for (const query of queries) assertFaults(await client.send(`/v1/address?${query}`), [{ parameter, code }]);
    },
  })),
  {
    section: 'input',
    title: 'reports all faults of a request at once, one entry each',
    async run({ client }) {
      const answer = await client.send('/v1/address?huisnummer=0&toevoeging=a&toevoeging=b');
      assertFaults(answer, [
        { parameter: 'postcode', code: 'missing' },
        { parameter: 'huisnummer', code: 'huisnummer-zero' },
        { parameter: 'toevoeging', code: 'duplicate' },
      ]);
    },
  },
  {
    section: 'input',
    title: 'distinguishes letter case in names of parameters',
    async run({ client }) {
      const answer = await client.send(`/v1/address?Postcode=1012RJ&${h}`);
      assertFaults(answer, [
        { parameter: 'postcode', code: 'missing' },
        { parameter: 'Postcode', code: 'wrong-name' },
      ]);
    },
  },
  {
    section: 'input',
    title: 'suggests the number and the toevoeging for 12A',
    async run({ client }) {
      const answer = await client.send(`/v1/address?${p}&huisnummer=12A`);
      const [fault] = Array.isArray(answer.json?.errors) ? answer.json.errors : [];
      assert.deepEqual(
        fault?.suggestion,
        { huisnummer: '12', toevoeging: 'A' },
        `${answer.asked}: suggestion is ${JSON.stringify(fault?.suggestion)}`,
      );
    },
  },
];

/** Keys, paths, methods and input: requests that do not count against the quota. */
export const requestChecks: readonly Check[] = [...keyChecks, ...pathChecks, ...inputChecks];
