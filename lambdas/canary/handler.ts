import { Logger } from '@aws-lambda-powertools/logger';
import { Metrics, MetricUnit } from '@aws-lambda-powertools/metrics';
import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { isApiKey, redactKeys } from '../../core/accounts/api-key.ts';
import { canaryEnvironment, metricNames, metricNamespace, requireEnvironment } from '../../core/names.ts';

const secrets = new SecretsManagerClient();
const metrics = new Metrics({ namespace: metricNamespace, serviceName: 'canary' });
const logger = new Logger({ serviceName: 'canary' });

/** Looks up an address on a schedule. Reads the key each time, so that a new one takes effect at once. */
export async function handler(): Promise<void> {
  const url = requireEnvironment(canaryEnvironment.url);
  const SecretId = requireEnvironment(canaryEnvironment.keySecret);
  const { SecretString = '' } = await secrets.send(new GetSecretValueCommand({ SecretId }));
  const startedAt = performance.now();
  const result = await probe(url, SecretString.trim());
  metrics.addMetric(metricNames.canaryFailures, MetricUnit.Count, result.ok ? 0 : 1);
  metrics.addMetric(metricNames.canaryLatency, MetricUnit.Milliseconds, performance.now() - startedAt);
  metrics.publishStoredMetrics();
  if (!result.ok) logger.error(result.reason);
}

/** Whether a lookup found its address, or why not. The reason never has the key. */
export type ProbeResult = { ok: true } | { ok: false; reason: string };

/** More than the five seconds in which every request must be answered. */
const timeoutMilliseconds = 8000;

/** Looks up an address over HTTP, as a consumer does. */
export async function probe(url: string, key: string): Promise<ProbeResult> {
  // `fetch` quotes a header that it can't send.
  if (!isApiKey(key)) return failure('the secret of the canary does not contain an API key; put one there');
  try {
    const response = await fetch(url, {
      headers: { 'x-api-key': key },
      signal: AbortSignal.timeout(timeoutMilliseconds),
    });
    const body: unknown = await response.json();
    if (response.status !== 200) return failure(`status ${response.status}, ${member(body, 'type')}`);
    const status = member(body, 'status');
    return status === 'ok' ? { ok: true } : failure(`the address is ${status}`);
  } catch (error) {
    const { name, message } = error as Error;
    return failure(redactKeys(`${name}: ${message}`));
  }
}

function failure(reason: string): ProbeResult {
  return { ok: false, reason };
}

function member(body: unknown, name: string): unknown {
  return typeof body === 'object' && body !== null ? Reflect.get(body, name) : undefined;
}
