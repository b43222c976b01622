import { isDeepStrictEqual } from 'node:util';
import { Logger } from '@aws-lambda-powertools/logger';
import { Metrics, MetricUnit } from '@aws-lambda-powertools/metrics';
import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { isApiKey, redactKeys } from '../../core/accounts/api-key.ts';
import { canaryEnvironment, requireEnvironment } from '../../core/environment.ts';
import { metricNames, metricNamespaceIn } from '../../core/metrics.ts';
import { type ApiRequest, callApi } from './call-api.ts';

const secrets = new SecretsManagerClient();
const metrics = new Metrics({ namespace: metricNamespaceIn(process.env), serviceName: 'canary' });
const logger = new Logger({ serviceName: 'canary' });

/**
 * Makes each kind of call on a schedule. Reads the key each time, so that a new one takes effect at
 * once.
 */
export async function handler(): Promise<void> {
  const url = requireEnvironment(canaryEnvironment.url);
  const SecretId = requireEnvironment(canaryEnvironment.keySecret);
  const { SecretString = '' } = await secrets.send(new GetSecretValueCommand({ SecretId }));
  const { fault, isEmpty } = await probe(url, SecretString.trim());
  // The alarm begins with the first data.
  if (isEmpty) return logger.info('nothing has been loaded yet, so there is nothing to find');
  metrics.addMetric(metricNames.canaryFailures, MetricUnit.Count, fault === undefined ? 0 : 1);
  metrics.publishStoredMetrics();
  if (fault !== undefined) logger.error(fault);
}

/** The limit for all calls together: more than the five seconds of every response. */
const timeoutMilliseconds = 16_000;

/** The fault, without the key. `isEmpty`: the dataset is missing, so no address can be found. */
export type Probed = { fault?: string; isEmpty?: boolean };

/**
 * Calls all operations as a consumer does; `url` is a lookup that finds an address, which must be
 * found again.
 */
export async function probe(url: string, key: string): Promise<Probed> {
  // `fetch` quotes a header that it can't send.
  if (!isApiKey(key)) {
    return { fault: 'the secret of the canary does not contain an API key; put one there' };
  }
  const signal = AbortSignal.timeout(timeoutMilliseconds);
  let asked = '';

  async function call(path: string, { method = 'GET', ...request }: ApiRequest = {}) {
    const target = new URL(path, url);
    asked = `${method} ${target.pathname}`;
    const headers = { 'content-type': 'application/json' };
    const { status, json, ...answer } = await callApi(target, {
      ...request,
      method,
      key,
      headers,
      signal,
    });
    if (status !== 200 || !json) throw new Error(`status ${status}, ${json?.type ?? 'no JSON'}`);
    return { ...answer, json, policy: answer.headers['ratelimit-policy'] };
  }

  try {
    const lookup = await call(url);
    const { status, address } = lookup.json;
    if (status === 'not_found' && lookup.headers['dataset-date'] === undefined) {
      return { isEmpty: true };
    }
    if (status !== 'ok') throw new Error(`the address is ${status}`);

    const addresses = [Object.fromEntries(new URL(url).searchParams)];
    const body = JSON.stringify({ addresses, include: ['toevoegingen'] });
    const [first] = (await call('addresses', { method: 'POST', body })).json.results as Record<
      string,
      unknown
    >[];
    if (!isDeepStrictEqual(first?.address, address)) {
      throw new Error('the address differs from the single lookup');
    }
    if (!Array.isArray(first?.toevoegingen)) throw new Error('the toevoegingen are missing');

    const { json, policy } = await call('auth/validate');
    if (json.valid !== true) throw new Error('the key is not valid');
    if (policy !== lookup.policy) throw new Error('RateLimit-Policy differs from the lookup');
    return {};
  } catch (error) {
    const { name, message } = error as Error;
    return { fault: redactKeys(`${asked}: ${name === 'Error' ? '' : `${name}: `}${message}`) };
  }
}
