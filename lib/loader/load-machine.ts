import { Arn, ArnFormat, Duration, TimeZone } from 'aws-cdk-lib';
import { Policy, PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import { type ILogGroup, LogGroup } from 'aws-cdk-lib/aws-logs';
import type { IBucket } from 'aws-cdk-lib/aws-s3';
import { Schedule, ScheduleExpression, ScheduleTargetInput } from 'aws-cdk-lib/aws-scheduler';
import { StepFunctionsStartExecution } from 'aws-cdk-lib/aws-scheduler-targets';
import {
  DefinitionBody,
  LogLevel,
  QueryLanguage,
  StateMachine,
} from 'aws-cdk-lib/aws-stepfunctions';
import { Construct } from 'constructs';
import { storagePrefixes } from '../../loader/names.ts';
import { logGroupProps, vendedLogGroupName } from '../shared/data-protection.ts';
import {
  acknowledge,
  acknowledgeWildcard,
  allow,
  defaultEventBus,
  scheduleRole,
} from '../shared/grants.ts';
import { type LoadDefinitionProps, loadDefinition, mapNames } from './load-definition.ts';
import { longestLoad, MAP_RUNS } from './load-states.ts';

const actionsOf = (service: string, names: string[]) => names.map((name) => `${service}:${name}`);

type MachineRoleProps = { functions: IFunction[]; bucket: IBucket; tracing: boolean };

/**
 * The role of the state machine: invoke its steps, read the items of its maps, write their results,
 * notify.
 */
function machineRole(scope: Construct, { functions, bucket, tracing }: MachineRoleProps): Role {
  const role = new Role(scope, 'Role', { assumedBy: new ServicePrincipal('states.amazonaws.com') });
  const versions = functions.map(({ functionArn }) => `${functionArn}:*`);
  allow(role, ['lambda:InvokeFunction'], versions);
  for (const version of versions) {
    acknowledgeWildcard(
      role,
      version,
      'A load that was running when a new version was deployed goes on calling the versions that it began with.',
    );
  }
  const items = `${storagePrefixes.loads}*`;
  const results = `${MAP_RUNS}*`;
  allow(role, ['s3:GetObject'], [bucket.arnForObjects(items)]);
  const writing = [
    's3:PutObject',
    's3:GetObject',
    's3:ListMultipartUploadParts',
    's3:AbortMultipartUpload',
  ];
  allow(role, writing, [bucket.arnForObjects(results)]);
  bucket.encryptionKey?.grant(role, 'kms:Decrypt', 'kms:GenerateDataKey');
  allow(role, ['events:PutEvents'], [defaultEventBus(scope)]);
  allow(role, ['lambda:GetAccountSettings'], ['*']);
  const traces = [
    'PutTraceSegments',
    'PutTelemetryRecords',
    'GetSamplingRules',
    'GetSamplingTargets',
  ];
  if (tracing) allow(role, actionsOf('xray', traces), ['*']);
  const deliveries = [
    'CreateLogDelivery',
    'GetLogDelivery',
    'UpdateLogDelivery',
    'DeleteLogDelivery',
  ];
  const policies = [
    'ListLogDeliveries',
    'PutResourcePolicy',
    'DescribeResourcePolicies',
    'DescribeLogGroups',
  ];
  allow(role, actionsOf('logs', [...deliveries, ...policies]), ['*']);
  acknowledge(
    role,
    'AwsSolutions-IAM5[Resource::*]',
    'The quota of Lambda, tracing and vended logs, whose actions support no resources; nothing else is granted on *.',
  );
  for (const keys of [items, results]) {
    acknowledgeWildcard(
      role,
      bucket.arnForObjects(keys),
      'Maps name their items and results at run time, under these prefixes.',
    );
  }
  return role;
}

/**
 * Allows the machine to run its maps, whose batches are executions of the machine itself. The CDK
 * creates the policy. It is not part of the role, because it names the machine, which depends on
 * the role.
 */
function grantMaps(role: Role, machine: StateMachine, maps: readonly string[]): void {
  role.attachInlinePolicy(machine.node.findChild('DistributedMapPolicy') as Policy);
  const executions = executionsOf(machine);
  for (const map of ['', ...maps.map((map) => `/${map}`)]) {
    acknowledgeWildcard(
      machine,
      `${executions}${map}:*`,
      'Executions of this machine only, which are named at run time.',
    );
  }
}

/**
 * Allows a step to describe executions of the machine, in a policy of its own for the same reason.
 */
function grantDescribeExecutions(step: IFunction, machine: StateMachine): void {
  const statement = new PolicyStatement({
    actions: ['states:DescribeExecution'],
    resources: [`${executionsOf(machine)}:*`],
  });
  step.role?.attachInlinePolicy(new Policy(machine, 'AskPolicy', { statements: [statement] }));
}

/** The ARN of the executions of a machine, without their names. */
function executionsOf({ stack, stateMachineArn }: StateMachine): string {
  return stack.formatArn({
    service: 'states',
    resource: 'execution',
    resourceName: Arn.split(stateMachineArn, ArnFormat.COLON_RESOURCE_NAME).resourceName ?? '',
    arnFormat: ArnFormat.COLON_RESOURCE_NAME,
  });
}

export type LoadMachineProps = LoadDefinitionProps & { encryptionKey: IKey | undefined };

/** Runs loads, and checks the source for a newer snapshot on schedule. */
export class LoadMachine extends Construct {
  readonly machine: StateMachine;
  /** The log of the executions: a line for each state that is entered or left. */
  readonly logs: ILogGroup;

  constructor(
    scope: Construct,
    id: string,
    { config, encryptionKey, steps, bucket }: LoadMachineProps,
  ) {
    super(scope, id);
    this.logs = new LogGroup(this, 'Logs', {
      ...logGroupProps(config, encryptionKey),
      logGroupName: vendedLogGroupName(this, 'loads'),
    });
    const role = machineRole(this, { functions: steps.functions, bucket, tracing: config.tracing });
    this.machine = new StateMachine(this, 'Machine', {
      // `machineRole` has all permissions; the CDK would add broader ones.
      role: role.withoutPolicyUpdates(),
      comment: 'Loads the BAG: writes only what differs from the live dataset',
      definitionBody: DefinitionBody.fromChainable(loadDefinition(this, { config, steps, bucket })),
      queryLanguage: QueryLanguage.JSONATA,
      timeout: longestLoad,
      tracingEnabled: config.tracing,
      logs: { destination: this.logs, level: LogLevel.ALL, includeExecutionData: true },
    });
    if (!config.tracing) {
      for (const rule of ['AwsSolutions-SF2', 'Serverless-StepFunctionStateMachineXray']) {
        acknowledge(
          this.machine,
          rule,
          'The operator decides by `tracing`: traces cost 5 dollars a million.',
        );
      }
    }
    grantMaps(role, this.machine, mapNames());
    grantDescribeExecutions(steps.steps.discover.function, this.machine);
    if (config.schedule === 'off') return;
    new Schedule(this, 'Daily', {
      description: 'Checks whether the source has a newer snapshot',
      schedule: ScheduleExpression.expression(config.schedule, TimeZone.of('Europe/Amsterdam')),
      target: new StepFunctionsStartExecution(this.machine, {
        role: scheduleRole(this, 'states:StartExecution', this.machine.stateMachineArn),
        input: ScheduleTargetInput.fromObject({}),
        retryAttempts: 3,
        maxEventAge: Duration.hours(1),
      }),
    });
  }
}
