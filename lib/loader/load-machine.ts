import { Arn, ArnFormat, Duration, Stack, TimeZone } from 'aws-cdk-lib';
import { Policy, PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import type { IBucket } from 'aws-cdk-lib/aws-s3';
import { Schedule, ScheduleExpression, ScheduleTargetInput } from 'aws-cdk-lib/aws-scheduler';
import { StepFunctionsStartExecution } from 'aws-cdk-lib/aws-scheduler-targets';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import { DefinitionBody, LogLevel, QueryLanguage, StateMachine } from 'aws-cdk-lib/aws-stepfunctions';
import { Construct } from 'constructs';
import { storagePrefixes } from '../../loader/names.ts';
import type { Config } from '../config/schema.ts';
import { logGroupProps } from '../shared/encryption.ts';
import { acknowledge, acknowledgeWildcard, scheduleRole } from '../shared/grants.ts';
import { loadDefinition, mapNames } from './load-definition.ts';
import { longestLoad } from './load-states.ts';
import type { LoaderSteps } from './loader-steps.ts';
import { MAP_RUNS } from './snapshot-bucket.ts';

export type MachineRoleProps = { functions: IFunction[]; bucket: IBucket; topic: ITopic };

/** What a load may do as a state machine: call its steps, read the items of its maps, write their results, tell. */
export function machineRole(scope: Construct, { functions, bucket, topic }: MachineRoleProps): Role {
  const role = new Role(scope, 'Role', { assumedBy: new ServicePrincipal('states.amazonaws.com') });
  const may = (actions: string[], resources: string[]) => role.addToPolicy(new PolicyStatement({ actions, resources }));
  may(
    ['lambda:InvokeFunction'],
    functions.map(({ functionArn }) => functionArn),
  );
  const items = `${storagePrefixes.loads}*`;
  const results = `${MAP_RUNS}*`;
  may(['s3:GetObject'], [bucket.arnForObjects(items)]);
  may(
    ['s3:PutObject', 's3:GetObject', 's3:ListMultipartUploadParts', 's3:AbortMultipartUpload'],
    [bucket.arnForObjects(results)],
  );
  bucket.encryptionKey?.grant(role, 'kms:Decrypt', 'kms:GenerateDataKey');
  topic.grantPublish(role);
  may(['xray:PutTraceSegments', 'xray:PutTelemetryRecords', 'xray:GetSamplingRules', 'xray:GetSamplingTargets'], ['*']);
  may(
    [
      'logs:CreateLogDelivery',
      'logs:GetLogDelivery',
      'logs:UpdateLogDelivery',
      'logs:DeleteLogDelivery',
      'logs:ListLogDeliveries',
      'logs:PutResourcePolicy',
      'logs:DescribeResourcePolicies',
      'logs:DescribeLogGroups',
    ],
    ['*'],
  );
  acknowledge(
    role,
    'AwsSolutions-IAM5[Resource::*]',
    'Tracing and the delivery of vended logs, whose actions know no resources; nothing else is granted on *.',
  );
  if (bucket.encryptionKey)
    acknowledge(
      role,
      'AwsSolutions-IAM5[Action::kms:GenerateDataKey*]',
      'How the CDK lets a role publish to an encrypted topic.',
    );
  for (const place of [items, results])
    acknowledgeWildcard(
      role,
      bucket,
      `<%.Arn>/${place}`,
      'Maps name their items and results at run time; these are their prefixes.',
    );
  return role;
}

/**
 * Lets the machine run its maps, each batch of which is an execution of the machine itself. The CDK makes the policy; it
 * stands apart from the role, which the machine waits for, as it names the machine.
 */
export function letRunMaps(role: Role, machine: StateMachine, maps: readonly string[]): void {
  role.attachInlinePolicy(machine.node.findChild('DistributedMapPolicy') as Policy);
  for (const map of ['', ...maps.map((map) => `/${map}`)]) acknowledgeExecutions(machine, map);
}

/** Lets a step ask how executions of the machine ended; by a policy that stands apart from its role for the same reason. */
export function letAskAfterLoads(step: IFunction, machine: StateMachine): void {
  const executions = Stack.of(machine).formatArn({
    service: 'states',
    resource: 'execution',
    resourceName: `${Arn.split(machine.stateMachineArn, ArnFormat.COLON_RESOURCE_NAME).resourceName}:*`,
    arnFormat: ArnFormat.COLON_RESOURCE_NAME,
  });
  const statement = new PolicyStatement({ actions: ['states:DescribeExecution'], resources: [executions] });
  step.role?.attachInlinePolicy(new Policy(machine, 'AskPolicy', { statements: [statement] }));
}

function acknowledgeExecutions(machine: StateMachine, map: string): void {
  const executions = `arn:aws:states:${Stack.of(machine).region}:<AWS::AccountId>:execution`;
  const machineName = '{"Fn::Select":[6,{"Fn::Split":[":",{"Ref":"%"}]}]}';
  acknowledgeWildcard(
    machine,
    machine,
    `${executions}:${machineName}${map}:*`,
    'Executions of this machine only, which get their names at run time.',
  );
}

export type LoadMachineProps = {
  config: Config;
  encryptionKey: IKey | undefined;
  steps: LoaderSteps;
  bucket: IBucket;
  topic: ITopic;
};

/** Runs loads, and asks on schedule whether there is something to load. */
export class LoadMachine extends Construct {
  readonly machine: StateMachine;
  readonly logs: LogGroup;

  constructor(scope: Construct, id: string, { config, encryptionKey, steps, bucket, topic }: LoadMachineProps) {
    super(scope, id);
    this.logs = new LogGroup(this, 'Logs', logGroupProps(config, encryptionKey));
    const role = machineRole(this, { functions: steps.all, bucket, topic });
    this.machine = new StateMachine(this, 'Machine', {
      // What a load may do stands in one place, and in full: the CDK would grant more.
      role: role.withoutPolicyUpdates(),
      comment: 'Loads the register: what is served changes by the difference only',
      definitionBody: DefinitionBody.fromChainable(loadDefinition(this, { steps, bucket, topic, stage: config.stage })),
      queryLanguage: QueryLanguage.JSONATA,
      timeout: longestLoad,
      tracingEnabled: true,
      logs: { destination: this.logs, level: LogLevel.ALL, includeExecutionData: true },
    });
    letRunMaps(role, this.machine, mapNames);
    letAskAfterLoads(steps.discover.function, this.machine);
    if (config.schedule === 'off') return;
    new Schedule(this, 'Daily', {
      description: 'Asks whether the register has a newer state',
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
