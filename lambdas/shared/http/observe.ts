import { Metrics, MetricUnit } from '@aws-lambda-powertools/metrics';
import { redactKeys } from '../accounts/api-key.ts';
import { metricNames, metricNamespace, requestDimensions } from '../metric-names.ts';
import type { Middleware, MiddlewareRequest } from './event.ts';
import { reasonOf } from './problem.ts';

/**
 * Writes one line a request: its metrics in embedded metric format, and beside them who asked and what came of it. An
 * error that is not the caller's gets a line of its own. Neither ever holds a header, a path, a query or a label.
 */
export function observe(service: string): Middleware {
  const metrics = new Metrics({ namespace: metricNamespace, serviceName: service });

  function report({ event, response }: MiddlewareRequest, outcome: string): void {
    const { caller, startedAt, requestContext } = event;
    metrics.addDimension(requestDimensions.outcome, outcome);
    metrics.addMetric(metricNames.requests, MetricUnit.Count, 1);
    metrics.addMetric(metricNames.latency, MetricUnit.Milliseconds, performance.now() - startedAt);
    if (caller?.charged) {
      metrics.addMetric(metricNames.charges, MetricUnit.Count, 1);
      metrics.addMetric(metricNames.windowRolls, MetricUnit.Count, caller.charged.rolled.length);
    }
    metrics.addMetadata('request_id', requestContext.requestId);
    metrics.addMetadata('status', String(response?.statusCode));
    if (caller) metrics.addMetadata('account', caller.account).addMetadata('key_id', caller.keyId);
    metrics.publishStoredMetrics();
  }

  async function explain({ event, response, error }: MiddlewareRequest, outcome: string): Promise<void> {
    if (!error || (response?.statusCode ?? 500) < 500) return;
    // Seldom needed, so not loaded at every cold start.
    const { Logger } = await import('@aws-lambda-powertools/logger');
    const { caller, requestContext } = event;
    const details = { error, request_id: requestContext.requestId, account: caller?.account ?? null };
    new Logger({ serviceName: service, jsonReplacerFn: withoutKeys }).error(outcome, details);
  }

  return {
    before: ({ event }) => {
      event.startedAt = performance.now();
    },
    after: (request) => report(request, request.event.outcome ?? 'ok'),
    onError: async (request) => {
      const { code } = reasonOf(request.error);
      report(request, code);
      await explain(request, code);
    },
  };
}

/** For the logger: an error may quote what a caller sent. */
function withoutKeys(_: string, value: unknown): unknown {
  return typeof value === 'string' ? redactKeys(value) : value;
}
