import { isDeepStrictEqual } from 'node:util';
import { Logger } from '@aws-lambda-powertools/logger';
import { Metrics, MetricUnit } from '@aws-lambda-powertools/metrics';
import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { isApiKey, redactKeys } from '../../core/accounts/api-key.ts';
import { canaryEnvironment, metricNames, metricNamespace, requireEnvironment } from '../../core/names.ts';

const secrets = new SecretsManagerClient();
const metrics = new Metrics({ namespace: metricNamespace, serviceName: 'canary' });
const logger = new Logger({ serviceName: 'canary' });

/** Makes each kind of call on a schedule. Reads the key each time, so that a new one takes effect at once. */
export async function handler(): Promise<void> {
  const url = requireEnvironment(canaryEnvironment.url);
  const SecretId = requireEnvironment(canaryEnvironment.keySecret);
  const { SecretString = '' } = await secrets.send(new GetSecretValueCommand({ SecretId }));
  const startedAt = performance.now();
  let lookupMilliseconds: number | undefined;
  const reason = await probe(url, SecretString.trim(), () => {
    lookupMilliseconds = performance.now() - startedAt;
  });
  metrics.addMetric(metricNames.canaryFailures, MetricUnit.Count, reason === undefined ? 0 : 1);
  const milliseconds = lookupMilliseconds ?? performance.now() - startedAt;
  metrics.addMetric(metricNames.canaryLatency, MetricUnit.Milliseconds, milliseconds);
  metrics.publishStoredMetrics();
  if (reason !== undefined) logger.error(reason);
}

/** For all calls together: more than the five seconds in which every request must be answered. */
const timeoutMilliseconds = 16_000;

/**
 * Calls all operations over HTTP, as a consumer does, and says what was wrong, without the key. `url` is the address of
 * a lookup that finds an address. The same address must be found among many, with its toevoegingen, and the key must be
 * valid.
 */
export async function probe(url: string, key: string, lookedUp = () => {}): Promise<string | undefined> {
  // `fetch` quotes a header that it can't send.
  if (!isApiKey(key)) return 'the secret of the canary does not contain an API key; put one there';
  const signal = AbortSignal.timeout(timeoutMilliseconds);
  const headers = { 'x-api-key': key, 'content-type': 'application/json' };

  async function call(path: string, request: RequestInit = {}) {
    const response = await fetch(new URL(path, url), { headers, signal, ...request });
    const json = (await response.json()) as Record<string, unknown>;
    if (response.status !== 200) throw new Error(`status ${response.status}, ${json.type}`);
    return { json, policy: response.headers.get('ratelimit-policy') };
  }

  let asked = 'GET /v1/address';
  try {
    const one = await call(url);
    lookedUp();
    const { status, address } = one.json;
    if (status !== 'ok') return `${asked}: the address is ${status}`;

    asked = 'POST /v1/addresses';
    const addresses = [Object.fromEntries(new URL(url).searchParams)];
    const many = await call('addresses', {
      method: 'POST',
      body: JSON.stringify({ addresses, include: ['toevoegingen'] }),
    });
    const [first] = many.json.results as { address: unknown; toevoegingen?: unknown }[];
    if (!isDeepStrictEqual(first?.address, address)) return `${asked}: the address is not that of the single lookup`;
    if (!Array.isArray(first?.toevoegingen)) return `${asked}: the toevoegingen are missing`;

    asked = 'GET /v1/auth/validate';
    const { json, policy } = await call('auth/validate');
    if (json.valid !== true) return `${asked}: the key is not valid`;
    if (policy !== one.policy) return `${asked}: RateLimit-Policy is not that of the lookup`;
    return undefined;
  } catch (error) {
    const { name, message } = error as Error;
    return redactKeys(`${asked}: ${name === 'Error' ? '' : `${name}: `}${message}`);
  }
}
