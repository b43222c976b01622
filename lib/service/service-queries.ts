import type { ILogGroup } from 'aws-cdk-lib/aws-logs';
import type { SavedQuery } from '../shared/saved-queries.ts';

export type ServiceLogs = { address: ILogGroup; validate: ILogGroup; access: ILogGroup; canary: ILogGroup | undefined };

/** What the runbook asks of the logs of the service. */
export function serviceQueries({ address, validate, access, canary }: ServiceLogs): SavedQuery[] {
  return [
    {
      chapter: 'Server errors',
      name: 'Outcomes',
      logs: [address],
      query: 'filter status >= 500 | stats count(*) as requests by outcome',
    },
    {
      chapter: 'Server errors',
      name: 'Errors',
      logs: [address],
      query:
        'filter level = "ERROR" | sort @timestamp desc | limit 20 | display @timestamp, message, error.name, error.message, request_id',
    },
    {
      chapter: 'Server errors',
      name: 'Seen by the gateway',
      logs: [access],
      query: 'filter status >= 500 | stats count(*) as requests by route, status, error, lambda_status',
    },
    {
      chapter: 'Slow answers',
      name: 'Gateway and function',
      logs: [access],
      query:
        'stats pct(latency_ms, 99) as total, pct(integration_latency_ms, 99) as function, count(*) as requests by bin(1m)',
    },
    {
      chapter: 'Slow answers',
      name: 'Outcomes',
      logs: [address],
      query: 'stats pct(ms, 99) as p99, max(ms) as longest, count(*) as requests by outcome',
    },
    {
      chapter: 'Function errors',
      name: 'Failures',
      logs: [address, validate],
      query:
        'filter type like /^platform/ | sort @timestamp desc | limit 20 | display @timestamp, type, record.status, record.errorType',
    },
    {
      chapter: 'Internal errors',
      name: 'Errors',
      logs: [address, validate],
      query:
        'filter message = "internal-error" | sort @timestamp desc | limit 20 | display @timestamp, error.name, error.message, account, request_id',
    },
    {
      chapter: 'Gateway throttles',
      name: 'Callers',
      logs: [access],
      query: 'filter error = "THROTTLED" | stats count(*) as requests by route, ip | sort requests desc | limit 10',
    },
    {
      chapter: 'Charge failures',
      name: 'Errors',
      logs: [address],
      query: 'filter level = "ERROR" | stats count(*) as errors by error.cause.name, account',
    },
    {
      chapter: 'Refused keys',
      name: 'Callers',
      logs: [access],
      query: 'filter status = 401 | stats count(*) as requests by ip | sort requests desc | limit 10',
    },
    {
      chapter: 'Refused keys',
      name: 'Accounts',
      logs: [address],
      query: 'filter outcome = "unauthorized" and ispresent(account) | stats count(*) as requests by account',
    },
    {
      chapter: 'Accounts table throttled',
      name: 'Accounts',
      logs: [address],
      query: 'stats count(*) as requests by account | sort requests desc | limit 5',
    },
    ...(canary
      ? [
          {
            chapter: 'Canary failed',
            name: 'Errors',
            logs: [canary],
            query: 'filter level = "ERROR" | sort @timestamp desc | limit 5',
          },
        ]
      : []),
  ];
}
