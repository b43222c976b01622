import { AccessLogFormat } from 'aws-cdk-lib/aws-apigateway';
import { type IAccessLogSettings, LogGroupLogDestination } from 'aws-cdk-lib/aws-apigatewayv2';
import { LogGroup, type LogGroupProps } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';

/**
 * What the gateway notes of a request. Never a header, the query string or what an answer holds, so no key, no label and
 * no address that was asked for. The caller's IP address is in it, to see where an attack comes from.
 */
const fields = {
  time: '$context.requestTime',
  request_id: '$context.requestId',
  ip: '$context.identity.sourceIp',
  route: '$context.routeKey',
  status: '$context.status',
  bytes: '$context.responseLength',
  latency_ms: '$context.responseLatency',
  integration_latency_ms: '$context.integrationLatency',
  error: '$context.error.message',
  integration_error: '$context.integrationErrorMessage',
};

/** Where and how a stage writes its access log. */
export function accessLog(scope: Construct, props: LogGroupProps): IAccessLogSettings {
  return {
    destination: new LogGroupLogDestination(new LogGroup(scope, 'AccessLog', props)),
    format: AccessLogFormat.custom(JSON.stringify(fields)),
  };
}
