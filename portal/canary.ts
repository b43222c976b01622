import { Logger } from '@aws-lambda-powertools/logger';
import { Metrics, MetricUnit } from '@aws-lambda-powertools/metrics';
import { optionalEnvironment, requireEnvironment } from '../core/environment.ts';
import { metricNamespaceIn } from '../core/metrics.ts';
import { portalCanaryEnvironment, portalMetrics, portalService } from './stack/portal-names.ts';

const metrics = new Metrics({
  namespace: metricNamespaceIn(process.env),
  serviceName: portalService,
});
const logger = new Logger({ serviceName: portalService });

/** Goes as far through a sign-in as one gets without a person, on a schedule. */
export async function handler(): Promise<void> {
  const baseUrl = requireEnvironment(portalCanaryEnvironment.baseUrl);
  const fault = await probeSignIn(baseUrl, requireEnvironment(portalCanaryEnvironment.issuer));
  metrics.addMetric(portalMetrics.canaryFailures, MetricUnit.Count, fault === undefined ? 0 : 1);
  const ends = optionalEnvironment(portalCanaryEnvironment.clientSecretExpires);
  if (ends !== undefined) {
    const days = Math.floor((Date.parse(ends) - Date.now()) / 86_400_000);
    metrics.addMetric(portalMetrics.clientSecretDays, MetricUnit.Count, days);
  }
  metrics.publishStoredMetrics();
  if (fault !== undefined) logger.error(fault);
}

/** Longer than a page of the portal may take. */
const timeoutMilliseconds = 12_000;

/**
 * Returns why nobody could sign in now, or `undefined`. It checks the portal's sign-in page, the
 * provider's page after it, and the provider's discovery document with the keys that the portal
 * verifies identities with.
 */
export async function probeSignIn(baseUrl: string, issuer: string): Promise<string | undefined> {
  try {
    const begin = await get(`${baseUrl}/sign-in`);
    const location = begin.headers.get('location');
    if (begin.status !== 303 || location === null) {
      return `the sign-in page of the portal answered ${begin.status}`;
    }
    const there = await get(location);
    if (there.status >= 400) return `the sign-in page of the provider answered ${there.status}`;
    const about = await json(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`);
    if (about.issuer !== issuer) return 'the discovery document is of another issuer';
    const { keys } = await json(String(about.jwks_uri));
    return Array.isArray(keys) && keys.length > 0 ? undefined : 'the provider publishes no keys';
  } catch (error) {
    const { name, message } = error as Error;
    return `${name}: ${message}`;
  }
}

function get(url: string): Promise<Response> {
  return fetch(url, { redirect: 'manual', signal: AbortSignal.timeout(timeoutMilliseconds) });
}

async function json(url: string): Promise<Record<string, unknown>> {
  const response = await get(url);
  if (response.status !== 200) {
    throw new Error(`${new URL(url).origin} answered ${response.status}`);
  }
  return (await response.json()) as Record<string, unknown>;
}
