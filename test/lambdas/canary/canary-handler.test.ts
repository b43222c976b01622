import { text } from 'node:stream/consumers';
import { Logger } from '@aws-lambda-powertools/logger';
import { Metrics } from '@aws-lambda-powertools/metrics';
import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  it,
  jest,
} from '@jest/globals';
import { mockClient } from 'aws-sdk-client-mock';
import { issueApiKey } from '../../../core/accounts/api-key.ts';
import { canaryEnvironment } from '../../../core/environment.ts';
import { metricNames } from '../../../core/metrics.ts';
import { handler, probe } from '../../../lambdas/canary/canary-handler.ts';
import { newAccount, usedOf } from '../../support/address-service.ts';
import { startHttpServer } from '../../support/http-server.ts';
import { type HttpService, startHttpService } from '../../support/http-service.ts';
import { startForTests } from '../../support/start-for-tests.ts';

const { key } = issueApiKey('canary', 'any secret');
type Reply = { status: number; body: string; headers?: Record<string, string> };
const lookup = 'GET /v1/address';
const many = 'POST /v1/addresses';
const validation = 'GET /v1/auth/validate';
const place = { straat: 'Nieuwezijds Voorburgwal', woonplaats: 'Amsterdam' };
const policy = { 'ratelimit-policy': '"day";q=5000;w=86400' };
const json = (body: unknown, headers: Record<string, string> = policy): Reply => ({
  status: 200,
  body: JSON.stringify(body),
  headers,
});

let replies: Record<string, Reply>;
let asked: { call: string; key: unknown; query: string; body: string }[];
const server = startForTests(() =>
  startHttpServer(async (request, response) => {
    const { pathname, search } = new URL(request.url ?? '', 'http://host');
    const call = `${request.method} ${pathname}`;
    asked.push({
      call,
      key: request.headers['x-api-key'],
      query: search,
      body: await text(request),
    });
    const { status, body, headers } = replies[call] ?? { status: 404, body: '{}' };
    response.writeHead(status, headers).end(body);
  }),
);
const url = () => `${server.url}/v1/address?postcode=1012RJ&huisnummer=147`;

beforeEach(() => {
  asked = [];
  replies = {
    [lookup]: json({ status: 'ok', address: place }),
    [many]: json({ results: [{ status: 'ok', address: place, toevoegingen: [null] }] }),
    [validation]: json({ valid: true }),
  };
});

describe('a probe', () => {
  it('finds nothing wrong when its key finds the address by itself and among many, and is valid', async () => {
    expect((await probe(url(), key)).fault).toBeUndefined();
    const body =
      '{"addresses":[{"postcode":"1012RJ","huisnummer":"147"}],"include":["toevoegingen"]}';
    expect(asked).toEqual([
      { call: lookup, key, query: '?postcode=1012RJ&huisnummer=147', body: '' },
      { call: many, key, query: '', body },
      { call: validation, key, query: '', body: '' },
    ]);
  });

  it.each<[string, Reply, string]>([
    [
      lookup,
      json({ status: 'not_found' }, { 'dataset-date': '2021-10-08' }),
      'the address is not_found',
    ],
    [
      lookup,
      { status: 429, body: '{"type":"/problems/quota-exceeded"}' },
      'status 429, /problems/quota-exceeded',
    ],
    [lookup, { status: 502, body: `<html>${key}` }, 'status 502, no JSON'],
    [lookup, { status: 500, body: `{"type":"${key}"}` }, 'status 500'],
    [many, { status: 503, body: '{"type":"/problems/temporarily-unavailable"}' }, 'status 503'],
    [
      many,
      json({ results: [{ address: { ...place, straat: 'Dam' } }] }),
      'differs from the single lookup',
    ],
    [many, json({ results: [{ address: place }] }), 'the toevoegingen are missing'],
    [many, json({}), 'TypeError'],
    [validation, { status: 500, body: '{"type":"/problems/internal-error"}' }, 'status 500'],
    [validation, json({ valid: false }), 'the key is not valid'],
    [validation, json({ valid: true }, {}), 'RateLimit-Policy differs from the lookup'],
  ])('names %s and what is wrong with %j, and never the key', async (call, reply, reason) => {
    replies[call] = { ...reply, headers: { ...reply.headers, 'x-echo': key } };
    const { fault: result } = await probe(url(), key);
    expect(result).toContain(call);
    expect(result).toContain(reason);
    expect(result).not.toContain(key);
  });

  it('finds no fault before anything is loaded', async () => {
    replies[lookup] = json({ status: 'not_found' });
    expect(await probe(url(), key)).toEqual({ isEmpty: true });
  });

  it('sends no request when its secret is not a key, and does not quote the secret', async () => {
    for (const secret of ['', 'not a key', `${key}\n`, `${key}\u2603`, key.slice(0, -1)]) {
      const { fault } = await probe(url(), secret);
      expect(fault).toContain('does not contain an API key');
      expect(fault).not.toContain(key.slice(-35));
    }
    expect(asked).toEqual([]);
  });

  it('fails when nothing listens', async () => {
    expect((await probe('http://127.0.0.1:1/', key)).fault).toContain('NoAnswerError');
  });
});

describe('the canary', () => {
  const secrets = mockClient(SecretsManagerClient);
  const output: string[] = [];
  beforeEach(() => {
    output.length = 0;
    process.env[canaryEnvironment.url] = url();
    process.env[canaryEnvironment.keySecret] = 'canary-key';
    jest.spyOn(Metrics.prototype, 'addMetric').mockImplementation(function (
      this: Metrics,
      name,
      _unit,
      value,
    ) {
      output.push(`${name} ${value}`);
      return this;
    });
    jest
      .spyOn(Logger.prototype, 'error')
      .mockImplementation((...[reason]) => void output.push(String(reason)));
    secrets.reset();
    secrets
      .on(GetSecretValueCommand, { SecretId: 'canary-key' })
      .resolves({ SecretString: `${key}\n` });
  });
  afterEach(() => {
    jest.restoreAllMocks();
    for (const name of Object.values(canaryEnvironment)) delete process.env[name];
  });

  it('reports a failure with its reason, and never the key', async () => {
    replies[lookup] = json({ status: 'not_found' }, { 'dataset-date': '2021-10-08' });
    await handler();
    expect(output.join()).toContain(`${metricNames.canaryFailures} 1`);
    expect(output.join()).toContain('the address is not_found');
    expect(output.join()).not.toContain(key);
  });

  it('reads the secret for each probe, so that a new key takes effect at once', async () => {
    await handler();
    expect(output.join()).toContain(`${metricNames.canaryFailures} 0`);
    const { key: newKey } = issueApiKey('canary', 'any secret');
    secrets.on(GetSecretValueCommand).resolves({ SecretString: newKey });
    await handler();
    expect(asked.map((one) => one.key)).toEqual([key, key, key, newKey, newKey, newKey]);
  });

  it.each(Object.values(canaryEnvironment))('says so when %s is not set', async (name) => {
    delete process.env[name];
    await expect(handler()).rejects.toThrow(name);
  });
});

describe('the probe of a real service', () => {
  let service: HttpService;
  beforeAll(async () => {
    service = await startHttpService();
  });
  afterAll(() => service.stop());

  it('finds nothing wrong, with or without limits, and takes two units', async () => {
    for (const limits of [{ day: 100 }, {}] as Record<string, number>[]) {
      const account = await newAccount(service, { ...limits, month: null });
      const address = `${service.baseUrl}/v1/address?postcode=1012RJ&huisnummer=147`;
      expect(await probe(address, account.key)).toEqual({});
      expect((await usedOf(service, account.id)).month).toBe(2);
    }
  });
});
