import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { apiHandlers, invoker } from '../../local/functions.ts';
import { type Gateway, startGateway } from '../../local/gateway/gateway.ts';
import { lambdaEnvironment } from '../support/address-service.ts';

const lines: string[] = [];
let gateway: Gateway;
let base: string;

/** A route whose handler does this. */
const route = (path: string, handler: Parameters<typeof invoker>[2], timeoutSeconds = 0.2) => ({
  key: `ANY ${path}`,
  target: invoker('Tried', { timeoutSeconds, memoryMegabytes: 128 }, handler, (line) => lines.push(line)),
});
let answerNow: () => void = () => undefined;
const held = new Promise<void>((resolve) => {
  answerNow = resolve;
});

beforeAll(async () => {
  gateway = await startGateway({
    routes: [
      route('/fine', async (event, context) => ({
        statusCode: 200,
        body: JSON.stringify({
          path: event.rawPath,
          id: context.awsRequestId,
          left: context.getRemainingTimeInMillis(),
        }),
      })),
      route('/throws', () => {
        throw new TypeError('the inside');
      }),
      route('/rejects', () => Promise.reject(new Error('the inside'))),
      route('/hangs', () => new Promise(() => undefined)),
      route('/waits', () => held.then(() => ({ statusCode: 200, body: 'waited' })), 60),
    ],
    host: '127.0.0.1',
    port: 0,
  });
  base = `http://127.0.0.1:${gateway.port}`;
});
afterAll(() => gateway.stop());

describe('a handler in the process of npm start', () => {
  it('gets the event and a context with the time that is left', async () => {
    const answer = await fetch(`${base}/fine`);
    expect(await answer.json()).toEqual({
      path: '/fine',
      id: answer.headers.get('apigw-requestid'),
      left: expect.any(Number),
    });
  });

  it.each([
    ['throws', /TypeError: the inside/],
    ['rejects', /Error: the inside/],
    ['hangs', /Task timed out after 0\.20 seconds/],
  ])(
    'that %s is answered as by API Gateway, with the reason in the log alone, and harms no other request',
    async (path, reason) => {
      lines.length = 0;
      const [failed, fine] = await Promise.all([fetch(`${base}/${path}`), fetch(`${base}/fine`)]);
      expect([failed.status, await failed.text()]).toEqual([500, '{"message":"Internal Server Error"}']);
      expect(fine.status).toBe(200);
      expect(lines).toEqual([expect.stringMatching(reason)]);
      expect(JSON.parse(lines[0] ?? '')).toMatchObject({ level: 'ERROR', function: 'Tried' });
      expect((await fetch(`${base}/fine`)).status).toBe(200);
    },
  );

  it('answers while another one waits', async () => {
    const waiting = fetch(`${base}/waits`);
    expect((await fetch(`${base}/fine`)).status).toBe(200);
    answerNow();
    expect((await waiting).status).toBe(200);
  });
});

describe('the handlers of the API', () => {
  const place = { client: { send: () => Promise.reject(new Error('not called')) } as never, log: () => undefined };

  it('do not start without a variable that the table of routes lists, and name it', async () => {
    const { ACCOUNTS_TABLE: _, ...values } = lambdaEnvironment('http://127.0.0.1:1');
    await expect(apiHandlers({ ...place, values })).rejects.toThrow('ACCOUNTS_TABLE is not set');
  });

  it('read no variable of the process, neither while they are imported nor when they are made', async () => {
    const script = `
      const reads = [];
      const own = /file:\\/\\/[^\\n]*\\/(core|lambdas|lib|packages|loader|portal|local)\\//;
      process.env = new Proxy(process.env, {
        get(target, name) {
          const [, , caller = ''] = new Error().stack.split('\\n');
          if (typeof name === 'string' && own.test(caller) && !caller.includes('node_modules')) reads.push(name + caller);
          return target[name];
        },
      });
      const { apiHandlers } = await import('./local/functions.ts');
      await import('./local/service.ts');
      await import('./local/dataset.ts');
      await import('./local/portal.ts');
      await import('./lambdas/validate/reference-route.ts');
      const names = ['ACCOUNTS_TABLE', 'ADDRESSES_TABLE', 'BRANDING', 'METRIC_NAMESPACE'];
      const values = Object.fromEntries(names.map((name) => [name, name === 'BRANDING' ? '{}' : 'x']));
      const client = { send: async () => ({}), middlewareStack: { clone: () => ({ add() {} }) } };
      const routes = await apiHandlers({ values, client, log() {} });
      console.log(JSON.stringify({ routes: routes.length, reads }));`;
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script]);
    expect(JSON.parse(stdout)).toEqual({ routes: 4, reads: [] });
  });
});
