import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Logger } from '@aws-lambda-powertools/logger';
import { Metrics } from '@aws-lambda-powertools/metrics';
import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { mockClient } from 'aws-sdk-client-mock';
import { issueApiKey } from '../../../core/accounts/api-key.ts';
import { canaryEnvironment, metricNames } from '../../../core/names.ts';
import { handler, probe } from '../../../lambdas/canary/handler.ts';

const { key } = issueApiKey('canary', 'any secret');
let server: Server;
let answer: { status: number; body: string };
let keys: unknown[];
const url = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/address`;

beforeAll(async () => {
  server = createServer((request, response) => {
    keys.push(request.headers['x-api-key']);
    response.writeHead(answer.status).end(answer.body);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
});
beforeEach(() => {
  keys = [];
  answer = { status: 200, body: '{"status":"ok"}' };
});
afterAll(() => {
  server.close();
});

describe('a probe', () => {
  it('succeeds when its key finds the address', async () => {
    expect(await probe(url(), key)).toEqual({ ok: true });
    expect(keys).toEqual([key]);
  });

  it.each([
    [{ status: 200, body: '{"status":"not_found"}' }, 'the address is not_found'],
    [{ status: 429, body: '{"type":"/problems/quota-exceeded"}' }, 'status 429, /problems/quota-exceeded'],
    [{ status: 401, body: '{"type":"/problems/unauthorized"}' }, 'status 401, /problems/unauthorized'],
    [{ status: 502, body: '<html>' }, 'SyntaxError'],
  ])('fails on %j with a reason that never contains the key', async (wrong, reason) => {
    answer = wrong;
    const result = await probe(url(), key);
    expect(result).toEqual({ ok: false, reason: expect.stringContaining(reason) });
    expect(JSON.stringify(result)).not.toContain(key);
  });

  it.each(['', 'not a key', `${key}\n`, `${key}\u2603`, key.slice(0, -1)])(
    'sends no request when its secret is not a key, and does not quote the secret: %#',
    async (secret) => {
      const result = await probe(url(), secret);
      expect(result).toEqual({ ok: false, reason: expect.stringContaining('does not contain an API key') });
      expect(JSON.stringify(result)).not.toContain(key.slice(-35));
      expect(keys).toEqual([]);
    },
  );

  it('fails when nothing listens', async () => {
    expect(await probe('http://127.0.0.1:1/', key)).toEqual({
      ok: false,
      reason: expect.stringContaining('fetch failed'),
    });
  });
});

describe('the canary', () => {
  const secrets = mockClient(SecretsManagerClient);
  const output: string[] = [];
  beforeEach(() => {
    output.length = 0;
    process.env[canaryEnvironment.url] = url();
    process.env[canaryEnvironment.keySecret] = 'canary-key';
    jest.spyOn(Metrics.prototype, 'addMetric').mockImplementation(function (this: Metrics, name, _unit, value) {
      output.push(`${name} ${value}`);
      return this;
    });
    jest.spyOn(Logger.prototype, 'error').mockImplementation((...[reason]) => void output.push(String(reason)));
    secrets.reset();
    secrets.on(GetSecretValueCommand, { SecretId: 'canary-key' }).resolves({ SecretString: `${key}\n` });
  });
  afterEach(() => {
    jest.restoreAllMocks();
    for (const name of Object.values(canaryEnvironment)) delete process.env[name];
  });

  it('probes with the key of the secret, and reports no failure', async () => {
    await handler();
    expect(keys).toEqual([key]);
    expect(output.join()).toContain(`${metricNames.canaryFailures} 0`);
  });

  it('reports a failure with its reason, and never the key', async () => {
    answer = { status: 200, body: '{"status":"not_found"}' };
    await handler();
    expect(output.join()).toContain(`${metricNames.canaryFailures} 1`);
    expect(output.join()).toContain('the address is not_found');
    expect(output.join()).not.toContain(key);
  });

  it('reads the secret for each probe, so that a new key takes effect at once', async () => {
    await handler();
    const { key: newKey } = issueApiKey('canary', 'any secret');
    secrets.on(GetSecretValueCommand).resolves({ SecretString: newKey });
    await handler();
    expect(keys).toEqual([key, newKey]);
  });

  it.each(Object.values(canaryEnvironment))('says so when %s is not set', async (name) => {
    delete process.env[name];
    await expect(handler()).rejects.toThrow(name);
  });
});
