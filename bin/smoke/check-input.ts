import { isDeepStrictEqual } from 'node:util';
import type { Answer } from './api.ts';
import { type Check, demand, demandJson, demandMembers, demandProblem, demandStatus, isText } from './check.ts';

type Fault = { parameter: string; code: string };

const section = 'input';
const p = 'postcode=1012RJ';
const h = 'huisnummer=147';

/** Queries by the fault that they have, and what is wrong with each. */
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
  ['wrong-name', 'huisletter', [`${p}&${h}&huisletter=b`, `${p}&${h}&huisletter=`]],
  ['wrong-name', 'house_number', [`${p}&${h}&house_number=147`]],
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

/** What is refused before anything is charged. */
export const inputChecks: Check[] = [
  ...faulty.map(
    ([code, parameter, queries]) =>
      ({
        section,
        title: `${queries.length === 1 ? 'a' : `${queries.length} kinds of`} ${code} ${parameter} ${queries.length === 1 ? 'is' : 'are'} refused as such`,
        async run({ api }) {
          for (const query of queries) demandFaults(await api.send(`/v1/address?${query}`), [{ parameter, code }]);
        },
      }) satisfies Check,
  ),
  {
    section,
    title: 'all faults of a request are told at once, one entry a fault',
    async run({ api }) {
      const answer = await api.send('/v1/address?huisnummer=0&toevoeging=a&toevoeging=b');
      demandFaults(answer, [
        { parameter: 'postcode', code: 'missing' },
        { parameter: 'huisnummer', code: 'huisnummer-zero' },
        { parameter: 'toevoeging', code: 'duplicate' },
      ]);
    },
  },
  {
    section,
    title: 'names of parameters are told apart by letter case',
    async run({ api }) {
      demandFaults(await api.send(`/v1/address?Postcode=1012RJ&${h}`), [{ parameter: 'postcode', code: 'missing' }]);
    },
  },
];

function demandFaults(answer: Answer, expected: Fault[]): void {
  demandProblem(answer, 422, 'invalid-input');
  const { asked, json } = answer;
  const errors = (Array.isArray(json?.errors) ? json.errors : []) as Record<string, unknown>[];
  for (const error of errors) {
    demandMembers(answer, error, ['parameter', 'code', 'detail']);
    demand(isText(error.detail), `${asked}: a fault has no detail`);
  }
  const text = (faults: { parameter?: unknown; code?: unknown }[]) =>
    faults.map(({ parameter, code }) => `${code} ${parameter}`).sort();
  const found = text(errors);
  demand(isDeepStrictEqual(found, text(expected)), `${asked}: the faults are ${found.join(', ') || 'none'}`);
}

const operations = ['/v1/address', '/v1/auth/validate'];
const query = '?postcode=1012RJ&huisnummer=147';

/** A browser that asks whether it may. */
const preflight = { origin: 'https://example.org', 'access-control-request-method': 'GET' };

/** Paths and methods beside those of the two operations. */
export const pathChecks: Check[] = [
  {
    section: 'paths and methods',
    title: 'any other path is a 404, a trailing slash too',
    async run({ api }) {
      const others = ['/', '/v1', '/v1/', '/v2/address', '/v1/nothing', '/V1/address', '/v1/addresses'];
      for (const path of [...others, ...operations.map((operation) => `${operation}/`)]) {
        demandProblem(await api.send(path + query), 404, 'not-found');
      }
    },
  },
  {
    section: 'paths and methods',
    title: 'any other method is a 405 that allows GET',
    async run({ api }) {
      for (const path of operations) {
        for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'HEAD']) {
          const answer = await api.send(path + query, { method, headers: preflight });
          if (method === 'HEAD') demandStatus(answer, 405);
          else demandProblem(answer, 405, 'method-not-allowed');
          demand(answer.headers.allow === 'GET', `${answer.asked}: Allow is ${answer.headers.allow}`);
        }
      }
    },
  },
  {
    section: 'paths and methods',
    title: 'the interface publishes its description, without a key, in the version that it says it has',
    async run({ api }) {
      const answer = await api.send('/v1/openapi.json', { key: null });
      demandStatus(answer, 200);
      const { openapi, info } = demandJson(answer, Object.keys(answer.json ?? {})) as Record<
        string,
        { version?: unknown }
      >;
      demand(/^3\./.test(String(openapi)), `${answer.asked}: openapi is ${openapi}`);
      const version = answer.headers['api-version'];
      demand(info?.version === version, `${answer.asked}: describes ${info?.version}, API-Version says ${version}`);
    },
  },
];
