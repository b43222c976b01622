import { Duration, TimeZone } from 'aws-cdk-lib';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import type { IBucket } from 'aws-cdk-lib/aws-s3';
import { Schedule, ScheduleExpression, ScheduleTargetInput } from 'aws-cdk-lib/aws-scheduler';
import { StepFunctionsStartExecution } from 'aws-cdk-lib/aws-scheduler-targets';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import { DefinitionBody, LogLevel, QueryLanguage, StateMachine } from 'aws-cdk-lib/aws-stepfunctions';
import { Construct } from 'constructs';
import type { Config } from '../config/schema.ts';
import { logGroupProps } from '../log-group-props.ts';
import { scheduleRole } from '../schedule-role.ts';
import { loadDefinition, mapNames } from './load-definition.ts';
import type { LoaderSteps } from './loader-steps.ts';
import { longestLoad } from './lock-times.ts';
import { letAskAfterLoads, letRunMaps, machineRole } from './machine-role.ts';

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
