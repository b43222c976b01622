import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod/mini';
import type { Limits } from '../../core/accounts/quota.ts';
import * as contract from '../../core/contract.ts';
import {
  type ApiAnswer,
  type ApiRequest,
  callApi,
  NoAnswerError,
} from '../../lambdas/canary/call-api.ts';

/** An address as a person writes it, `1012RJ 147` or `1381AA 9 a`. */
export type WrittenAddress = { postcode: string; huisnummer: number; toevoeging: string };

/** The key to test with, and an address that exists. */
export type SmokeOptions = { key: string; address: WrittenAddress };

/** `asked` is `GET /v1/address?...`, for messages; it never has the key. */
export type SmokeAnswer = ApiAnswer & { asked: string };

/** `GET /v1/address?...`, with the key under test unless `key` is another one or null. */
type SentRequest = string | [ask: string, request: ApiRequest];

/** A fault of the input: its code, and the parameter or JSON pointer that has it. */
type Fault = { code: string; at: string };

/**
 * The expected response: a problem of this type, or JSON that follows the schema, with these
 * members at any depth.
 */
type Expected = {
  status: number;
  problem?: string;
  faults?: Fault[];
  schema?: z.ZodMiniType;
  body?: object;
  allow?: string;
};

/**
 * A guarantee of the API: requests, and the response that is expected to each, or to all
 * `together`.
 */
export type Guarantee = {
  title: string;
  send: SentRequest[];
  expected: Expected | null;
  /** Returns the fault that only all responses together show. */
  together?: ((answers: SmokeAnswer[]) => string | undefined) | undefined;
  /** Whether it makes lookups that count against the quota. */
  counts?: true;
};

/** The most lookups that a run counts against the quota. */
export const mostLookups = 11;

function row(
  title: string,
  send: SentRequest[],
  expected: Expected | null,
  together?: Guarantee['together'],
): Guarantee {
  return { title, send, expected, together };
}

function counting(
  title: string,
  send: SentRequest[],
  expected: Expected | null,
  together?: Guarantee['together'],
): Guarantee {
  return { ...row(title, send, expected, together), counts: true };
}

const ok = (body: object, schema: z.ZodMiniType = contract.lookupAnswerSchema): Expected => {
  return { status: 200, schema, body };
};
const problem = (status: number, type: string, allow?: string): Expected => {
  return { status, problem: type, ...(allow && { allow }) };
};
const faulty = (faults: Fault[]): Expected => ({ ...problem(422, 'invalid-input'), faults });

const withPostcode = 'postcode=1012RJ';
const withHuisnummer = 'huisnummer=147';
const validQuery = `${withPostcode}&${withHuisnummer}`;
const validate = 'GET /v1/auth/validate';
const lookup = `GET /v1/address?${validQuery}`;
const openapi = 'GET /v1/openapi.json';
const without = (ask: string): SentRequest => [ask, { key: null }];

export function lookupPath({ toevoeging, huisnummer, ...rest }: WrittenAddress): string {
  const query = new URLSearchParams({
    ...rest,
    huisnummer: `${huisnummer}`,
    ...(toevoeging && { toevoeging }),
  });
  return `/v1/address?${query}`;
}

const lookUp = (address: WrittenAddress, more = '') => `GET ${lookupPath(address)}${more}`;

/** The query with spaces, lower case, leading zeros and an empty toevoeging. */
function untidy({ postcode, huisnummer, toevoeging }: WrittenAddress): string {
  const spaced = ` ${postcode.slice(0, 2)} ${postcode.slice(2, 4)} ${postcode.slice(4).toLowerCase()} `;
  const query = { postcode: spaced, huisnummer: `${huisnummer}`.padStart(5, '0') };
  return `GET /v1/address?${new URLSearchParams({ ...query, toevoeging: ` ${[...toevoeging].join(' ')} ` })}`;
}

function sendMany(body: unknown, type = 'application/json'): SentRequest {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return ['POST /v1/addresses', { headers: { 'content-type': type }, body: text }];
}

/** A missing key, others, and the valid one with each part altered, cut off or extended. */
function badKeys(key: string): (string | null)[] {
  const altered = [1, 12, 40].map((fromEnd) => Math.max(0, key.length - fromEnd));
  const others = altered.map(
    (at) => key.slice(0, at) + (key[at] === 'a' ? 'b' : 'a') + key.slice(at + 1),
  );
  return [null, 'x', key.slice(0, -1), `${key}a`, `Bearer ${key}`, ...others];
}

/**
 * Queries, each with its faults: faults that something on the way might repair, and
 * one fault of each kind.
 */
const faultyQueries: { faults: Fault[]; queries: string[] }[] = [
  {
    faults: [{ code: 'missing', at: 'postcode' }],
    queries: [withHuisnummer, `${withHuisnummer}&postcode=+%20`],
  },
  {
    faults: [{ code: 'missing', at: 'huisnummer' }],
    queries: [withPostcode, `${withPostcode}&huisnummer=`],
  },
  {
    faults: [{ code: 'postcode-character', at: 'postcode' }],
    queries: [
      `${withHuisnummer}&postcode=1234-AB`,
      `${withHuisnummer}&postcode=1234%09AB`,
      `${withHuisnummer}&postcode=1234%C2%A0AB`,
      `${withHuisnummer}&postcode=1234AB%00`,
    ],
  },
  {
    faults: [{ code: 'postcode-leading-zero', at: 'postcode' }],
    queries: [`${withHuisnummer}&postcode=0123AB`],
  },
  {
    faults: [{ code: 'huisnummer-zero', at: 'huisnummer' }],
    queries: [`${withPostcode}&huisnummer=0`],
  },
  {
    faults: [{ code: 'huisnummer-space', at: 'huisnummer' }],
    queries: [`${withPostcode}&huisnummer=+1`, `${withPostcode}&huisnummer=1%09`],
  },
  {
    faults: [{ code: 'huisnummer-range', at: 'huisnummer' }],
    queries: [`${withPostcode}&huisnummer=12-14`],
  },
  {
    faults: [{ code: 'huisnummer-form', at: 'huisnummer' }],
    queries: [`${withPostcode}&huisnummer=%D9%A1`, `${withPostcode}&huisnummer=1%00`],
  },
  {
    faults: [{ code: 'toevoeging-character', at: 'toevoeging' }],
    queries: [
      `${validQuery}&toevoeging=%C3%A9`,
      `${validQuery}&toevoeging=A%C2%A0`,
      `${validQuery}&toevoeging=a%2Fb`,
    ],
  },
  {
    faults: [{ code: 'include-unknown', at: 'include' }],
    queries: [`${validQuery}&include=Toevoegingen`],
  },
  {
    faults: [{ code: 'parameter-unknown', at: 'callback' }],
    queries: [`${validQuery}&callback=x`],
  },
  {
    faults: [{ code: 'misplaced-key', at: 'api_key' }],
    queries: [`${validQuery}&api_key=bagadres_example_key`],
  },
  {
    faults: [{ code: 'duplicate', at: 'postcode' }],
    queries: [`${withPostcode}&${validQuery}`],
  },
  {
    faults: [{ code: 'duplicate', at: 'toevoeging' }],
    queries: [`${validQuery}&toevoeging=a&toevoeging=a`],
  },
  {
    faults: [
      { code: 'missing', at: 'postcode' },
      { code: 'parameter-unknown', at: 'Postcode' },
    ],
    queries: [`Postcode=1012RJ&${withHuisnummer}`],
  },
  {
    faults: [
      { code: 'missing', at: 'postcode' },
      { code: 'huisnummer-zero', at: 'huisnummer' },
      { code: 'duplicate', at: 'toevoeging' },
    ],
    queries: ['huisnummer=0&toevoeging=a&toevoeging=b'],
  },
];

const faultText = ({ code, at }: Fault) => `${code} ${at}`;

/** The table: first what costs no quota. */
export function rowsFor({ key, address }: SmokeOptions): Guarantee[] {
  const missing = { ...address, huisnummer: 99_999 };
  const { toevoeging, ...rest } = address;
  const sent = { ...rest, ...(toevoeging && { toevoeging }) };
  const found = { status: 'ok', request: { ...address, toevoeging: toevoeging || null } };
  const wrong = badKeys(key).flatMap((bad) =>
    [validate, lookup, 'GET /v1/address?postcode=x'].map((ask): SentRequest => [ask, { key: bad }]),
  );
  const inQuery = ['key', 'api_key', 'x-api-key'].map((name) =>
    without(`${validate}?${name}=${key}`),
  );
  const inHeader = { authorization: `Bearer ${key}`, cookie: `x-api-key=${key}` };
  const others = ['', 'v1', 'v2/address', 'V1/address', 'v1/address/', 'v1/addresses/'].map(
    (path) => `GET /${path}`,
  );
  const methods = ['POST', 'PUT', 'DELETE', 'OPTIONS', 'HEAD'].flatMap((method) =>
    [validate, lookup].map(
      (ask): SentRequest => [ask.replace('GET', method), { headers: preflight }],
    ),
  );
  const uncounted = [
    `GET /v1/address/?${validQuery}`,
    lookup.replace('GET', 'POST'),
    'GET /v1/address?postcode=0000AA',
  ];
  const batch = sendMany({ addresses: [sent, { ...sent, huisnummer: '99999' }, sent] });
  const faultyBody = {
    addresses: [
      { postcode: '0123AB', huisnummer: '12A' },
      { ...sent, note: 'x' },
    ],
    include: ['x'],
  };
  const faultsOfBody: Fault[] = [
    { code: 'include-unknown', at: '/include/0' },
    { code: 'postcode-leading-zero', at: '/addresses/0/postcode' },
    { code: 'huisnummer-with-toevoeging', at: '/addresses/0/huisnummer' },
    { code: 'unknown-member', at: '/addresses/1/note' },
  ];
  const included = { address: { gemeente: {}, nummeraanduidingen: {} }, toevoegingen: {} };
  return [
    row(
      'returns the label, plan and limits of a key',
      [validate],
      ok({}, contract.validationAnswerSchema),
    ),
    row(
      'refuses any other key with the same 401, before the input',
      wrong,
      problem(401, 'unauthorized'),
      differing,
    ),
    row('takes no key from the query', inQuery, problem(401, 'unauthorized')),
    row(
      'takes no key from other headers',
      [[lookup, { key: null, headers: inHeader }]],
      problem(401, 'unauthorized'),
    ),
    row(
      'returns 404 for any other path, also for one with a trailing slash',
      others,
      problem(404, 'not-found'),
    ),
    row(
      'returns 405 with Allow: GET for any other method',
      methods,
      problem(405, 'method-not-allowed', 'GET'),
    ),
    row(
      'publishes its OpenAPI document without a key, in its version',
      [without(openapi)],
      null,
      otherVersion,
    ),
    ...faultyQueries.map(({ faults, queries }) => {
      const asked = queries.map((query) => `GET /v1/address?${query}`);
      return row(`reports ${faults.map(faultText).join(', ')}`, asked, faulty(faults));
    }),
    row(
      'reports every fault of the body of many at its JSON pointer',
      [sendMany(faultyBody)],
      faulty(faultsOfBody),
    ),
    row(
      'refuses 101 addresses',
      [sendMany({ addresses: Array(101).fill(sent) })],
      problem(422, 'invalid-input'),
    ),
    row(
      'refuses a body over 64 KB',
      [sendMany('x'.repeat(64 * 1024 + 1))],
      problem(413, 'content-too-large'),
    ),
    row(
      'refuses a body that is not JSON',
      [sendMany('{}', 'text/plain')],
      problem(415, 'unsupported-media-type'),
    ),
    row('allows no GET of many', ['GET /v1/addresses'], problem(405, 'method-not-allowed', 'POST')),
    counting(
      'counts one unit for a lookup and none for a refusal, and reports the remainder of each limit',
      [lookUp(address), validate, ...uncounted, without(lookup), lookUp(address)],
      null,
      miscounted,
    ),
    counting(
      'finds the address, however it is written',
      [lookUp(address), untidy(address)],
      ok(found),
      differing,
    ),
    counting('adds what include asks for', [lookUp(address, include)], ok(included)),
    counting(
      'returns not_found for an address that does not exist, with the request in the letter case sent',
      [lookUp({ ...missing, toevoeging: 'z Z 9' })],
      ok({ status: 'not_found', request: { ...missing, toevoeging: 'zZ9' } }),
    ),
    counting(
      'returns for each of many addresses, in order, the same as the single lookup',
      [batch, lookUp(address), lookUp(missing)],
      null,
      differingFromSingle,
    ),
  ];
}

const include = '&include=gemeente,nummeraanduidingen,toevoegingen';

/** The headers of a browser that asks whether it may send a request. */
const preflight = { origin: 'https://example.org', 'access-control-request-method': 'GET' };

/** The rules for every response of a run, by title: each returns the fault. */
const everyResponse: Record<
  string,
  (answer: SmokeAnswer, key: string, earlier: SmokeAnswer[]) => unknown
> = {
  'forbids caches': ({ headers }) =>
    !headers['cache-control']?.includes('no-store') && 'no no-store',
  'forbids content sniffing': ({ headers }) =>
    headers['x-content-type-options'] !== 'nosniff' && 'no nosniff',
  'forbids plain HTTP': ({ headers }) =>
    !/max-age=[1-9]/.test(headers['strict-transport-security'] ?? '') && 'no HSTS',
  'has the version of the API': ({ headers }) =>
    !/^\d+(\.\d+){2}$/.test(headers['api-version'] ?? '') && 'no version',
  'has no CORS headers': ({ headers }) =>
    Object.keys(headers).find((name) => name.startsWith('access-control-')),
  'reveals nothing of the inside': ({ status, headers }) =>
    status >= 500 ? status : headers['x-powered-by'],
  'comes within five seconds': ({ milliseconds }) =>
    milliseconds >= 5_000 && `took ${Math.round(milliseconds)} ms`,
  // API Gateway may rename the header on its way from a Lambda function.
  'says in a 401 how to authenticate': ({ status, headers }) =>
    status === 401 &&
    !Object.keys(headers).some((name) => name.endsWith('www-authenticate')) &&
    'no WWW-Authenticate',
  'has a request id of its own, which a problem repeats'(
    { headers: { 'x-request-id': id }, json },
    _,
    earlier,
  ) {
    if (!id || (json?.request_id ?? id) !== id) {
      return `X-Request-Id is ${id}, request_id ${json?.request_id}`;
    }
    return earlier.some(({ headers }) => headers['x-request-id'] === id) && `${id} was used before`;
  },
  'never has the key': ({ text, headers }, key) =>
    (text + JSON.stringify(headers)).includes(key) && 'has the key',
};

const none: SmokeAnswer = {
  asked: '',
  status: 0,
  headers: {},
  text: '',
  json: null,
  milliseconds: 0,
};

/** Whether a value has all members of `part`, at any depth. */
function has(value: unknown, part: unknown): boolean {
  if (typeof part !== 'object' || part === null) return value === part;
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(part).every(([name, inner]) =>
    has((value as Record<string, unknown>)[name], inner),
  );
}

const problemSchemas: Record<string, z.ZodMiniType> = {
  'invalid-input': z.union([contract.invalidInputSchema, contract.invalidBodySchema]),
  'quota-exceeded': contract.quotaExceededSchema,
};

function faultIn(answer: SmokeAnswer, expected: Expected): string | undefined {
  const { asked, headers, json, text } = answer;
  const {
    status,
    problem,
    faults,
    allow,
    body = problem === undefined ? {} : { status },
  } = expected;
  if (answer.status !== status) return `${asked} returns ${answer.status}, not ${status}`;
  if (allow !== undefined && headers.allow !== allow) return `${asked}: Allow is ${headers.allow}`;
  if (asked.startsWith('HEAD')) return undefined;
  const type = problem === undefined ? 'application/json' : 'application/problem+json';
  if (!headers['content-type']?.startsWith(type)) {
    return `${asked}: Content-Type is ${headers['content-type']}`;
  }
  const schema = expected.schema ?? problemSchemas[problem ?? ''] ?? contract.problemSchema;
  const { data, error } = z.safeParse(schema, json);
  if (error) return `${asked} is not as the contract says: ${z.prettifyError(error)}`;
  // Parsing leaves out members that the schema does not name.
  if (!isDeepStrictEqual(data, json)) {
    return `${asked} has members that the contract does not have: ${text}`;
  }
  if (problem !== undefined && !`${json?.type}`.endsWith(`/${problem}`)) {
    return `${asked}: type is ${json?.type}`;
  }
  if (!has(json, body)) return `${asked}: ${text} does not have ${JSON.stringify(body)}`;
  const errors = (json?.errors ?? []) as { code: string; pointer?: string; parameter?: string }[];
  const found = errors
    .map(({ code, pointer, parameter }) => faultText({ code, at: `${pointer ?? parameter}` }))
    .sort();
  return !faults || isDeepStrictEqual(found, faults.map(faultText).sort())
    ? undefined
    : `${asked}: the faults are ${found}`;
}

/** Headers that differ between any two responses. */
const varying =
  /^(?:x-request-id|date|age|via|connection|keep-alive|content-length|ratelimit|x-amz.*|apigw.*)$/;

/** Which response is not the same as the first one, apart from its ids and times. */
function differing(answers: SmokeAnswer[]): string | undefined {
  const shown = ({ text, headers, json }: SmokeAnswer) =>
    JSON.stringify([
      text.replaceAll(String(json?.request_id), 'ID'),
      ...Object.entries(headers).filter(([name]) => !varying.test(name)),
    ]);
  const [first = none, ...others] = answers;
  const other = others.find((answer) => shown(answer) !== shown(first));
  return other && `${other.asked} differs from ${first.asked}: ${shown(other)}`;
}

function differingFromSingle([many, here, gone]: SmokeAnswer[]): string | undefined {
  const single = [here, gone, here].map((answer) => answer?.json);
  return isDeepStrictEqual(many?.json?.results, single)
    ? undefined
    : `the results are ${many?.text}`;
}

function otherVersion([{ json, headers } = none]: SmokeAnswer[]): string | undefined {
  const isSame = has(json, { info: { version: headers['api-version'] } });
  return isSame ? undefined : `it describes ${JSON.stringify(json?.info)}`;
}

/**
 * The fault in the RateLimit fields of the first, the second (a validation) and the last response.
 */
function miscounted([before = none, validation = none, ...others]: SmokeAnswer[]):
  | string
  | undefined {
  const after = others.at(-1) ?? none;
  const limits = Object.entries((validation.json?.limits ?? {}) as Limits).filter(
    ([, limit]) => limit !== null,
  );
  const { 'ratelimit-policy': policy = '', ratelimit } = after.headers;
  const isComplete = limits.every(([name, limit]) => policy.includes(`"${name}";q=${limit};`));
  if (!isComplete || policy.split('"').length !== 2 * limits.length + 1) {
    return `RateLimit-Policy is ${policy}, but the limits are ${JSON.stringify(limits)}`;
  }
  if (limits.length === 0) return ratelimit && 'RateLimit for an account without limits';
  const atFirst = leftIn(before);
  const afterValidation = leftIn(validation);
  const atLast = leftIn(after);
  if (!atFirst || !afterValidation || !atLast)
    return `a response has no RateLimit; the last one is ${ratelimit}`;
  if (atFirst.window !== atLast.window || atLast.resets > atFirst.resets) {
    throw new Skip('a time window ended: run it again');
  }
  if (atFirst.left !== afterValidation.left) {
    return `a validation says that ${afterValidation.left} are left; the lookup before, ${atFirst.left}`;
  }
  const counted = atFirst.left - atLast.left;
  return counted === 1
    ? undefined
    : `two lookups counted ${counted} units: use an account that nobody else uses`;
}

function leftIn({ headers }: SmokeAnswer) {
  const [, window, left, resets] = /^"(\w+)";r=(\d+);t=(\d+)$/.exec(headers.ratelimit ?? '') ?? [];
  return window === undefined ? undefined : { window, left: Number(left), resets: Number(resets) };
}

/** A row can't be tested here; the message says why. */
class Skip extends Error {}

/** No lookup is made when fewer units are left: a run must not use up a customer's quota. */
const minimumLeft = 20;

export type RowResult = {
  title: string;
  state: 'passed' | 'failed' | 'skipped';
  reason: string | null;
};

/** Runs the rows against an API. @throws NoAnswerError if the first request gets no response */
export async function runSmoke(baseUrl: string, options: SmokeOptions, rows = rowsFor(options)) {
  const answers: SmokeAnswer[] = [];
  async function send(sent: SentRequest): Promise<SmokeAnswer> {
    const [ask, request] = typeof sent === 'string' ? [sent, {}] : sent;
    const [method = '', path = ''] = ask.split(' ');
    const asked = ask.replaceAll(options.key, 'KEY');
    const url = baseUrl.replace(/\/+$/, '') + path;
    const answer = await callApi(url, { method, key: options.key, ...request }).catch(
      ({ message }: Error) => {
        throw new NoAnswerError(`no answer to ${asked}: ${message}`);
      },
    );
    answers.push({ asked, ...answer });
    return { asked, ...answer };
  }
  async function faultOf({
    send: requests,
    expected,
    together,
    counts,
  }: Guarantee): Promise<string | undefined> {
    const left =
      answers.map(leftIn).findLast((remainder) => remainder !== undefined)?.left ?? minimumLeft;
    if (counts && left < minimumLeft) throw new Skip(`the account has only ${left} units left`);
    const found: SmokeAnswer[] = [];
    for (const sent of requests) found.push(await send(sent));
    if (found.some(({ status }) => status === 429)) throw new Skip('the account has no quota left');
    const [fault] = expected ? found.flatMap((answer) => faultIn(answer, expected) ?? []) : [];
    return fault ?? together?.(found);
  }
  const results: RowResult[] = [];
  for (const row of rows) {
    const reason = await faultOf(row).catch((error: Error) => {
      if (error instanceof Skip || (error instanceof NoAnswerError && answers.length > 0)) {
        return error;
      }
      throw error;
    });
    const state = reason instanceof Skip ? 'skipped' : reason ? 'failed' : 'passed';
    results.push({
      title: row.title,
      state,
      reason: reason instanceof Error ? reason.message : (reason ?? null),
    });
  }
  for (const [title, examine] of Object.entries(everyResponse)) {
    const faults = answers.flatMap((answer, index) => {
      const fault = examine(answer, options.key, answers.slice(0, index));
      return fault ? [`${answer.asked}: ${fault}`] : [];
    });
    const reason =
      faults.length > 1 ? `${faults[0]}, and ${faults.length - 1} more` : (faults[0] ?? null);
    results.push({
      title: `every response ${title}`,
      state: reason === null ? 'passed' : 'failed',
      reason,
    });
  }
  return { results, answers };
}
