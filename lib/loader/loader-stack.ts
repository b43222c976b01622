import { CfnOutput, Duration, Stack } from 'aws-cdk-lib';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import { Bucket } from 'aws-cdk-lib/aws-s3';
import type { Construct } from 'constructs';
import { expiringPrefixes } from '../../loader/names.ts';
import type { Config } from '../config/config-schema.ts';
import type { DataStack } from '../data/data-stack.ts';
import { abortUploads, bucketProps, isProtected, stackProps } from '../shared/data-protection.ts';
import { acknowledge } from '../shared/grants.ts';
import { type RunbookQueries, SavedQueries } from '../shared/monitoring.ts';
import { LoadMachine } from './load-machine.ts';
import { MAP_RUNS } from './load-states.ts';
import { LoaderAlarms, LoaderDashboard } from './loader-monitoring.ts';
import { LoaderSteps, mutationsSource } from './loader-steps.ts';

export type LoaderStackProps = { config: Config; stackName: string; data: DataStack };

/**
 * Keeps the addresses up to date: a bucket with snapshots, and a state machine that applies what
 * differs.
 */
export class LoaderStack extends Stack {
  readonly bucket: Bucket;
  readonly stateMachineArn: string;
  readonly stateMachineName: string;

  constructor(scope: Construct, id: string, { config, stackName, data }: LoaderStackProps) {
    super(scope, id, stackProps(config, stackName, 'loads of the BAG'));
    const { addresses, encryptionKey, alarmTopic: topic } = data;
    const bucket = snapshotBucket(this, config, encryptionKey);
    this.bucket = bucket;
    const steps = new LoaderSteps(this, 'Steps', { config, encryptionKey, addresses, bucket });
    const load = new LoadMachine(this, 'Load', { config, encryptionKey, steps, bucket });
    const { machine, logs } = load;
    this.stateMachineArn = machine.stateMachineArn;
    this.stateMachineName = machine.stateMachineName;
    new SavedQueries(this, 'Queries', config.stage, loaderQueries(steps, config));
    new LoaderAlarms(this, 'Alarms', { config, machine, logs, topic });
    if (config.dashboards) {
      new LoaderDashboard(this, 'Overview', { stage: config.stage, machine, steps, addresses });
    }
    if (config.source) new CfnOutput(this, 'ExtractSource', { value: config.source });
    if (config.mutations) {
      new CfnOutput(this, 'MutationsSource', { value: mutationsSource(config) });
    }
    new CfnOutput(this, 'StateMachineArn', { value: machine.stateMachineArn });
    new CfnOutput(this, 'SnapshotBucketName', { value: bucket.bucketName });
  }
}

/** Longer than any load takes, and enough to investigate a failed load. */
const workExpiration = Duration.days(30);
const versionExpiration = Duration.days(14);

/**
 * The bucket of loads and snapshots: private, encrypted, TLS only. The work of a load expires.
 * Snapshots and the manifest never do, because the next load compares with the last one; the loader
 * removes old snapshots itself.
 */
function snapshotBucket(scope: Construct, config: Config, encryptionKey: IKey | undefined): Bucket {
  const bucket = new Bucket(scope, 'Snapshots', {
    ...bucketProps(config, encryptionKey),
    // An operator can restore a manifest or snapshot that was overwritten or deleted by mistake.
    // Not in a trial: its bucket must be emptied before it can be deleted.
    versioned: isProtected(config),
    lifecycleRules: [
      ...[...expiringPrefixes, MAP_RUNS].map((prefix) => ({
        id: `Expire-${prefix.slice(0, -1)}`,
        prefix,
        expiration: workExpiration,
      })),
      ...(isProtected(config)
        ? [{ id: 'ExpireVersions', noncurrentVersionExpiration: versionExpiration }]
        : []),
      abortUploads,
    ],
  });
  acknowledge(
    bucket,
    'AwsSolutions-S1',
    'Only the loader uses it and it holds public data: access logs would cost more than they are worth.',
  );
  return bucket;
}

/** The runbook's queries on the logs of the steps. */
function loaderQueries({ steps }: LoaderSteps, { mutations }: Config): RunbookQueries {
  const differences =
    'filter message = "done" and ispresent(result.audit.added) | sort @timestamp desc | display @timestamp, result.peildatum, result.audit.added, result.audit.changed, result.audit.removed';
  const errors =
    'filter message = "failed" or type like /^platform/ | sort @timestamp desc | limit 20 | display @timestamp, error.name, error.message, input.load, type, record.status, record.errorType';
  return [
    [Object.values(steps).map(({ logs }) => logs), { 'Load failed/Errors': errors }],
    ...(mutations
      ? [[[steps.publish.logs], { 'Audit differences/Counts': differences }] as const]
      : []),
  ];
}
