import { Duration } from 'aws-cdk-lib';
import { MathExpression } from 'aws-cdk-lib/aws-cloudwatch';
import type { Table } from 'aws-cdk-lib/aws-dynamodb';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import { Construct } from 'constructs';
import { operatorAlarm } from '../monitoring/operator-alarm.ts';

export type TableAlarmsProps = { accounts: Table; addresses: Table; topic: ITopic };

/** Says when a table turns requests away. */
export class TableAlarms extends Construct {
  constructor(scope: Construct, id: string, { accounts, addresses, topic }: TableAlarmsProps) {
    super(scope, id);
    operatorAlarm(this, 'Accounts', {
      metric: throttled(accounts),
      threshold: 1,
      evaluationPeriods: 3,
      datapointsToAlarm: 2,
      says: 'The accounts table turns requests away: those callers get 503.',
      runbook: 'Accounts table throttled',
      topic,
    });
    operatorAlarm(this, 'Addresses', {
      // A load may meet a throttle or two while the table grows with it, and tries again; a lookup should not.
      metric: throttled(addresses),
      threshold: 100,
      evaluationPeriods: 3,
      datapointsToAlarm: 2,
      says: 'The addresses table turns requests away: lookups or a load go wrong.',
      runbook: 'Addresses table throttled',
      topic,
    });
  }
}

function throttled(table: Table): MathExpression {
  const period = Duration.minutes(1);
  return new MathExpression({
    label: 'throttled requests',
    expression: 'FILL(reads, 0) + FILL(writes, 0)',
    usingMetrics: {
      reads: table.metric('ReadThrottleEvents', { statistic: 'Sum' }),
      writes: table.metric('WriteThrottleEvents', { statistic: 'Sum' }),
    },
    period,
  });
}
