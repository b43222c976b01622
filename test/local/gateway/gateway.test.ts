import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import {
  type Answered,
  type GatewayOptions,
  type Integration,
  startGateway,
} from '../../../local/gateway/gateway.ts';
import { startForTests } from '../../support/start-for-tests.ts';

const echo: Integration = async (event) => ({ statusCode: 200, body: JSON.stringify(event) });
const failing: Integration = () => Promise.reject(new Error('the inside'));
const slow: Integration = () => sleep(300, { statusCode: 200, body: 'done' });

/** The gateway reads the clock; everything else waits really. */
const timersButDate =
  'hrtime nextTick performance queueMicrotask setImmediate clearImmediate setInterval clearInterval setTimeout clearTimeout';

const startAt = (targets: Record<string, Integration>, more: Partial<GatewayOptions> = {}) => {
  const routes = Object.entries(targets).map(([key, target]) => ({ key, target }));
  return startGateway({ routes, host: '127.0.0.1', port: 0, ...more });
};
const seen: Partial<Answered>[] = [];
const gateway = startForTests(() =>
  startAt(
    { 'ANY /echo': echo, 'ANY /fail': failing, 'ANY /slow': slow },
    { onAnswer: (one) => seen.push(one) },
  ),
);
const send = (path: string, init: RequestInit = {}, { port } = gateway) =>
  fetch(`http://127.0.0.1:${port}${path}`, init);

/** Sends bytes as they are and gives everything that comes back until the gateway closes. */
async function raw(bytes: string): Promise<string> {
  const socket = connect(gateway.port, '127.0.0.1');
  socket.on('error', () => undefined);
  socket.write(bytes, 'latin1');
  return text(socket);
}

const statusLines = (answer: string) =>
  answer.match(/HTTP\/1\.1 \d{3}/g)?.map((line) => Number(line.slice(-3)));

describe('a throttled gateway', () => {
  afterEach(() => {
    jest.useRealTimers();
  });

  it('answers requests over its rate like API Gateway, each route apart, and later again', async () => {
    jest.useFakeTimers({ now: 0, doNotFake: timersButDate.split(' ') as [] });
    const throttled = await startAt(
      { 'ANY /echo': echo, $default: echo },
      { throttlePerSecond: 4 },
    );
    const get = (path: string) => send(path, {}, throttled);
    const statuses = async (path: string, count: number) =>
      (await Promise.all(Array.from({ length: count }, () => get(path))))
        .map(({ status }) => status)
        .sort();
    expect(await statuses('/echo', 5)).toEqual([200, 200, 200, 200, 429]);
    const refused = await get('/echo');
    expect([refused.status, await refused.text()]).toEqual([
      429,
      '{"message":"Too Many Requests"}',
    ]);
    expect(refused.headers.get('content-type')).toBe('application/json');
    for (const name of ['retry-after', 'ratelimit', 'x-request-id']) {
      expect(refused.headers.has(name)).toBe(false);
    }
    expect((await get('/other')).status).toBe(200);
    jest.setSystemTime(250);
    expect(await statuses('/echo', 2)).toEqual([200, 429]);
    await throttled.stop();
  });
});

describe('the gateway', () => {
  it('passes a request to its route and returns the response of the function', async () => {
    const response = await send('/echo?a=1', {
      method: 'POST',
      body: 'text',
      headers: { 'X-Name': 'v' },
    });
    const event = (await response.json()) as APIGatewayProxyEventV2;
    expect(response.status).toBe(200);
    expect(event.body).toBe('text');
    expect(event.headers['x-name']).toBe('v');
    expect(event.requestContext.http.sourceIp).toBe('127.0.0.1');
    expect(response.headers.get('apigw-requestid')).toBe(event.requestContext.requestId);
  });

  it.each<[string, number, string, string, Buffer<ArrayBuffer>?]>([
    ['a path without a route', 404, 'Not Found', '/none'],
    ['a function that throws', 500, 'Internal Server Error', '/fail'],
    ['a request line past the limit', 414, 'URI Too Long', `/echo?a=${'x'.repeat(10_300)}`],
    [
      'a body of more than 10 MB',
      413,
      'Request Entity Too Large',
      '/echo',
      Buffer.alloc(10 * 1024 * 1024 + 1),
    ],
  ])(
    'responds without a function: %s gets %i %s',
    async (_what, status, message, path, ...[body]) => {
      const response = await send(path, body && { method: 'POST', body });
      expect(response.status).toBe(status);
      expect(response.headers.get('content-type')).toBe('application/json');
      expect(await response.json()).toEqual({ message });
    },
  );

  it('counts the request line and the header values together, to 10,240 bytes', async () => {
    const line = 'GET /echo HTTP/1.1';
    const head = (size: number) =>
      `${line}\r\nHost: localhost\r\nConnection: close\r\nX: ${'x'.repeat(size)}\r\n\r\n`;
    const most = 10_240 - line.length - 'localhost'.length - 'close'.length;
    expect(statusLines(await raw(head(most)))).toEqual([200]);
    expect(statusLines(await raw(head(most + 1)))).toEqual([431]);
  });

  it('answers HEAD with headers only', async () => {
    const response = await send('/echo', { method: 'HEAD' });
    expect(response.status).toBe(200);
    expect(Number(response.headers.get('content-length'))).toBeGreaterThan(100);
    expect(await response.text()).toBe('');
  });

  const local = 'Host: localhost';
  const close = 'Connection: close';
  const head = (line: string, ...headers: string[]) =>
    [`${line} HTTP/1.1`, ...headers, '\r\n'].join('\r\n');

  it('answers pipelined requests in order', async () => {
    const answer = await raw(head('GET /slow', local) + head('GET /none', local, close));
    expect(statusLines(answer)).toEqual([200, 404]);
  });

  it.each<[string, string, number]>([
    ['something other than HTTP', 'hello\r\n\r\n', 400],
    ['no host', head('GET /echo', close), 400],
    ['two hosts', head('GET /echo', 'Host: a', 'Host: b', close), 400],
    ['a target that is not a path', head('OPTIONS *', local, close), 400],
    ['a tunnel', head('CONNECT a:443', local), 400],
    ['a NUL in a header', head('GET /echo', local, 'X: \0'), 400],
    ['a space in the path', head('GET /ec ho', local), 400],
    [
      'two lengths',
      `${head('POST /echo', local, 'Content-Length: 1', 'Content-Length: 2')}ab`,
      400,
    ],
    [
      'headers over the limit of the parser',
      head('GET /echo', local, `X: ${'x'.repeat(2_000_000)}`),
      431,
    ],
    [
      'an unknown upgrade',
      head('GET /none', local, 'Connection: upgrade, close', 'Upgrade: x'),
      404,
    ],
    ['HTTP/1.0', 'GET /none HTTP/1.0\r\n\r\n', 404],
    ['the name of somebody else', head('GET /echo', 'Host: evil.example', close), 421],
  ])('answers %s and keeps serving', async (_what, bytes, status) => {
    expect(statusLines(await raw(bytes))).toEqual([status]);
    expect((await send('/echo')).status).toBe(200);
  });

  it('survives a client that disconnects in the middle of a request', async () => {
    for (const bytes of [
      head('GET /slow', local),
      `${head('POST /echo', local, 'Content-Length: 9')}ab`,
    ]) {
      const socket = connect(gateway.port, '127.0.0.1');
      await once(socket, 'connect');
      socket.write(bytes);
      await sleep(20);
      socket.destroy();
    }
    expect((await send('/slow')).status).toBe(200);
  });

  it('reports each response without path and query, which could hold a key', async () => {
    seen.length = 0;
    await send('/none/secret?secret=1', { method: 'DELETE' });
    await send('/echo?secret=1');
    const milliseconds = expect.any(Number);
    expect(seen).toEqual([
      { method: 'DELETE', route: undefined, statusCode: 404, milliseconds },
      { method: 'GET', route: 'ANY /echo', statusCode: 200, milliseconds },
    ]);
  });

  it('when stopped, finishes requests in progress for longer than a function may take, and accepts no new ones', async () => {
    const hanging: Integration = () => new Promise(() => undefined);
    const own = await startAt(
      { 'ANY /slow': slow, 'ANY /hang': hanging },
      { drainMilliseconds: 600 },
    );
    const slowAnswer = send('/slow', {}, own);
    const cut = expect(send('/hang', {}, own)).rejects.toThrow();
    await sleep(50);
    await own.stop();
    expect(await (await slowAnswer).text()).toBe('done');
    await cut;
    await expect(send('/slow', {}, own)).rejects.toThrow();
  });

  it('keeps an idle connection open longer than clients reuse one', async () => {
    const response = await send('/none');
    const [, seconds] = /timeout=(\d+)/.exec(response.headers.get('keep-alive') ?? '') ?? [];
    expect(Number(seconds)).toBeGreaterThan(60);
  });
});
