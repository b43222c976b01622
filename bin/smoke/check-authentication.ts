import type { Answer, Asking } from './api.ts';
import { type Check, demand, demandJson, demandProblem, isText, type Limits, type Visit } from './check.ts';

const section = 'authentication';
const valid = '/v1/address?postcode=1012RJ&huisnummer=147';
const places = ['/v1/auth/validate', valid, '/v1/address?postcode=x'];

/** Keys that open nothing, and the whole of what their holders may learn: one and the same 401. */
export const authenticationChecks: Check[] = [
  {
    section,
    title: 'a missing, malformed, made-up or altered key is refused with one and the same 401',
    async run(visit) {
      const refusals: Answer[] = [];
      for (const path of places) {
        for (const key of badKeys(visit.options.key)) refusals.push(await refused(visit, path, { key }));
      }
      sameRefusal(refusals);
    },
  },
  {
    section,
    title: 'a key anywhere but in its header is no key',
    async run(visit) {
      const { key } = visit.options;
      const refusals: Answer[] = [];
      for (const name of ['key', 'api_key', 'apikey', 'x-api-key', 'X-API-Key']) {
        const path = `/v1/auth/validate?${name}=`;
        refusals.push(await refused(visit, path + encodeURIComponent(key), { key: null, shown: `${path}KEY` }));
      }
      for (const [name, value] of [
        ['authorization', `Bearer ${key}`],
        ['cookie', `x-api-key=${key}`],
      ] as const) {
        refusals.push(await refused(visit, valid, { key: null, headers: { [name]: value } }));
      }
      sameRefusal(refusals);
    },
  },
  {
    section,
    title: 'a 401 says how to authenticate',
    async run({ api }) {
      const answer = await api.send('/v1/auth/validate', { key: null });
      // API Gateway may rename the header on its way from a Lambda function.
      const challenge = answer.headers['www-authenticate'] ?? answer.headers['x-amzn-remapped-www-authenticate'] ?? '';
      demand(/^[\w-]+/.test(challenge), `${answer.asked}: WWW-Authenticate is "${challenge}"`);
    },
  },
];

/** Made from the good one: each part of it altered, cut, lengthened; and none at all. */
function badKeys(key: string): (string | null)[] {
  const altered = (index: number) => {
    const letter = key.at(index) === 'a' ? 'b' : 'a';
    return key.slice(0, index) + letter + key.slice(index + 1);
  };
  const { length } = key;
  const parts = [length - 1, length - 12, length - 40].filter((index) => index > 0).map(altered);
  return [
    null,
    '',
    'x',
    'null',
    key.slice(0, -1),
    `${key}a`,
    `Bearer ${key}`,
    key.replace(/^[^_]*/, 'other'),
    ...parts,
  ];
}

async function refused({ api }: Visit, path: string, asking: Asking): Promise<Answer> {
  const answer = await api.send(path, asking);
  demandProblem(answer, 401, 'unauthorized');
  return answer;
}

/** What differs from one request to the next by its nature. */
const ofTheRequest = new Set(['x-request-id', 'date', 'age', 'via', 'connection', 'keep-alive']);

function sameRefusal(answers: Answer[]): void {
  const [first, ...others] = answers.map(({ asked, text, headers, json }) => {
    const shown = Object.entries(headers).filter(([name]) => !ofTheRequest.has(name) && !/^(?:x-amz|apigw)/.test(name));
    return { asked, text: text.replaceAll(String(json?.request_id), 'ID'), headers: JSON.stringify(shown.sort()) };
  });
  for (const { asked, text, headers } of others) {
    demand(text === first?.text, `${asked} has another body than ${first?.asked}: ${text}`);
    demand(headers === first?.headers, `${asked} has other headers than ${first?.asked}: ${headers}`);
  }
}

const windows = ['minute', 'hour', 'day', 'month'];

/** What the holder of a key is told of it. */
export const validationChecks: Check[] = [
  {
    section: 'validation',
    title: 'a key that works is told its label, its plan and its limits',
    async run(visit) {
      const answer = await visit.api.send('/v1/auth/validate', { headers: { origin: 'https://example.org' } });
      const { valid, key_label, plan_code, limits } = demandJson(answer, ['valid', 'key_label', 'plan_code', 'limits']);
      demand(valid === true, `${answer.asked}: valid is ${valid}`);
      demand(isText(key_label) && isText(plan_code), `${answer.asked}: key_label or plan_code is no text`);
      demand(areLimits(limits), `${answer.asked}: limits are ${JSON.stringify(limits)}`);
      visit.limits = limits;
    },
  },
];

function areLimits(limits: unknown): limits is Limits {
  if (typeof limits !== 'object' || limits === null) return false;
  return Object.entries(limits).every(
    ([name, limit]) => windows.includes(name) && (limit === null || (Number.isInteger(limit) && limit >= 0)),
  );
}
