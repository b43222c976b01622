import { redactKeys } from '../../core/accounts/api-key.ts';
import { ChargeUnknown } from '../../core/accounts/charge/charge.ts';
import {
  alarmedOutcomes,
  causeDimension,
  metricNames,
  metricNamespace,
  requestDimensions,
  requestMetricsVariable,
} from '../../core/names.ts';
import type { Middleware, MiddlewareRequest } from './middleware.ts';
import { reasonOf } from './problem.ts';

/** Whether every outcome is a metric, or only those that raise an alarm. */
const everyOutcome = process.env[requestMetricsVariable] === 'all';
/** Set by tests and benchmarks, where the lines of requests would be noise. */
const isSilent = process.env.POWERTOOLS_METRICS_DISABLED === 'true';

/**
 * Writes one line for each request: the caller and the outcome, with a metric in embedded metric format where one is
 * read. An error that is not the caller's gets a separate line. No line ever contains a header, a path, a query or a
 * label.
 */
export function observe(service: string): Middleware {
  function report({ event, response, error }: MiddlewareRequest, outcome: string): void {
    if (isSilent) return;
    const { caller, startedAt, requestContext } = event;
    const cause = error instanceof ChargeUnknown ? error.because : undefined;
    const isMetric = everyOutcome || alarmedOutcomes.includes(outcome);
    const line = {
      ...(isMetric || cause ? metricsOf(isMetric, cause) : undefined),
      [requestDimensions.service]: service,
      [requestDimensions.outcome]: outcome,
      status: response?.statusCode,
      ms: Math.round(performance.now() - startedAt),
      request_id: requestContext.requestId,
      account: caller?.account,
      key_id: caller?.keyId,
      charged: caller?.charged?.units,
    };
    // Not the console, whose output Lambda wraps in its own format.
    process.stdout.write(`${JSON.stringify(line)}\n`);
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

/** One request, if it is a metric, and its charge of unknown outcome, as CloudWatch reads them from a log line. */
function metricsOf(isMetric: boolean, cause: string | undefined) {
  const { service } = requestDimensions;
  const definition = (name: string, Dimensions: string[][]) => {
    return { Namespace: metricNamespace, Dimensions, Metrics: [{ Name: name, Unit: 'Count' }] };
  };
  const CloudWatchMetrics = [
    ...(isMetric ? [definition(metricNames.requests, [Object.values(requestDimensions)])] : []),
    ...(cause ? [definition(metricNames.unknownCharges, [[service], [service, causeDimension]])] : []),
  ];
  return {
    _aws: { Timestamp: Date.now(), CloudWatchMetrics },
    ...(isMetric && { [metricNames.requests]: 1 }),
    ...(cause && { [metricNames.unknownCharges]: 1, [causeDimension]: cause }),
  };
}

/** What the logger gets of an error, which may quote what a caller sent. */
function withoutKeys(_: string, value: unknown): unknown {
  return typeof value === 'string' ? redactKeys(value) : value;
}
