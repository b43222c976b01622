import { describe, expect, it } from '@jest/globals';
import { type GatewayRequest, gatewayEvent, requestTarget } from '../../../local/gateway/event.ts';

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
  return gatewayEvent(request, { route: { key: 'ANY /v1/address', target: undefined } });
}

describe('the event of payload format 2.0', () => {
  it('has the members and types of the real one', () => {
    expect(eventOf({ url: '/v1/address?postcode=1381AA&huisnummer=9' })).toEqual({
      version: '2.0',
      routeKey: 'ANY /v1/address',
      rawPath: '/v1/address',
      rawQueryString: 'postcode=1381AA&huisnummer=9',
      headers: {
        'content-length': '0',
        host: 'localhost:3000',
        'user-agent': 'curl/8.5.0',
        'x-forwarded-for': '127.0.0.1',
        'x-forwarded-port': '3000',
        'x-forwarded-proto': 'http',
      },
      queryStringParameters: { postcode: '1381AA', huisnummer: '9' },
      requestContext: {
        accountId: '000000000000',
        apiId: 'local',
        domainName: 'localhost',
        domainPrefix: 'localhost',
        http: {
          method: 'GET',
          path: '/v1/address',
          protocol: 'HTTP/1.1',
          sourceIp: '127.0.0.1',
          userAgent: 'curl/8.5.0',
        },
        requestId: 'JKJaXmPLvHcESHA=',
        routeKey: 'ANY /v1/address',
        stage: '$default',
        time: '12/Mar/2020:19:03:58 +0000',
        timeEpoch: 1584039838390,
      },
      isBase64Encoded: false,
    });
  });

  it.each<[string, string[], Record<string, string>, string[] | undefined]>([
    ['names in lower case', ['X-API-Key', 'k'], { 'x-api-key': 'k' }, undefined],
    ['repeated headers joined by commas', ['X-A', '1', 'x-a', '2'], { 'x-a': '1,2' }, undefined],
    ['a name that objects have', ['__proto__', '1'], JSON.parse('{"__proto__":"1"}'), undefined],
    ['cookies apart', ['Cookie', 'a=1; b=2', 'cookie', 'c=3'], {}, ['a=1', 'b=2', 'c=3']],
    ['none that describe the connection', ['Connection', 'close', 'Transfer-Encoding', 'chunked'], {}, undefined],
    [
      'our sender after the ones before',
      ['X-Forwarded-For', '10.0.0.1'],
      { 'x-forwarded-for': '10.0.0.1, 127.0.0.1' },
      undefined,
    ],
    ['our own length', ['Content-Length', '99'], { 'content-length': '0' }, undefined],
  ])('gives headers as the real one: %s', (_what, rawHeaders, headers, cookies) => {
    const event = eventOf({ rawHeaders });
    const standard = {
      'content-length': '0',
      'x-forwarded-for': '127.0.0.1',
      'x-forwarded-port': '3000',
      'x-forwarded-proto': 'http',
    };
    expect(JSON.stringify(Object.entries(event.headers).sort())).toBe(
      JSON.stringify([...new Map([...Object.entries(standard), ...Object.entries(headers)])].sort()),
    );
    expect(event.cookies).toEqual(cookies);
  });

  it.each<[string, string | undefined, Buffer, { body?: string; isBase64Encoded: boolean }]>([
    ['none', 'application/json', Buffer.alloc(0), { isBase64Encoded: false }],
    ['JSON as text', 'application/json', Buffer.from('{"é":1}'), { body: '{"é":1}', isBase64Encoded: false }],
    ['a problem as text', 'application/problem+json', Buffer.from('{}'), { body: '{}', isBase64Encoded: false }],
    ['text as text', 'text/plain; charset=utf-8', Buffer.from('x'), { body: 'x', isBase64Encoded: false }],
    [
      'a form as base64',
      'application/x-www-form-urlencoded',
      Buffer.from('a=1'),
      { body: 'YT0x', isBase64Encoded: true },
    ],
    ['bytes as base64', 'application/octet-stream', Buffer.from([0xff]), { body: '/w==', isBase64Encoded: true }],
    ['no type as base64', undefined, Buffer.from('x'), { body: 'eA==', isBase64Encoded: true }],
  ])('gives a body as the real one: %s', (_what, type, body, expected) => {
    const event = eventOf({ body, rawHeaders: type === undefined ? [] : ['Content-Type', type] });
    expect({ body: event.body, isBase64Encoded: event.isBase64Encoded }).toEqual({ body: undefined, ...expected });
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
    ['/a?x=1&y=&x', { path: '/a', rawQueryString: 'x=1&y=&x', queryStringParameters: { x: '1,', y: '' } }],
    ['/a?x=1=2?3', { path: '/a', rawQueryString: 'x=1=2?3', queryStringParameters: { x: '1=2?3' } }],
    ['/a?x=a+b%2Bc', { path: '/a', rawQueryString: 'x=a+b%2Bc', queryStringParameters: { x: 'a b+c' } }],
    ['/a?x=%zz%4', { path: '/a', rawQueryString: 'x=%zz%4', queryStringParameters: { x: '%zz%4' } }],
    ['/a?x=%C3%A9%FF', { path: '/a', rawQueryString: 'x=%C3%A9%FF', queryStringParameters: { x: 'é\ufffd' } }],
    ['/%61%2Fb/', { path: '/a/b/', rawQueryString: '' }],
    ['//a/../b', { path: '//a/../b', rawQueryString: '' }],
    ['/%E0%A4%A', { path: '/\ufffd%A', rawQueryString: '' }],
    ['/a#b?c', { path: '/a', rawQueryString: '' }],
    ['http://example.org', { path: '/', rawQueryString: '' }],
    ['HTTP://example.org/a?x=1', { path: '/a', rawQueryString: 'x=1', queryStringParameters: { x: '1' } }],
    ['http://example.org?x=1', { path: '/', rawQueryString: 'x=1', queryStringParameters: { x: '1' } }],
  ])('%s', (url, expected) => {
    expect(requestTarget(url)).toEqual(expected);
  });

  it.each(['', '*', 'a/b', 'ftp://example.org/a'])('is refused when it is not a path: %j', (url) => {
    expect(requestTarget(url)).toBeUndefined();
  });
});
