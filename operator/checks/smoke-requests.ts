import assert from 'node:assert/strict';
import * as z from 'zod/mini';
import { validationAnswerSchema } from '../../core/contract.ts';
import type { ApiRequest } from '../../lambdas/canary/call-api.ts';
import {
  assertFaults,
  assertJson,
  assertProblem,
  assertStatus,
  inSection,
  type SmokeAnswer,
  type SmokeRun,
} from './smoke-check.ts';

const p = 'postcode=1012RJ';
const h = 'huisnummer=147';
const operations = ['/v1/address', '/v1/auth/validate'];
const valid = `/v1/address?${p}&${h}`;

/** Keys that must be refused: a missing key, and the valid one with each part altered, truncated or extended. */
function badKeys(key: string): (string | null)[] {
  const { length } = key;
  const altered = [length - 1, length - 12, length - 40]
    .filter((index) => index > 0)
    .map((index) => key.slice(0, index) + (key.at(index) === 'a' ? 'b' : 'a') + key.slice(index + 1));
  const others = ['', 'x', 'null', key.slice(0, -1), `${key}a`, `Bearer ${key}`, key.replace(/^[^_]*/, 'other')];
  return [null, ...others, ...altered];
}

async function refusal(
  { client }: SmokeRun,
  path: string,
  options: ApiRequest & { shown?: string },
): Promise<SmokeAnswer> {
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

const keyChecks = [
  ...inSection('validation', {
    async 'returns the label, plan and limits of a valid key'(run) {
      const answer = await run.client.send('/v1/auth/validate', { headers: { origin: 'https://example.org' } });
      assertStatus(answer, 200);
      run.limits = assertJson(answer, validationAnswerSchema).limits;
    },
  }),
  ...inSection('authentication', {
    async 'refuses a missing, malformed, made-up or altered key with the same 401'(run) {
      const refusals: SmokeAnswer[] = [];
      for (const path of ['/v1/auth/validate', valid, '/v1/address?postcode=x']) {
        for (const key of badKeys(run.options.key)) refusals.push(await refusal(run, path, { key }));
      }
      assertSameRefusal(refusals);
    },
    async 'reads a key in its header only'(run) {
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
    async 'says in a 401 how to authenticate'({ client }) {
      const { asked, headers } = await client.send('/v1/auth/validate', { key: null });
      // API Gateway may rename the header on its way from a Lambda function.
      const challenge = headers['www-authenticate'] ?? headers['x-amzn-remapped-www-authenticate'] ?? '';
      assert.match(challenge, /^[\w-]+/, `${asked}: WWW-Authenticate is "${challenge}"`);
    },
  }),
];

/** The headers of a browser that asks whether it may send a request. */
const preflight = { origin: 'https://example.org', 'access-control-request-method': 'GET' };

const documentSchema = z.looseObject({ openapi: z.string(), info: z.looseObject({ version: z.string() }) });

const pathChecks = inSection('paths and methods', {
  async 'returns 404 for any other path, also for one with a trailing slash'({ client }) {
    const others = ['/', '/v1', '/v1/', '/v2/address', '/v1/nothing', '/V1/address', '/v1/addresses/'];
    for (const path of [...others, ...operations.map((operation) => `${operation}/`)]) {
      assertProblem(await client.send(`${path}?${p}&${h}`), 404, 'not-found');
    }
  },
  async 'returns 405 with Allow: GET for any other method'({ client }) {
    for (const path of operations) {
      for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'HEAD']) {
        const answer = await client.send(`${path}?${p}&${h}`, { method, headers: preflight });
        if (method === 'HEAD') assertStatus(answer, 405);
        else assertProblem(answer, 405, 'method-not-allowed');
        assert.equal(answer.headers.allow, 'GET', `${answer.asked}: Allow is ${answer.headers.allow}`);
      }
    }
  },
  async 'publishes its OpenAPI document without a key, in the version that it reports'({ client }) {
    const answer = await client.send('/v1/openapi.json', { key: null });
    assertStatus(answer, 200);
    const { openapi, info } = assertJson(answer, documentSchema);
    assert.match(openapi, /^3\./, `${answer.asked}: openapi is ${openapi}`);
    const reported = answer.headers['api-version'];
    assert.equal(info.version, reported, `${answer.asked}: describes ${info.version}, API-Version is ${reported}`);
  },
});

/** Queries by the one fault that they have: its code and its parameter. */
const faulty: Record<string, string[]> = {
  'missing postcode': [h, `${h}&postcode=`, `${h}&postcode=+%20`],
  'missing huisnummer': [p, `${p}&huisnummer=`],
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
  'include-unknown include': [`${p}&${h}&include=straat`, `${p}&${h}&include=Toevoegingen`],
  'include-empty include': [`${p}&${h}&include=`, `${p}&${h}&include=toevoegingen,`],
  'include-repeated include': [`${p}&${h}&include=toevoegingen,toevoegingen`],
  'parameter-unknown huisletter': [`${p}&${h}&huisletter=b`, `${p}&${h}&huisletter=`],
  'parameter-unknown house_number': [`${p}&${h}&house_number=147`],
  'parameter-unknown toevoging': [`${p}&${h}&toevoging=A`],
  'parameter-unknown callback': [`${p}&${h}&callback=x`],
  'misplaced-key api_key': [`${p}&${h}&api_key=bagadres_example_key`],
  'duplicate postcode': [`${p}&${p}&${h}`, `${p}&postcode=2513AA&${h}`],
  'duplicate huisnummer': [`${p}&${h}&${h}`],
  'duplicate toevoeging': [`${p}&${h}&toevoeging=a&toevoeging=a`],
};

function invalid(parameter: string, rest: string, values: Record<string, string[]>): typeof faulty {
  return Object.fromEntries(
    Object.entries(values).map(([code, some]) => [
      `${code} ${parameter}`,
      some.map((value) => `${rest}&${parameter}=${value}`),
    ]),
  );
}

const inputChecks = inSection('input', {
  ...Object.fromEntries(
    Object.entries(faulty).map(([fault, queries]) => [
      `reports ${fault.replace(' ', ' of ')}`,
      async ({ client }: SmokeRun) => {
        for (const query of queries) assertFaults(await client.send(`/v1/address?${query}`), fault);
      },
    ]),
  ),
  async 'reports all faults of a request at once, one entry each'({ client }) {
    const answer = await client.send('/v1/address?huisnummer=0&toevoeging=a&toevoeging=b');
    assertFaults(answer, 'missing postcode', 'huisnummer-zero huisnummer', 'duplicate toevoeging');
  },
  async 'distinguishes letter case in names of parameters'({ client }) {
    const answer = await client.send(`/v1/address?Postcode=1012RJ&${h}`);
    assertFaults(answer, 'missing postcode', 'parameter-unknown Postcode');
  },
  async 'suggests the number and the toevoeging for 12A'({ client }) {
    const answer = await client.send(`/v1/address?${p}&huisnummer=12A`);
    const { errors: [fault] = [] } = assertProblem(answer, 422, 'invalid-input');
    const shown = `${answer.asked}: suggestion is ${JSON.stringify(fault?.suggestion)}`;
    assert.deepEqual(fault?.suggestion, { huisnummer: '12', toevoeging: 'A' }, shown);
  },
});

/** Keys, paths, methods and input: requests that do not count against the quota. */
export const requestChecks = [...keyChecks, ...pathChecks, ...inputChecks];
