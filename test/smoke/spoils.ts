import type { Passing, Returning, Spoil } from './spoiling-proxy.ts';

/** Which answers are spoiled. */
type When = (returning: Returning, passing: Passing) => boolean;
/** The body of an answer, as far as it matters here. */
type Body = {
  status?: unknown;
  limits?: object;
  address?: object;
  candidates: object[];
  errors: object[];
  results: object[];
};

const status =
  (wanted: number): When =>
  (returning) =>
    returning.status === wanted;
const lookedUp: When = (returning, { url }) =>
  returning.status === 200 && url.pathname === '/v1/address';
const lookedUpAll: When = (returning, { url }) =>
  returning.status === 200 && url.pathname === '/v1/addresses';
const validated: When = (returning, { url }) =>
  returning.status === 200 && url.pathname === '/v1/auth/validate';
const refused = status(401);
const refusedIf =
  (isIt: (passing: Passing) => boolean): When =>
  (returning, passing) =>
    refused(returning, passing) && isIt(passing);
const keyOf = ({ headers }: Passing) => headers['x-api-key'];

/** Changes the answers that `when` finds. */
function answers(when: When, change: (returning: Returning, passing: Passing) => void): Spoil {
  return {
    answer: (returning, passing) => void (when(returning, passing) && change(returning, passing)),
  };
}

function header(name: string, value?: string, when: When = always): Spoil {
  return answers(when, ({ headers }) => {
    delete headers[name];
    if (value !== undefined) headers[name] = value;
  });
}

const statusOf = (when: When, status: number) =>
  answers(when, (one) => Object.assign(one, { status }));

function body(when: When, change: (body: Body) => object): Spoil {
  return answers(when, (one) => {
    if (one.body !== '') one.body = JSON.stringify(change(JSON.parse(one.body)));
  });
}

const always: When = () => true;

function text(from: string, to: string | ((passing: Passing) => string)): Spoil {
  return answers(always, (one, passing) => {
    one.body = one.body.replaceAll(from, typeof to === 'string' ? to : to(passing));
  });
}

function query(from: RegExp, to: string): Spoil {
  return {
    request: ({ url }) => void Object.assign(url, { search: url.search.replace(from, to) }),
  };
}

function path(from: RegExp, to: string): Spoil {
  return {
    request: ({ url }) => void Object.assign(url, { pathname: url.pathname.replace(from, to) }),
  };
}

function keyFrom(read: (passing: Passing) => string | null | undefined): Spoil {
  return {
    request: (passing) =>
      void (read(passing) && Object.assign(passing.headers, { 'x-api-key': read(passing) })),
  };
}

function chargedAlso(when: When): Spoil {
  return {
    async answer(returning, passing, again) {
      if (!when(returning, passing)) return;
      passing.url.search = '?postcode=1012RJ&huisnummer=147';
      await again();
    },
  };
}

/** Answers have these members too, or other values of them. */
const members = (when: When, some: object) => body(when, (body) => ({ ...body, ...some }));

const place = { straat: 'a', woonplaats: 'b' };
const notFound = (body: Body) => ({
  ...body,
  status: 'not_found',
  address: null,
  toevoegingen: [],
});

/** Ways in which a service breaks its contract, each with the one check that has to notice. */
export const spoils: [misbehaviour: string, spoil: Spoil, guarantee: RegExp][] = [
  ['allows CORS', header('access-control-allow-origin', '*'), /CORS/],
  ['allows responses to be cached', header('cache-control', 'max-age=60'), /forbids caches/],
  ['forgets HSTS', header('strict-transport-security'), /forbids plain HTTP/],
  ['forgets nosniff', header('x-content-type-options'), /content sniffing/],
  ['names no version', header('api-version'), /version of the API/],
  ['returns the same request id for all requests', header('x-request-id', 'one'), /request id/],
  ['has another request id in a problem', members(refused, { request_id: 'x' }), /request id/],
  ['reveals its software', header('x-powered-by', 'x'), /nothing of the inside/],
  [
    'repeats the key',
    text('"valid":true', (one) => `"valid":true,"of":"${keyOf(one)}"`),
    /never has the key/,
  ],

  [
    'reveals a malformed key',
    members(
      refusedIf((one) => keyOf(one) === 'x'),
      { detail: 'Malformed.' },
    ),
    /same 401/,
  ],
  [
    'reveals a missing key by a header',
    header(
      'x-reason',
      'missing',
      refusedIf((one) => !keyOf(one)),
    ),
    /same 401/,
  ],
  [
    'checks input before the key',
    statusOf(
      refusedIf(({ url }) => url.search === '?postcode=x'),
      422,
    ),
    /same 401/,
  ],
  [
    'accepts a key in the query',
    keyFrom(({ url }) => url.searchParams.get('key')),
    /from the query/,
  ],
  [
    'accepts a bearer token',
    keyFrom(({ headers }) => headers.authorization?.slice(7)),
    /from other headers/,
  ],
  ['does not say how to authenticate', header('www-authenticate'), /how to authenticate/],
  [
    'has a limit of another window',
    members(status(200), { limits: { decade: 5 } }),
    /plan and limits of a key/,
  ],
  [
    'reveals more about a key than it should',
    members(status(200), { secret: 'x' }),
    /plan and limits of a key/,
  ],

  ['drops a trailing slash', path(/(.)\/$/, '$1'), /trailing slash/],
  [
    'responds in HTML',
    { answer: (one) => void (one.status === 404 && Object.assign(one, { body: '<html>' })) },
    /404/,
  ],
  ['forgets Allow', header('allow'), /405/],
  [
    'accepts POST',
    { request: (one) => void (one.method === 'POST' && Object.assign(one, { method: 'GET' })) },
    /405/,
  ],
  [
    'describes another version',
    members(status(200), { info: { version: '0.0.1' } }),
    /publishes its OpenAPI/,
  ],

  ['refuses input with 400', statusOf(status(422), 400), /reports missing postcode$/],
  [
    'reports only one error',
    body(status(422), (body) => ({ ...body, errors: body.errors.slice(0, 1) })),
    /missing postcode, huisnummer-zero/,
  ],
  ['has other codes', text('"duplicate"', '"twice"'), /duplicate postcode/],
  [
    'writes problems as plain JSON',
    header('content-type', 'application/json', status(422)),
    /huisnummer-range/,
  ],
  [
    'accepts 0 as a huisnummer',
    query(/huisnummer=0(&|$)/, 'huisnummer=1$1'),
    /reports huisnummer-zero/,
  ],
  ['treats a tab as a space', query(/%09/, '+'), /postcode-character/],
  ['uses the first of two values', query(/&toevoeging=a$/, ''), /reports duplicate toevoeging/],
  [
    'fails at a NUL',
    statusOf((_, { url }) => url.search.includes('%00'), 500),
    /postcode-character/,
  ],

  [
    'echoes the postcode',
    text('"1381AA"', ({ url }) => `"${url.searchParams.get('postcode')}"`),
    /however it is/,
  ],
  [
    'changes the letter case of a toevoeging',
    text('"toevoeging":"a"', '"toevoeging":"A"'),
    /however it is/,
  ],
  [
    'adds ids that are numbers',
    body(
      ({ body }, { url }) => body.includes('nummeraanduidingen') && url.pathname === '/v1/address',
      (body) => ({ ...body, address: { ...body.address, nummeraanduidingen: [1] } }),
    ),
    /include asks for/,
  ],
  [
    'ignores include',
    { request: ({ url }: { url: URL }) => url.searchParams.delete('include') },
    /include asks for/,
  ],
  ['has candidates beside an address', members(lookedUp, { candidates: [place] }), /however it is/],
  [
    'finds it in one spelling only',
    body((_, { url }) => url.search.includes('+13'), notFound),
    /however it is/,
  ],
  [
    'returns 404 for no address',
    statusOf(({ body }) => body.includes('not_found'), 404),
    /returns not_found/,
  ],
  [
    'finds what does not exist',
    members(lookedUp, { status: 'ok', address: place }),
    /returns not_found/,
  ],
  ['puts the toevoeging in upper case', text('"zZ9"', '"ZZ9"'), /returns not_found/],
  [
    'has results in another order',
    body(lookedUpAll, ({ results }) => ({
      results: results.toReversed().toSpliced(0, 1, results[1] ?? {}),
    })),
    /in order, the same as the single lookup/,
  ],
  [
    'locates the faults of a body elsewhere',
    body(status(422), (body) => ({
      ...body,
      errors: body.errors.map((error) => ({ ...error, pointer: '/' })),
    })),
    /at its JSON pointer/,
  ],
  ['accepts any method for many', header('allow', 'GET', status(405)), /allows no GET of many/],
  ['reports no quota', header('ratelimit'), /counts one unit/],
  [
    'omits a window from its policy',
    header('ratelimit-policy', '"hour";q=5000;w=3600'),
    /counts one unit/,
  ],
  [
    'tells nothing of what is left with a key',
    header('ratelimit', undefined, validated),
    /counts one unit/,
  ],
  ['does not count', header('ratelimit', '"day";r=99000;t=1'), /counts one unit/],
  ['charges what it refuses', chargedAlso(status(422)), /counts one unit/],
];
