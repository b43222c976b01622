import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { apiHandlers, invoker } from '../../local/functions.ts';
import { startGateway } from '../../local/gateway/gateway.ts';
import { lambdaEnvironment } from '../support/address-service.ts';
import { startForTests } from '../support/start-for-tests.ts';

const lines: string[] = [];

/** A route whose handler does this. */
const route = (path: string, handler: Parameters<typeof invoker>[2]) => ({
  key: `ANY ${path}`,
  target: invoker('Tried', { timeoutSeconds: 0.2, memoryMegabytes: 128 }, handler, (line) =>
    lines.push(line),
  ),
});
const failure = () => new TypeError('the inside');

const gateway = startForTests(() =>
  startGateway({
    routes: [
      route(
        '/fine',
        async ({ rawPath: path }, { awsRequestId: id, getRemainingTimeInMillis: left }) => {
          return { statusCode: 200, body: JSON.stringify({ path, id, left: left() }) };
        },
      ),
      route('/throws', () => {
        throw failure();
      }),
      route('/rejects', () => Promise.reject(failure())),
      route('/hangs', () => new Promise(() => undefined)),
    ],
    host: '127.0.0.1',
    port: 0,
  }),
);
const get = (path: string) => fetch(`http://127.0.0.1:${gateway.port}${path}`);

describe('a handler in the process of npm start', () => {
  it('gets the event and a context with the time that is left, while another one hangs', async () => {
    const hanging = get('/hangs');
    const answer = (await Promise.race([get('/fine'), hanging])) as Response;
    const id = answer.headers.get('apigw-requestid');
    expect(await answer.json()).toEqual({ path: '/fine', id, left: expect.any(Number) });
    await hanging;
  });

  it.each([
    ['throws', /TypeError: the inside/],
    ['rejects', /TypeError: the inside/],
    ['hangs', /Task timed out after 0\.20 seconds/],
  ])(
    'that %s is answered as by API Gateway, with the reason in the log alone, and harms no other request',
    async (path, reason) => {
      lines.length = 0;
      const [failed, fine] = await Promise.all([get(`/${path}`), get('/fine')]);
      expect([failed.status, await failed.text()]).toEqual([
        500,
        '{"message":"Internal Server Error"}',
      ]);
      expect(fine.status).toBe(200);
      expect(lines).toEqual([expect.stringMatching(reason)]);
      expect(JSON.parse(lines[0] ?? '')).toMatchObject({ level: 'ERROR', function: 'Tried' });
      expect((await get('/fine')).status).toBe(200);
    },
  );
});

describe('the handlers of the API', () => {
  const place = {
    client: { send: () => Promise.reject(new Error('not called')) } as never,
    log: () => undefined,
  };

  it('do not start without a variable that the table of routes lists, and name it', async () => {
    const { ACCOUNTS_TABLE: _, ...values } = lambdaEnvironment('http://127.0.0.1:1');
    await expect(apiHandlers({ ...place, values })).rejects.toThrow('ACCOUNTS_TABLE is not set');
  });

  it('read no variable of the process while they are imported and made', async () => {
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
      const { apiHandlers, loadHandlers } = await import('./local/functions.ts');
      await import('./local/service.ts');
      await import('./local/dataset.ts');
      await loadHandlers();
      await import('./local/portal.ts');
      await import('./lambdas/validate/reference-route.ts');
      const names = ['ACCOUNTS_TABLE', 'ADDRESSES_TABLE', 'BRANDING', 'METRIC_NAMESPACE'];
      const values = Object.fromEntries(names.map((name) => [name, name === 'BRANDING' ? '{}' : 'x']));
      const client = { send: async () => ({}), middlewareStack: { clone: () => ({ add() {} }) } };
      const routes = await apiHandlers({ values, client, log() {} });
      console.log(JSON.stringify({ routes: routes.length, reads }));`;
    const { stdout } = await promisify(execFile)(process.execPath, [
      '--input-type=module',
      '--eval',
      script,
    ]);
    expect(JSON.parse(stdout)).toEqual({ routes: 4, reads: [] });
  });
});
