import { ChargeUnknown } from '../../core/accounts/charge/charge.ts';
import type { Environment } from '../../core/environment.ts';
import {
  alarmedOutcomes,
  causeDimension,
  metricNames,
  metricNamespaceIn,
  requestDimensions,
  requestMetricsVariable,
} from '../../core/metrics.ts';
import type { Middleware, MiddlewareRequest } from './middleware.ts';
import { reasonOf } from './problem.ts';

/** The destination of request lines, and the choice of lines that are metrics. */
export type RequestLog = {
  /** Receives each line, without its end. */
  write: (line: string) => void;
  namespace: string;
  /** Whether every outcome is a metric, or only outcomes that raise an alarm. */
  everyOutcome: boolean;
};

/** The log of a function: CloudWatch reads a Lambda's standard output. */
export function requestLog(variables: Environment, write = writeOut): RequestLog {
  const everyOutcome = variables[requestMetricsVariable] === 'all';
  return { write, namespace: metricNamespaceIn(variables), everyOutcome };
}

/** Not the console, whose output Lambda wraps in its own format. */
function writeOut(line: string): void {
  process.stdout.write(`${line}\n`);
}

/**
 * Writes one line for each request: the caller and the outcome, with a metric in embedded metric
 * format if it is read. An error that is not the caller's gets a separate line. No line ever
 * contains a header, a path, a query or a label. Without a log it writes nothing.
 */
export function observe(service: string, log: RequestLog | undefined): Middleware {
  function report({ event, response, error }: MiddlewareRequest, outcome: string): void {
    if (!log) return;
    const { account, caller, startedAt, requestContext } = event;
    const cause = error instanceof ChargeUnknown ? error.because : undefined;
    const isMetric = log.everyOutcome || alarmedOutcomes.includes(outcome);
    const line = {
      ...(isMetric || cause ? metricsOf(log.namespace, isMetric, cause) : undefined),
      [requestDimensions.service]: service,
      [requestDimensions.outcome]: outcome,
      status: response?.statusCode,
      ms: Math.round(performance.now() - startedAt),
      request_id: requestContext.requestId,
      account,
      key_id: caller?.keyId,
      charged: caller?.charged?.units,
    };
    log.write(JSON.stringify(line));
  }

  async function explain(
    { event, response, error }: MiddlewareRequest,
    outcome: string,
  ): Promise<void> {
    if (!log || !error || (response?.statusCode ?? 500) < 500) return;
    // Seldom needed, so not loaded at every cold start.
    const { errorLogger } = await import('./error-logger.ts');
    const { account = null, requestContext } = event;
    const details = { error, request_id: requestContext.requestId, account };
    errorLogger(service, log.write).error(outcome, details);
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

/**
 * One request, if it is a metric, and its charge of unknown outcome, as CloudWatch reads them from
 * a log line.
 */
function metricsOf(namespace: string, isMetric: boolean, cause: string | undefined) {
  const { service } = requestDimensions;
  const definition = (name: string, Dimensions: string[][]) => {
    return { Namespace: namespace, Dimensions, Metrics: [{ Name: name, Unit: 'Count' }] };
  };
  const CloudWatchMetrics = [
    ...(isMetric ? [definition(metricNames.requests, [Object.values(requestDimensions)])] : []),
    ...(cause
      ? [definition(metricNames.unknownCharges, [[service], [service, causeDimension]])]
      : []),
  ];
  return {
    _aws: { Timestamp: Date.now(), CloudWatchMetrics },
    ...(isMetric && { [metricNames.requests]: 1 }),
    ...(cause && { [metricNames.unknownCharges]: 1, [causeDimension]: cause }),
  };
}
