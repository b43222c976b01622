import { Duration } from 'aws-cdk-lib';
import { MathExpression, Metric } from 'aws-cdk-lib/aws-cloudwatch';
import { metricNames, metricNamespaceOf, requestDimensions } from '../../lambdas/shared/metric-names.ts';

/** The services that a request's metrics tell apart. */
export type ServiceName = 'address' | 'validate';

const minute = Duration.minutes(1);

/** Requests of a service that ended in one way, a minute. */
export function requests(stage: string, service: ServiceName, outcome: string): Metric {
  return new Metric({
    namespace: metricNamespaceOf(stage),
    metricName: metricNames.requests,
    dimensionsMap: { [requestDimensions.service]: service, [requestDimensions.outcome]: outcome },
    statistic: 'Sum',
    period: minute,
    label: outcome,
  });
}

/** One line an outcome that occurred. Only for dashboards: an alarm can't search. */
export function byOutcome(stage: string, service: ServiceName, metricName: string): MathExpression {
  const schema = `${metricNamespaceOf(stage)},${requestDimensions.service},${requestDimensions.outcome}`;
  return new MathExpression({
    expression: `SEARCH('{${schema}} MetricName="${metricName}" ${requestDimensions.service}="${service}"', 'Sum')`,
    usingMetrics: {},
    label: '',
    period: minute,
  });
}
