import { CloudFormationClient, DeleteStackCommand, paginateListStackResources } from '@aws-sdk/client-cloudformation';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DeleteObjectsCommand, ListObjectVersionsCommand, S3Client } from '@aws-sdk/client-s3';
import { portalStackName } from '../../lib/config/deployment.ts';
import { callerIdentity } from '../connect/admin.ts';
import { clientConfig, deploymentStacks, ifMissing, readStack, readTemplate } from '../connect/deployment.ts';
import { CommandError } from '../connect/errors.ts';
import { accountOf } from '../connect/target.ts';
import { patient, waitUntil } from '../connect/wait-for.ts';
import {
  checkInto,
  describeContents,
  printTarget,
  type RecoveryInput,
  type RecoveryReport,
  type RecoveryStep,
  runSteps,
} from './procedure.ts';

/** Why something is still there after its stack was deleted, by its type. */
const kept: Readonly<Record<string, string>> = {
  'AWS::Backup::BackupVault': 'it has backups, which expire after 35 days; delete it then',
  'AWS::KMS::Key': 'KMS deletes it after 30 days',
  'AWS::SecretsManager::Secret': 'Secrets Manager can restore it for 30 days, then deletes it',
};

/**
 * Plans to delete a trial with all that it holds, and does it with `execute`: stacks in the order in which they need
 * each other, each bucket before its stack, since CloudFormation deletes only an empty one.
 * @throws CommandError for a deployment that is protected from deletion, or whose stacks don't exist
 */
export async function takeDown(input: RecoveryInput): Promise<RecoveryReport> {
  const { name, stacks } = deploymentStacks(input.stack);
  checkInto(name, input.into);
  // The job of the service writes statements, so it goes before their bucket.
  const order = [portalStackName(name), stacks.service, stacks.loader, stacks.data];
  const views = await Promise.all(
    order.map(async (stack) => ({ stack, view: await readStack(stack).catch(ifMissing) })),
  );
  const found = views.flatMap(({ stack, view }) => (view ? [{ stack, ...view }] : []));
  if (found.length === 0)
    throw new CommandError(
      'aws_not_found',
      `There is no stack of ${name}. Check the name, AWS_PROFILE and AWS_REGION.`,
    );
  const isProtected = found.filter((one) => one.isProtected).map(({ stack }) => stack);
  if (isProtected.length > 0)
    throw new CommandError(
      'protected',
      `${isProtected.join(', ')}: protected from deletion, as "removalPolicy" is "retain". This takes down trials only. See docs/deploy.md#take-it-down.`,
    );
  const [formation, s3, client] = [
    new CloudFormationClient(clientConfig),
    // The emulator of the tests has one host name for all buckets.
    new S3Client({ ...clientConfig, forcePathStyle: process.env.AWS_ENDPOINT_URL_S3 !== undefined }),
    new DynamoDBClient(clientConfig),
  ];
  try {
    const data = found.find(({ stack }) => stack === stacks.data);
    const now = data ? await describeContents(client, (output) => data.outputs[output] ?? '') : 'the rest of it';
    const actor = await callerIdentity();
    const target = { account: accountOf(actor), region: await client.config.region(), deployment: name, now };
    printTarget(target, input.print);
    const left = (await Promise.all(found.map(({ stack }) => keptOf(formation, stack)))).flat();
    const steps = found.flatMap(({ stack, outputs }): RecoveryStep[] => {
      const buckets = [outputs.SnapshotBucketName, outputs.StatementsBucketName].flatMap((bucket) => bucket ?? []);
      return [
        ...buckets.map((bucket) => ({
          what: `Delete every version of every object in ${bucket}`,
          destroys: true,
          isDone: async () => (await pageOf(s3, bucket)).length === 0,
          run: () => empty(s3, bucket),
        })),
        {
          what: `Delete the stack ${stack}`,
          destroys: true,
          isDone: async () => (await statusOf(stack)) === 'DELETE_COMPLETE',
          run: () => remove(stack),
        },
      ];
    });
    const remove = async (stack: string) => {
      await formation.send(new DeleteStackCommand({ StackName: stack }));
      await waitUntil(input.patience ?? patient, () => isGone(stack));
    };
    const report = await runSteps(steps, input, target);
    const summary = left.map((line) => `Stays: ${line}.`);
    if (report.remaining.length > 0) summary.push(`It deletes all of this: with --yes it also needs --into ${name}.`);
    return { target, ...report, summary };
  } finally {
    for (const one of [formation, s3, client]) one.destroy();
  }
}

/** `DELETE_COMPLETE` of a stack that does not exist. */
async function statusOf(stack: string): Promise<string> {
  return (await readStack(stack).catch(ifMissing))?.status ?? 'DELETE_COMPLETE';
}

/** @throws CommandError for a stack that could not be deleted */
async function isGone(stack: string): Promise<boolean> {
  const status = await statusOf(stack);
  if (status !== 'DELETE_FAILED') return status === 'DELETE_COMPLETE';
  throw new CommandError('delete_failed', `CloudFormation could not delete ${stack}: the events of the stack say why.`);
}

/** What the deletion of a stack leaves, and until when. */
async function keptOf(client: CloudFormationClient, stack: string): Promise<string[]> {
  const { Resources = {} }: { Resources?: Record<string, { DeletionPolicy?: string }> } = JSON.parse(
    await readTemplate(stack),
  );
  const lines: string[] = [];
  for await (const { StackResourceSummaries = [] } of paginateListStackResources({ client }, { StackName: stack }))
    for (const { LogicalResourceId = '', PhysicalResourceId, ResourceType = '' } of StackResourceSummaries) {
      const isRetained = Resources[LogicalResourceId]?.DeletionPolicy?.startsWith('Retain') === true;
      const reason = kept[ResourceType];
      // Versions of a function go with it.
      if (ResourceType === 'AWS::Lambda::Version' || (!isRetained && ResourceType === 'AWS::Backup::BackupVault'))
        continue;
      if (isRetained || reason)
        lines.push(`${PhysicalResourceId} (${ResourceType}): ${reason ?? 'delete it yourself'}`);
    }
  return lines;
}

type Version = { Key: string; VersionId?: string | undefined };

/** Up to a thousand versions and delete markers; none of a bucket that is gone. */
async function pageOf(s3: S3Client, bucket: string): Promise<Version[]> {
  const found = await s3.send(new ListObjectVersionsCommand({ Bucket: bucket })).catch((error: Error) => {
    if (error.name !== 'NoSuchBucket') throw error;
    return { Versions: [], DeleteMarkers: [] };
  });
  return [...(found.Versions ?? []), ...(found.DeleteMarkers ?? [])].flatMap(({ Key, VersionId }) =>
    Key === undefined ? [] : [{ Key, VersionId }],
  );
}

/** @throws CommandError for a version that can't be deleted */
async function empty(s3: S3Client, bucket: string): Promise<void> {
  for (let page = await pageOf(s3, bucket); page.length > 0; page = await pageOf(s3, bucket)) {
    const { Errors = [] } = await s3.send(
      new DeleteObjectsCommand({ Bucket: bucket, Delete: { Objects: page, Quiet: true } }),
    );
    const [first] = Errors;
    if (first) throw new CommandError('not_empty', `${first.Key} in ${bucket} can't be deleted: ${first.Message}.`);
  }
}
