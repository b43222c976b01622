import type { Passing, Returning, Spoil } from './spoiling-proxy.ts';

/** Which answers are spoiled. */
type When = (returning: Returning, passing: Passing) => boolean;
/** The body of an answer, as far as it matters here. */
type Body = { status?: unknown; limits?: object; address?: object; candidates: object[]; errors: object[] };

const status =
  (wanted: number): When =>
  (returning) =>
    returning.status === wanted;
const lookedUp: When = (returning, { url }) => returning.status === 200 && url.pathname === '/v1/address';
const refused = status(401);

function header(name: string, value?: string, when: When = () => true): Spoil {
  return {
    answer(returning, passing) {
      if (!when(returning, passing)) return;
      delete returning.headers[name];
      if (value !== undefined) returning.headers[name] = value;
    },
  };
}

function statusOf(when: When, status: number): Spoil {
  return {
    answer(returning, passing) {
      if (when(returning, passing)) returning.status = status;
    },
  };
}

function body(when: When, change: (body: Body) => object): Spoil {
  return {
    answer(returning, passing) {
      if (when(returning, passing) && returning.body !== '') {
        returning.body = JSON.stringify(change(JSON.parse(returning.body)));
      }
    },
  };
}

function text(from: string, to: string | ((passing: Passing) => string)): Spoil {
  return {
    answer(returning, passing) {
      returning.body = returning.body.replaceAll(from, typeof to === 'string' ? to : to(passing));
    },
  };
}

function query(from: RegExp, to: string): Spoil {
  return {
    request({ url }) {
      url.search = url.search.replace(from, to);
    },
  };
}

function keyFrom(read: (passing: Passing) => string | null | undefined): Spoil {
  return {
    request(passing) {
      const key = read(passing);
      if (key) passing.headers['x-api-key'] = key;
    },
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

const notFound = (body: Body) => ({ ...body, status: 'not_found', address: null, toevoegingen: [] });

/** Ways in which a service breaks its contract, each with the one check that has to notice. */
export const spoils: [misbehaviour: string, spoil: Spoil, guarantee: RegExp][] = [
  ['allows CORS', header('access-control-allow-origin', '*'), /CORS/],
  ['lets answers be stored', header('cache-control', 'max-age=60'), /stored/],
  ['forgets HSTS', header('strict-transport-security'), /TLS/],
  ['forgets nosniff', header('x-content-type-options'), /sniffed/],
  ['names no version', header('api-version'), /version of the interface/],
  ['gives one request id to all', header('x-request-id', 'one'), /request id/],
  ['has another request id in a problem', body(refused, (body) => ({ ...body, request_id: 'x' })), /request id/],
  ['says what it is made of', header('x-powered-by', 'x'), /what is inside/],
  [
    'repeats the key',
    text('"valid":true', ({ headers }) => `"valid":true,"of":"${headers['x-api-key']}"`),
    /repeats the key/,
  ],

  [
    'says that a key is malformed',
    body(
      (one, passing) => refused(one, passing) && passing.headers['x-api-key'] === 'x',
      (body) => ({ ...body, detail: 'Malformed.' }),
    ),
    /one and the same 401/,
  ],
  [
    'tells a missing key by a header',
    header('x-reason', 'missing', (one, passing) => refused(one, passing) && !passing.headers['x-api-key']),
    /one and the same 401/,
  ],
  [
    'checks input before the key',
    statusOf((one, passing) => refused(one, passing) && passing.url.search === '?postcode=x', 422),
    /one and the same 401/,
  ],
  ['takes a key from the query', keyFrom(({ url }) => url.searchParams.get('key')), /anywhere but in its header/],
  [
    'takes a bearer token',
    keyFrom(({ headers }) => headers.authorization?.slice('Bearer '.length)),
    /anywhere but in its header/,
  ],
  ['does not say how to authenticate', header('www-authenticate'), /how to authenticate/],
  [
    'has a limit of another window',
    body(status(200), (body) => ({ ...body, limits: { week: 5 } })),
    /its label, its plan and its limits/,
  ],
  [
    'tells more of a key than it should',
    body(status(200), (body) => ({ ...body, secret: 'x' })),
    /its label, its plan and its limits/,
  ],

  [
    'takes a trailing slash for the same path',
    { request: ({ url }) => void Object.assign(url, { pathname: url.pathname.replace(/(.)\/$/, '$1') }) },
    /trailing slash/,
  ],
  [
    'answers paths in HTML',
    { answer: (returning) => void (returning.status === 404 && Object.assign(returning, { body: '<html>' })) },
    /404/,
  ],
  ['forgets Allow', header('allow'), /405/],
  [
    'answers POST',
    { request: (passing) => void (passing.method === 'POST' && Object.assign(passing, { method: 'GET' })) },
    /405/,
  ],
  [
    'describes another version',
    body(status(200), (body) => ({ ...body, info: { version: '0.0.1' } })),
    /publishes its description/,
  ],

  ['refuses input with 400', statusOf(status(422), 400), /missing postcode/],
  [
    'tells of one fault only',
    body(status(422), (body) => ({ ...body, errors: body.errors.slice(0, 1) })),
    /all faults/,
  ],
  ['has other codes', text('"duplicate"', '"twice"'), /duplicate postcode/],
  [
    'writes problems as plain JSON',
    header('content-type', 'application/json', status(422)),
    /huisnummer-range huisnummer/,
  ],
  ['takes 0 for a house number', query(/huisnummer=0(&|$)/, 'huisnummer=1$1'), /huisnummer-zero huisnummer/],
  ['takes a tab for a space', query(/%09/, '+'), /postcode-character postcode/],
  ['takes the first of two values', query(/&toevoeging=a$/, ''), /duplicate toevoeging/],
  ['fails at a NUL', statusOf((_, { url }) => url.search.includes('%00'), 500), /postcode-character postcode/],

  [
    'echoes what it was given',
    text('"1012RJ"', ({ url }) => JSON.stringify(url.searchParams.get('postcode'))),
    /is ok, in whatever way/,
  ],
  ['echoes an empty toevoeging', text('"toevoeging":null', '"toevoeging":""'), /is ok, in whatever way/],
  [
    'has candidates beside an address',
    body(lookedUp, (body) => ({ ...body, candidates: [body.address] })),
    /is ok, in whatever way/,
  ],
  [
    'finds it in one spelling only',
    body((_, { url }) => url.search.includes('callback'), notFound),
    /is ok, in whatever way/,
  ],
  [
    'answers 404 to an address that is not there',
    statusOf(({ body }) => body.includes('not_found'), 404),
    /is not_found/,
  ],
  [
    'finds what is not there',
    body(lookedUp, (body) => ({ ...body, status: 'ok', address: { straat: 'a', woonplaats: 'b' } })),
    /is not_found/,
  ],
  ['puts the toevoeging in upper case', text('"zZ9"', '"ZZ9"'), /is not_found/],
  [
    'picks one of several places',
    body(lookedUp, (body) => ({ ...body, status: 'ok', address: body.candidates[0], candidates: [] })),
    /is ambiguous/,
  ],
  [
    'has places in another order',
    body(lookedUp, (body) => ({ ...body, candidates: body.candidates.toReversed() })),
    /is ambiguous/,
  ],
  [
    'has a place twice',
    body(lookedUp, (body) => ({ ...body, candidates: body.candidates.flatMap((one) => [one, one]) })),
    /is ambiguous/,
  ],
  [
    'minds the letter case',
    body(({ body }) => body.includes('"toevoeging":"A"'), notFound),
    /letter case of a toevoeging/,
  ],

  ['says nothing of the quota', header('ratelimit'), /costs one unit/],
  ['leaves a window out of its policy', header('ratelimit-policy', '"minute";q=5000;w=60'), /costs one unit/],
  ['does not count', header('ratelimit', '"day";r=99000;t=1'), /costs one unit/],
  ['counts a lookup twice', chargedAlso(lookedUp), /costs one unit/],
  ['charges what it refuses', chargedAlso(status(422)), /costs one unit/],
  [
    'resets at another moment',
    {
      answer: ({ headers }) =>
        void Object.assign(headers, { ratelimit: (headers.ratelimit ?? '').replace(/t=\d+/, 't=30000') }),
    },
    /costs one unit/,
  ],
];
