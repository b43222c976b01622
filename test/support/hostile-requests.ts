import { addressPaths } from '../../lambdas/address/address-route.ts';
import type { TestRequest } from './gateway-event.ts';

/**
 * Requests that cost most to refuse, generated: each shape of text, value and name, at each
 * position in a body, a query and the headers.
 */
export type HostileKind = {
  name: string;
  /** The most bytes that can arrive there, and few that still show what it is. */
  mostBytes: number;
  fewBytes: number;
  /** The request, with `bytes` at most. */
  make(bytes: number): { url: string; request: TestRequest };
};

const bodyBytes = 64 * 1024;
/** API Gateway accepts 10,240 bytes of a request line with its headers. */
const queryBytes = 9_500;

/** What is repeated: parts of keys, separators, digits, and characters that grow when written. */
const units = [
  ['bagadres_', 'bagadres_a_', 'bagadres_a_0123456789abcdefghi', 'BAGADRES_.'],
  [' ', '\t', '\u00a0', '-', '/', ',', '_', '.', '\u2013', ' - ', ', ', '~/', '[', '[]'],
  ['0', '1', '9', 'a', 'A1', '1-', 'A-1', '12a', 'tm', ' en ', 'hs-', 'a/', 'iv'],
  ['\ud800', '\udc00', '\u0000', '"', '\\', '%', '\ufdfa', '\uff11', '\u{1d7ce}', '\u200b'],
  ['\u{1f600}', '\ufffd', 'e\u0301'],
].flat();
/** What stands around: patterns cost most if they fail at the end. */
const frames = [
  { before: '', after: '' },
  { before: '1', after: '!' },
];

type Text = { name: string; make(bytes: number, sizeOf: (text: string) => number): string };

const texts: Text[] = units.flatMap((unit) =>
  frames.map(({ before, after }) => ({
    name: JSON.stringify(`${before}${unit}*${after}`),
    make: (bytes, sizeOf) => {
      const count = Math.floor((bytes - sizeOf(before + after)) / sizeOf(unit));
      return before + unit.repeat(Math.max(1, count)) + after;
    },
  })),
);

const sizeInJson = (text: string) => Buffer.byteLength(JSON.stringify(text)) - 2;

/** A JSON value, as it is written. */
type Value = { name: string; make(bytes: number): string };

const listOf = (item: string) => (bytes: number) =>
  `[${Array(Math.max(1, Math.floor((bytes - 2) / (item.length + 1)))).fill(item)}]`;
const nested = (open: string, close: string) => (bytes: number) => {
  const depth = Math.floor(bytes / (open.length + close.length));
  return open.repeat(depth) + close.repeat(depth);
};
/** As many members as fit; `nameOf` must give names that take up to 20 bytes. */
const members =
  (nameOf: (at: number) => string, value = '0') =>
  (bytes: number) => {
    const written: string[] = [];
    let size = 2;
    for (let at = 0; ; at++) {
      const member = `${JSON.stringify(nameOf(at))}:${value}`;
      size += Buffer.byteLength(member) + 1;
      if (size > bytes && at > 0) return `{${written}}`;
      written.push(member);
    }
  };

/** Names of which there are many: any, near ours, like a key, one over and over, awkward ones. */
const namings: Record<string, (at: number) => string> = {
  numbered: (at) => at.toString(36),
  'near postcode': (at) => `postcod${at.toString(36)}`,
  'near huisnummer': (at) => `huisnumer${at.toString(36)}`,
  'near toevoeging': (at) => `toevoegin_${at.toString(36)}`,
  huisletter: (at) => `huisletter[${at}]`,
  'like a key': (at) => `bagadres_${at.toString(36)}`,
  repeated: () => 'toevoeging',
  'repeated, unknown': () => 'x',
  'control characters': (at) => `\u0000\u0001${String.fromCharCode(at % 32)}${at.toString(36)}`,
  slashes: (at) => `/~/~${at.toString(36)}`,
  surrogates: (at) => `\ud800${at.toString(36)}`,
  __proto__: (at) => (at % 2 ? '__proto__' : 'constructor'),
};

const values: Value[] = [
  ...texts.map(({ name, make }) => ({
    name,
    make: (bytes: number) => JSON.stringify(make(bytes - 2, sizeInJson)),
  })),
  { name: 'nested lists', make: nested('[', ']') },
  {
    name: 'nested objects',
    make: (bytes) => `${nested('{"a":', '}')(bytes - 1)}`.replace('}', '0}'),
  },
  {
    name: 'nested duplicates',
    make: (bytes) => {
      const depth = Math.floor(bytes / 13);
      return `${'{"a":0,"a":'.repeat(depth)}0${'}'.repeat(depth)}`;
    },
  },
  {
    name: 'nested lists of objects',
    make: (bytes) => nested('[{"":', '}]')(bytes - 1).replace('}', '0}'),
  },
  { name: 'long number', make: (bytes) => '9'.repeat(bytes) },
  { name: 'long fraction', make: (bytes) => `0.${'9'.repeat(bytes - 2)}` },
  { name: 'long exponent', make: (bytes) => `1e${'9'.repeat(bytes - 2)}` },
  { name: 'white space', make: (bytes) => `${' '.repeat(bytes - 1)}0` },
  ...['0', 'null', '""', '[]', '{}', '"toevoegingen"', '"x"', '"bagadres_"', '1e9'].map((item) => ({
    name: `list of ${item}`,
    make: listOf(item),
  })),
  ...Object.entries(namings).flatMap(([name, nameOf]) => [
    { name: `members, ${name}`, make: members(nameOf) },
    { name: `members, ${name}, with text`, make: members(nameOf, '"A-1"') },
  ]),
];

const valid = { postcode: '"1381AA"', huisnummer: '9', toevoeging: '"a"' };
const object = (written: Record<string, string>) =>
  `{${Object.entries(written).map(([name, value]) => `${JSON.stringify(name)}:${value}`)}}`;
const bodyWith = (address: Record<string, string>, more: Record<string, string> = {}) =>
  object({ addresses: `[${object(address)}]`, ...more });

/** Where a value can stand in a body. */
const bodyPositions: Record<string, (value: string) => string> = {
  body: (value) => value,
  addresses: (value) => object({ addresses: value }),
  address: (value) => object({ addresses: `[${value}]` }),
  postcode: (value) => bodyWith({ ...valid, postcode: value }),
  huisnummer: (value) => bodyWith({ ...valid, huisnummer: value }),
  toevoeging: (value) => bodyWith({ ...valid, toevoeging: value }),
  huisletter: (value) => bodyWith({ ...valid, huisletter: value }),
  'unknown member': (value) => bodyWith({ ...valid, x: value }),
  include: (value) => bodyWith(valid, { include: value }),
  'name in include': (value) => bodyWith(valid, { include: `[${value}]` }),
  'member of the body': (value) => bodyWith(valid, { x: value }),
};

const bodyKind = (name: string, make: (bytes: number) => string): HostileKind => ({
  name,
  mostBytes: bodyBytes,
  fewBytes: 900,
  make: (bytes) => ({
    url: addressPaths.many,
    request: {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: make(bytes),
    },
  }),
});

const bodyKinds: HostileKind[] = Object.entries(bodyPositions).flatMap(([position, at]) => [
  ...values.map(({ name, make }) =>
    bodyKind(`${position}: ${name}`, (bytes) => at(make(bytes - at('').length))),
  ),
]);

/** A hundred addresses that share the bytes, each with the same wrong member. */
const sharedKinds: HostileKind[] = values.flatMap(({ name, make }) =>
  ['postcode', 'toevoeging', 'huisletter'].map((member) => ({
    ...bodyKind(`${member} of 100: ${name}`, (bytes) => {
      const rest = object({ ...valid, [member]: '' }).length + 1;
      const address = object({ ...valid, [member]: make(Math.floor((bytes - 20) / 100) - rest) });
      return object({ addresses: `[${Array(100).fill(address)}]` });
    }),
    fewBytes: 9_000,
  })),
);

const nameKinds: HostileKind[] = texts.map(({ name, make }) =>
  bodyKind(`name of a member: ${name}`, (bytes) => {
    const room = bytes - bodyWith({ ...valid, '': '"b"' }).length;
    return bodyWith({ ...valid, [make(room, sizeInJson)]: '"b"' });
  }),
);

const encoded = (text: string) => encodeURIComponent(text.toWellFormed());

const queryKind = (name: string, make: (bytes: number) => string): HostileKind => ({
  name: `query, ${name}`,
  mostBytes: queryBytes,
  fewBytes: 900,
  make: (bytes) => ({ url: `${addressPaths.one}?${make(bytes)}`, request: {} }),
});

const valuesOfQuery = ['postcode', 'huisnummer', 'toevoeging', 'include', 'huisletter', 'x'];
const queryKinds: HostileKind[] = [
  ...valuesOfQuery.flatMap((parameter) =>
    texts.map(({ name, make }) =>
      queryKind(`${parameter}: ${name}`, (bytes) => {
        const others = { postcode: '1381AA', huisnummer: '9', [parameter]: '' };
        const rest = new URLSearchParams(others).toString();
        const text = make(bytes - rest.length, (part) => encoded(part).length);
        return rest.replace(`${parameter}=`, `${parameter}=${encoded(text)}`);
      }),
    ),
  ),
  ...texts.map(({ name, make }) =>
    queryKind(`name: ${name}`, (bytes) => encoded(make(bytes, (part) => encoded(part).length))),
  ),
  ...[...valuesOfQuery, ...units].map((part) =>
    queryKind(`repeated: ${JSON.stringify(part)}`, (bytes) => {
      const pair = `${encoded(part)}=1A&`;
      return pair.repeat(Math.floor(bytes / pair.length));
    }),
  ),
  ...Object.entries(namings).map(([name, nameOf]) =>
    queryKind(`names, ${name}`, (bytes) => {
      const pairs: string[] = [];
      for (let at = 0, size = 0; size < bytes - 60; at++) {
        const pair = `${encoded(nameOf(at))}=A-1`;
        size += pair.length + 1;
        pairs.push(pair);
      }
      return pairs.join('&');
    }),
  ),
  ...['%', '%2', '%25', '%E2%82', '%00', '+', '&', '=', '&=', 'a&', '%ED%A0%80', '#', '?'].map(
    (unit) => queryKind(`raw ${unit}`, (bytes) => unit.repeat(Math.floor(bytes / unit.length))),
  ),
];

/** A query beside a body, which has no parameters. */
const bothKinds: HostileKind[] = Object.entries(namings).map(([name, nameOf]) => ({
  name: `query of many, names, ${name}`,
  mostBytes: queryBytes,
  fewBytes: 900,
  make: (bytes) => {
    const query = Array.from({ length: bytes / 30 }, (_, at) => `${encoded(nameOf(at))}=1`);
    const { request } = bodyKind('', () => bodyWith(valid)).make(bytes);
    return { url: `${addressPaths.many}?${query.join('&').slice(0, bytes)}`, request };
  },
}));

const headerNames = [
  'x-api-key',
  'content-type',
  'accept-language',
  'host',
  'cookie',
  'if-none-match',
];
/** Only characters that a header can have. */
const headerTexts = texts.filter(({ make }) => /^[\t -~]*$/.test(make(100, (part) => part.length)));
const headerKinds: HostileKind[] = headerNames.flatMap((header) =>
  headerTexts.map(({ name, make }) => ({
    name: `header ${header}: ${name}`,
    mostBytes: queryBytes,
    fewBytes: 900,
    make: (bytes) => ({
      url: addressPaths.many,
      request: {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          [header]: make(bytes, (part) => part.length),
        },
        body: bodyWith(valid),
      },
    }),
  })),
);

/** A request for each position that a text can have in a body or a query. */
export function requestsWith(text: string): { url: string; request: TestRequest }[] {
  const written = JSON.stringify(text);
  const bodies = [
    ...Object.values(bodyPositions).map((at) => at(written)),
    ...Object.values(bodyPositions).map((at) => at(`{${written}:[${written}],${written}:0}`)),
    bodyWith({ ...valid, [text]: '1' }),
    bodyWith(valid, { [text]: written }),
  ];
  const queries = [
    ...valuesOfQuery.map((name) => `${name}=${encoded(text)}`),
    encoded(text),
    `${encoded(text)}=1&${encoded(text)}=${encoded(text)}`,
  ];
  return [
    ...bodies.map((body) => bodyKind('', () => body).make(0)),
    ...queries.map((query) => queryKind('', () => query).make(0)),
    ...queries.map((query) => {
      const { request } = bodyKind('', () => bodyWith(valid)).make(0);
      return { url: `${addressPaths.many}?${query}`, request };
    }),
  ];
}

export const hostileKinds: readonly HostileKind[] = [
  ...bodyKinds,
  ...sharedKinds,
  ...nameKinds,
  ...queryKinds,
  ...bothKinds,
  ...headerKinds,
];
