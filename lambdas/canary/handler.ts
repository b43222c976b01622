import { Logger } from '@aws-lambda-powertools/logger';
import { Metrics, MetricUnit } from '@aws-lambda-powertools/metrics';
import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { requireEnvironment } from '../shared/environment.ts';
import { canaryEnvironment, metricNames, metricNamespace } from '../shared/metric-names.ts';
import { lookUp } from './look-up.ts';

const url = requireEnvironment(canaryEnvironment.url);
const keySecret = requireEnvironment(canaryEnvironment.keySecret);
const secrets = new SecretsManagerClient();
const metrics = new Metrics({ namespace: metricNamespace, serviceName: 'canary' });
const logger = new Logger({ serviceName: 'canary' });

/** Looks an address up on schedule. The key is read each time, so that a new one counts at once. */
export async function handler(): Promise<void> {
  const { SecretString = '' } = await secrets.send(new GetSecretValueCommand({ SecretId: keySecret }));
  const startedAt = performance.now();
  const sighting = await lookUp(url, SecretString.trim());
  metrics.addMetric(metricNames.canaryFailures, MetricUnit.Count, sighting.ok ? 0 : 1);
  metrics.addMetric(metricNames.canaryLatency, MetricUnit.Milliseconds, performance.now() - startedAt);
  metrics.publishStoredMetrics();
  if (!sighting.ok) logger.error(sighting.reason);
}
