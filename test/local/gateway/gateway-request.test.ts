import { describe, expect, it } from '@jest/globals';
import {
  type GatewayRequest,
  gatewayEvent,
  integrationAnswer,
  matchRoute,
  requestTarget,
} from '../../../local/gateway/gateway-request.ts';

type Given = Partial<Omit<GatewayRequest, 'target'>> & { url?: string };

function eventOf({ url = '/v1/address', ...given }: Given = {}) {
  const target = requestTarget(url);
  if (target === undefined) throw new Error(`not a target: ${url}`);
  const request: GatewayRequest = {
    id: 'JKJaXmPLvHcESHA=',
    method: 'GET',
    target,
    protocol: 'HTTP/1.1',
    rawHeaders: ['Host', 'localhost:3000', 'User-Agent', 'curl/8.5.0'],
    body: Buffer.alloc(0),
    sourceIp: '127.0.0.1',
    port: 3000,
    time: new Date('2020-03-12T19:03:58.390Z'),
    ...given,
  };
  return gatewayEvent(request, 'ANY /v1/address');
}

const asText = (body: string | undefined) => ({ body, isBase64Encoded: false });
const asBase64 = (body: string) => ({ body, isBase64Encoded: true });

/** The headers of every event. */
const standard = {
  'content-length': '0',
  'x-forwarded-for': '127.0.0.1',
  'x-forwarded-port': '3000',
  'x-forwarded-proto': 'http',
};

describe('the event of payload format 2.0', () => {
  it('has the members and types of the real one', () => {
    const http = {
      method: 'GET',
      path: '/v1/address',
      protocol: 'HTTP/1.1',
      sourceIp: '127.0.0.1',
    };
    expect(eventOf({ url: '/v1/address?postcode=1381AA&huisnummer=9' })).toEqual({
      version: '2.0',
      routeKey: 'ANY /v1/address',
      rawPath: '/v1/address',
      rawQueryString: 'postcode=1381AA&huisnummer=9',
      headers: { ...standard, host: 'localhost:3000', 'user-agent': 'curl/8.5.0' },
      queryStringParameters: { postcode: '1381AA', huisnummer: '9' },
      requestContext: {
        accountId: '000000000000',
        apiId: 'local',
        domainName: 'localhost',
        domainPrefix: 'localhost',
        http: { ...http, userAgent: 'curl/8.5.0' },
        requestId: 'JKJaXmPLvHcESHA=',
        routeKey: 'ANY /v1/address',
        stage: '$default',
        time: '12/Mar/2020:19:03:58 +0000',
        timeEpoch: 1584039838390,
      },
      isBase64Encoded: false,
    });
  });

  it.each<[string, string[], Record<string, string>, string[]?]>([
    ['names in lower case', ['X-API-Key', 'k'], { 'x-api-key': 'k' }],
    ['repeated headers joined by commas', ['X-A', '1', 'x-a', '2'], { 'x-a': '1,2' }],
    ['a name that objects have', ['__proto__', '1'], JSON.parse('{"__proto__":"1"}')],
    ['cookies apart', ['Cookie', 'a=1; b=2', 'cookie', 'c=3'], {}, ['a=1', 'b=2', 'c=3']],
    [
      'none that describe the connection',
      ['Connection', 'close', 'Transfer-Encoding', 'chunked'],
      {},
    ],
    [
      'our sender last',
      ['X-Forwarded-For', '10.0.0.1'],
      { 'x-forwarded-for': '10.0.0.1, 127.0.0.1' },
    ],
    ['our own length', ['Content-Length', '99'], { 'content-length': '0' }],
  ])('has the headers of the real one: %s', (_what, rawHeaders, headers, ...[cookies]) => {
    const event = eventOf({ rawHeaders });
    expect(JSON.stringify(Object.entries(event.headers).sort())).toBe(
      JSON.stringify(
        [...new Map([...Object.entries(standard), ...Object.entries(headers)])].sort(),
      ),
    );
    expect(event.cookies).toEqual(cookies);
  });

  it.each<
    [string, string | undefined, Buffer, { body: string | undefined; isBase64Encoded: boolean }]
  >([
    ['none', 'application/json', Buffer.alloc(0), asText(undefined)],
    ['JSON as text', 'application/json', Buffer.from('{"é":1}'), asText('{"é":1}')],
    ['a problem as text', 'application/problem+json', Buffer.from('{}'), asText('{}')],
    ['text as text', 'text/plain; charset=utf-8', Buffer.from('x'), asText('x')],
    ['a form as base64', 'application/x-www-form-urlencoded', Buffer.from('a=1'), asBase64('YT0x')],
    ['bytes as base64', 'application/octet-stream', Buffer.from([0xff]), asBase64('/w==')],
    ['no type as base64', undefined, Buffer.from('x'), asBase64('eA==')],
  ])('has the body of the real one: %s', (_what, type, body, expected) => {
    const event = eventOf({ body, rawHeaders: type === undefined ? [] : ['Content-Type', type] });
    expect({ body: event.body, isBase64Encoded: event.isBase64Encoded }).toEqual(expected);
    expect(event.headers['content-length']).toBe(`${body.length}`);
  });
});

describe('the target of a request', () => {
  it.each([
    ['/a', { path: '/a', rawQueryString: '' }],
    ['/a?', { path: '/a', rawQueryString: '' }],
    ['/a?&', { path: '/a', rawQueryString: '&' }],
    ['/a?x', { path: '/a', rawQueryString: 'x', queryStringParameters: { x: '' } }],
    ['/a?x=1&x=2', { path: '/a', rawQueryString: 'x=1&x=2', queryStringParameters: { x: '1,2' } }],
    [
      '/a?x=1&y=&x',
      { path: '/a', rawQueryString: 'x=1&y=&x', queryStringParameters: { x: '1,', y: '' } },
    ],
    [
      '/a?x=1=2?3',
      { path: '/a', rawQueryString: 'x=1=2?3', queryStringParameters: { x: '1=2?3' } },
    ],
    [
      '/a?x=a+b%2Bc',
      { path: '/a', rawQueryString: 'x=a+b%2Bc', queryStringParameters: { x: 'a b+c' } },
    ],
    [
      '/a?x=%zz%4',
      { path: '/a', rawQueryString: 'x=%zz%4', queryStringParameters: { x: '%zz%4' } },
    ],
    [
      '/a?x=%C3%A9%FF',
      { path: '/a', rawQueryString: 'x=%C3%A9%FF', queryStringParameters: { x: 'é\ufffd' } },
    ],
    ['/%61%2Fb/', { path: '/a/b/', rawQueryString: '' }],
    ['//a/../b', { path: '//a/../b', rawQueryString: '' }],
    ['/%E0%A4%A', { path: '/\ufffd%A', rawQueryString: '' }],
    ['/a#b?c', { path: '/a', rawQueryString: '' }],
    ['http://example.org', { path: '/', rawQueryString: '' }],
    [
      'HTTP://example.org/a?x=1',
      { path: '/a', rawQueryString: 'x=1', queryStringParameters: { x: '1' } },
    ],
    [
      'http://example.org?x=1',
      { path: '/', rawQueryString: 'x=1', queryStringParameters: { x: '1' } },
    ],
  ])('%s', (url, expected) => {
    expect(requestTarget(url)).toEqual(expected);
  });

  it.each(['', '*', 'a/b', 'ftp://example.org/a'])(
    'is refused when it is not a path: %j',
    (url) => {
      expect(requestTarget(url)).toBeUndefined();
    },
  );
});

describe('the route of a request', () => {
  const routes = ['$default', 'ANY /v1/address', 'GET /v1/address', 'POST /only'].map((key) => ({
    key,
    target: key,
  }));

  it.each([
    ['GET', '/v1/address', 'GET /v1/address'],
    ['PUT', '/v1/address', 'ANY /v1/address'],
    ['GET', '/v1/address/', '$default'],
    ['GET', '/V1/address', '$default'],
    ['GET', '/only', '$default'],
    ['POST', '/only', 'POST /only'],
  ])('%s %s takes %s', (method, path, key) => {
    expect(matchRoute(routes, method, path)?.key).toBe(key);
  });

  it('is undefined when nothing matches and there is no $default', () => {
    expect(matchRoute(routes.slice(1), 'GET', '/')).toBeUndefined();
  });
});

const answerTo = (returned: unknown) => {
  const { statusCode, headers, body } = integrationAnswer(returned);
  return { statusCode, headers, body: body.toString() };
};

describe('the response made from the return value of a function', () => {
  it('has the described status, headers and body', () => {
    const headers = {
      'content-type': 'application/json',
      'x-count': 3,
      'content-length': '999',
      Connection: 'close',
    };
    const { headers: sent, ...rest } = answerTo({
      statusCode: 201,
      headers,
      cookies: ['a=1', 'b=2'],
      body: '{}',
    });
    expect(sent.map((header) => header.join(': '))).toEqual([
      'content-type: application/json',
      'x-count: 3',
      'Set-Cookie: a=1',
      'Set-Cookie: b=2',
    ]);
    expect(rest).toEqual({ statusCode: 201, body: '{}' });
  });

  it('decodes a base64 body', () => {
    expect(answerTo({ statusCode: 200, body: 'w6k=', isBase64Encoded: true }).body).toBe('é');
  });

  it('is plain text without a content type', () => {
    expect(answerTo({ statusCode: 200, body: 'x' }).headers).toEqual([
      ['Content-Type', 'text/plain; charset=utf-8'],
    ]);
  });

  it.each<[unknown, string]>([
    ['Hello', 'Hello'],
    [{ message: 'Hello' }, '{"message":"Hello"}'],
    [[1], '[1]'],
    [null, 'null'],
    [undefined, 'null'],
  ])('is a 200 with the value itself if it has no status: %j', (returned, body) => {
    expect(answerTo(returned)).toEqual({
      statusCode: 200,
      headers: [['Content-Type', 'application/json']],
      body,
    });
  });

  it.each<[string, unknown]>([
    ['a status that is text', { statusCode: '200' }],
    ['a status that HTTP has not', { statusCode: 99 }],
    ['a body that is an object', { statusCode: 200, body: {} }],
    ['a header that is an object', { statusCode: 200, headers: { a: {} } }],
    ['a header value with a line end', { statusCode: 200, headers: { a: 'b\r\nc: d' } }],
    ['a header name with a space', { statusCode: 200, headers: { 'a b': 'c' } }],
    ['cookies that are no list', { statusCode: 200, cookies: 'a=1' }],
  ])("is the gateway's 500 for %s", (_what, returned) => {
    expect(answerTo(returned)).toEqual({
      statusCode: 500,
      headers: [['Content-Type', 'application/json']],
      body: '{"message":"Internal Server Error"}',
    });
  });
});
