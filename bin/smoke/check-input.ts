import { isDeepStrictEqual } from 'node:util';
import type { Answer } from './api.ts';
import { type Check, demand } from './check.ts';
import { demandMembers, demandProblem, isText } from './demands.ts';

type Fault = { parameter: string; code: string };

const section = 'input';
const p = 'postcode=1012RJ';
const h = 'huisnummer=147';

/** Queries by the fault that they have, and what is wrong with each. */
const faulty: [code: string, parameter: string, queries: string[]][] = [
  ['missing', 'postcode', [h, `${h}&postcode=`, `${h}&postcode=+%20`]],
  ['missing', 'huisnummer', [p, `${p}&huisnummer=`]],
  [
    'invalid',
    'postcode',
    [
      '0123AB',
      '1234',
      '1234A',
      '1234ABC',
      'AB1234',
      '12345',
      '1234A1',
      '1234%09AB',
      '1234%C2%A0AB',
      '1234%C3%9F',
      '1234AB%00',
    ].map((value) => `${h}&postcode=${value}`),
  ],
  [
    'invalid',
    'huisnummer',
    [
      '0',
      '00000',
      '-1',
      '%2B1',
      '+1',
      '1+',
      '1.0',
      '1e3',
      '0x10',
      '100000',
      'een',
      '12A',
      '1%09',
      '%D9%A1',
      '1%00',
    ].map((value) => `${p}&huisnummer=${value}`),
  ],
  [
    'invalid',
    'toevoeging',
    ['ABCDEF', 'a-b', '%C3%A9', 'A%09', 'A%C2%A0', '_', '%00', 'a%2Fb'].map((value) => `${p}&${h}&toevoeging=${value}`),
  ],
  ['duplicate', 'postcode', [`${p}&${p}&${h}`, `${p}&postcode=2513AA&${h}`]],
  ['duplicate', 'huisnummer', [`${p}&${h}&${h}`]],
  ['duplicate', 'toevoeging', [`${p}&${h}&toevoeging=a&toevoeging=a`]],
];

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
        { parameter: 'huisnummer', code: 'invalid' },
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
