import { Duration } from 'aws-cdk-lib';
import type { Alarm, IAlarm } from 'aws-cdk-lib/aws-cloudwatch';
import { LambdaDeploymentConfig, LambdaDeploymentGroup } from 'aws-cdk-lib/aws-codedeploy';
import { Alias } from 'aws-cdk-lib/aws-lambda';
import type { IBucket } from 'aws-cdk-lib/aws-s3';
import { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import type { Construct } from 'constructs';
import { canaryEnvironment, environment, usageEnvironment } from '../../core/environment.ts';
import { metricNames, metricNamespaceOf, metricNamespaceVariable } from '../../core/metrics.ts';
import { statementsPrefix } from '../../core/tables.ts';
import type { Config } from '../config/config-schema.ts';
import { deploymentName } from '../config/deployment.ts';
import { acknowledge, allow, defaultEventBus, type TableInUse } from '../shared/grants.ts';
import { LambdaFunction, type LambdaFunctionProps } from '../shared/lambda-function.ts';
import { type AlarmTopic, ownMetric } from '../shared/monitoring.ts';
import {
  type ApiFunction,
  type ApiFunctionId,
  apiFunctions,
  optionalVariables,
} from '../shared/routes.ts';

type CommonProps = Pick<LambdaFunctionProps, 'config' | 'encryptionKey'>;

export type HttpFunctionProps = CommonProps &
  Pick<LambdaFunctionProps, 'reservedConcurrentExecutions' | 'operatorFiles'> & {
    /** Its tables, by the variable with their name. */
    tables: Readonly<Record<string, TableInUse>>;
    /** The operator's branding for the pages, as JSON. */
    branding: string;
    /** How many are kept started. */
    provisionedConcurrency?: number | undefined;
  };

/**
 * A Lambda that answers HTTP requests, behind an alias, so that a deployment can shift traffic to a
 * new version gradually.
 */
export class HttpFunction extends LambdaFunction {
  readonly live: Alias;

  constructor(scope: Construct, id: ApiFunctionId, props: HttpFunctionProps) {
    const { tables, branding, provisionedConcurrency, ...common } = props;
    const { config } = common;
    const { description, timeoutSeconds, memoryMegabytes, requires, ...listed }: ApiFunction =
      apiFunctions[id];
    const values: Record<string, string> = {
      [metricNamespaceVariable]: metricNamespaceOf(config.stage),
      [environment.branding]: branding,
    };
    const optional = Object.entries(optionalVariables).map(
      ([name, valueIn]) => [name, valueIn(config)] as const,
    );
    super(scope, id, {
      ...common,
      bundle: id,
      description,
      memorySize: memoryMegabytes,
      timeout: Duration.seconds(timeoutSeconds),
      environment: {
        ...Object.fromEntries(
          requires.flatMap((name) => (values[name] === undefined ? [] : [[name, values[name]]])),
        ),
        ...Object.fromEntries(optional.flatMap(([name, value]) => (value ? [[name, value]] : []))),
      },
      withoutDeadLetterQueue:
        'API Gateway invokes it synchronously: the caller gets the error, and nothing is queued.',
    });
    for (const [variable, operations] of Object.entries(listed.tables)) {
      const table = tables[variable];
      if (!table) {
        throw new Error(`The table of routes names ${variable}, which ${id} has no table for.`);
      }
      this.usesTable(table, variable, ...operations);
    }
    this.live = new Alias(this, 'Live', {
      aliasName: 'live',
      version: this.function.currentVersion,
      ...(provisionedConcurrency && { provisionedConcurrentExecutions: provisionedConcurrency }),
    });
  }

  /**
   * Shifts traffic to a new version as configured, and back when one of the `alarms` goes off;
   * `emergency` ignores them.
   */
  deploySafely({ deployment }: Config, alarms: IAlarm[]): void {
    const isEmergency = deployment === 'emergency';
    const group = new LambdaDeploymentGroup(this, 'Deployment', {
      alias: this.live,
      alarms,
      // In an incident the alarms are already on: they would stop the deployment that ends it.
      ignoreAlarmConfiguration: isEmergency,
      autoRollback: { failedDeployment: true, deploymentInAlarm: !isEmergency },
      deploymentConfig:
        deployment === 'canary'
          ? LambdaDeploymentConfig.CANARY_10PERCENT_5MINUTES
          : LambdaDeploymentConfig.ALL_AT_ONCE,
    });
    acknowledge(
      group,
      'AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AWSCodeDeployRoleForLambdaLimited]',
      'The policy that AWS maintains for this purpose: it reads alarms and moves aliases, for CodeDeploy only.',
    );
  }
}

export type CanaryProps = CommonProps & {
  canary: NonNullable<Config['canary']>;
  baseUrl: string;
  topic: AlarmTopic;
  /** The alarm for errors that callers get. */
  serverErrors: Alarm;
};

/**
 * Calls the API every few minutes, as a caller does, and raises an alarm after two failures in a
 * row.
 */
export class Canary extends LambdaFunction {
  readonly failed: Alarm;

  constructor(scope: Construct, id: string, props: CanaryProps) {
    const { config, encryptionKey, canary, baseUrl, topic, serverErrors } = props;
    super(scope, id, {
      config,
      encryptionKey,
      bundle: 'Canary',
      description: 'Looks up an address, as a caller does',
      memorySize: 256,
      timeout: Duration.seconds(20),
      environment: {
        [metricNamespaceVariable]: metricNamespaceOf(config.stage),
        [canaryEnvironment.url]: `${baseUrl}/v1/address?postcode=${canary.postcode}&huisnummer=${canary.huisnummer}`,
      },
      withoutDeadLetterQueue:
        'The alarm sees a lookup that was missed, and the next one follows in minutes.',
    });
    this.usesSecret(
      Secret.fromSecretNameV2(this, 'Key', canary.keySecretName),
      canaryEnvironment.keySecret,
      canary.keySecretKeyArn,
    );
    const every = Duration.minutes(canary.everyMinutes);
    this.runEvery(every, { description: 'Runs the canary', maxEventAge: Duration.minutes(1) });
    this.failed = topic.alarms(this, {
      Failed: {
        metric: ownMetric(config.stage, 'canary', metricNames.canaryFailures, {
          statistic: 'Maximum',
          period: every,
        }),
        periods: [2, 2],
        noData: 'stopped',
        quietDuring: serverErrors,
        problem: 'The scheduled calls fail, or have stopped.',
        first:
          'run the saved query DEPLOYMENT/Canary failed/Errors in CloudWatch Logs Insights: 401 is the key in the secret of the canary, fetch failed the host name or its certificate. No lines: enable its schedule again in EventBridge Scheduler.',
        runbook: 'Canary failed',
      },
    }).Failed;
  }
}

export type UsageJobProps = CommonProps & {
  accounts: TableInUse;
  statements: IBucket;
  topic: AlarmTopic;
};

/** Records the usage of every account and reports limits that are nearly used up, once an hour. */
export class UsageJobFunction extends LambdaFunction {
  constructor(
    scope: Construct,
    id: string,
    { config, encryptionKey, accounts, statements, topic }: UsageJobProps,
  ) {
    super(scope, id, {
      config,
      encryptionKey,
      bundle: 'Usage',
      description: 'Records the usage of accounts by day',
      memorySize: 512,
      timeout: Duration.minutes(15),
      environment: {
        [usageEnvironment.deployment]: deploymentName(config.stage),
        [usageEnvironment.months]: String(config.usage.months),
        [usageEnvironment.messageAtShare]: String(config.usage.messageAtShare),
      },
      withoutDeadLetterQueue: 'The next run, within the hour, finishes the work.',
    });
    // A transaction of updates needs no more than UpdateItem.
    this.usesTable(
      accounts,
      environment.accountsTable,
      'GetItem',
      'BatchGetItem',
      'Query',
      'UpdateItem',
    );
    const all = [`${statementsPrefix}*`];
    this.usesBucket(statements, environment.statementsBucket, { read: all, write: all });
    if (config.usage.messageAtShare > 0) {
      allow(this.function, ['events:PutEvents'], [defaultEventBus(this)]);
    }
    this.runEvery(Duration.hours(1), {
      description: 'Records usage',
      maxEventAge: Duration.minutes(30),
    });
    topic.alarms(this, {
      Failed: {
        metric: this.function.metricErrors({ statistic: 'Sum', period: Duration.hours(1) }),
        noData: 'stopped',
        problem:
          'The hourly job that records usage fails, or has stopped. Quotas are counted all the same.',
        first:
          'read the log group of the function of DEPLOYMENT-service whose name has Usage. No lines: enable its schedule again in EventBridge Scheduler.',
        runbook: 'Usage job failed',
      },
    });
  }
}
