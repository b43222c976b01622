import { Duration } from 'aws-cdk-lib';
import { MathExpression, Metric } from 'aws-cdk-lib/aws-cloudwatch';
import { metricNames, metricNamespace, requestDimensions } from '../../lambdas/shared/metric-names.ts';

/** The services that a request's metrics tell apart. */
export type ServiceName = 'address' | 'validate';

const minute = Duration.minutes(1);

/** Requests of a service that ended in one way, a minute. */
export function requests(service: ServiceName, outcome: string): Metric {
  return new Metric({
    namespace: metricNamespace,
    metricName: metricNames.requests,
    dimensionsMap: { [requestDimensions.service]: service, [requestDimensions.outcome]: outcome },
    statistic: 'Sum',
    period: minute,
    label: outcome,
  });
}

/** One line an outcome that occurred. Only for dashboards: an alarm can't search. */
export function byOutcome(service: ServiceName, metricName: string, statistic: string): MathExpression {
  const schema = `${metricNamespace},${requestDimensions.service},${requestDimensions.outcome}`;
  return new MathExpression({
    expression: `SEARCH('{${schema}} MetricName="${metricName}" ${requestDimensions.service}="${service}"', '${statistic}')`,
    usingMetrics: {},
    label: '',
    period: minute,
  });
}
