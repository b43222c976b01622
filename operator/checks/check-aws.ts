import { DescribeContinuousBackupsCommand, DescribeTableCommand, type DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { GetAccountSettingsCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { ListExecutionsCommand, type SFNClient } from '@aws-sdk/client-sfn';
import { ListSubscriptionsByTopicCommand, SNSClient } from '@aws-sdk/client-sns';
import { GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts';
import { loadDefaults } from '../../loader/names.ts';
import { dynamoDbAddressTable } from '../../loader/storage/address-table.ts';
import { openSource } from '../../loader/storage/open.ts';
import { SourceUnavailableError } from '../../loader/storage/source.ts';
import { clientConfig, readStack } from '../connect/deployment.ts';
import { type Finding, failed, okay, warning } from './finding.ts';

/** The AWS identity of the operator. */
export async function checkCredentials(): Promise<Finding> {
  const client = new STSClient(clientConfig);
  try {
    const { Arn = 'unknown' } = await client.send(new GetCallerIdentityCommand());
    return okay('credentials', Arn);
  } finally {
    client.destroy();
  }
}

/** The region that commands use. */
export async function checkRegion(): Promise<Finding> {
  const client = new STSClient(clientConfig);
  try {
    return okay('region', await client.config.region());
  } finally {
    client.destroy();
  }
}

/** The stacks have assets, which need this version of the bootstrap stack or a newer one. */
const bootstrapVersion = 8;
const bootstrapStack = 'CDKToolkit';

/** Whether the CDK can deploy here. An existing deployment may use a bootstrap stack of another name. */
export async function checkBootstrap({ isDeployed }: { isDeployed: boolean }): Promise<Finding> {
  const bad = isDeployed ? warning : failed;
  const bootstrap = 'Bootstrap this account and region: npx cdk bootstrap.';
  const { status, outputs } = await readStack(bootstrapStack).catch((error: Error) => {
    if (!/does not exist/.test(error.message)) throw error;
    return { status: 'none', outputs: {} as Partial<Record<string, string>> };
  });
  if (status === 'none') return bad('bootstrap', `There is no stack ${bootstrapStack}.`, bootstrap);
  const version = Number(outputs.BootstrapVersion ?? 0);
  const found = `${bootstrapStack} has version ${version}`;
  if (version >= bootstrapVersion) return okay('bootstrap', found);
  return bad('bootstrap', `${found}; version ${bootstrapVersion} or newer is needed.`, bootstrap);
}

/** A load runs up to ten functions at once, besides the lookups; a new account allows ten in total. */
const comfortableConcurrency = 100;

/** The concurrency quota of Lambda. */
export async function checkConcurrency(): Promise<Finding> {
  const client = new LambdaClient(clientConfig);
  try {
    const { AccountLimit } = await client.send(new GetAccountSettingsCommand());
    const { ConcurrentExecutions: limit = 0, UnreservedConcurrentExecutions: free = 0 } = AccountLimit ?? {};
    const found = `${free} of ${limit} concurrent executions are unreserved`;
    if (free >= comfortableConcurrency) return okay('lambda quota', found);
    const advice =
      'Lookups above that are throttled. Request 1,000, which is free: Service Quotas, AWS Lambda, Concurrent executions ' +
      `(L-B99A9384). Until then a load runs at most ${Math.max(1, Math.floor(free / 4))} functions at once, a quarter of these, ` +
      'and leaves the others to lookups.';
    return warning('lambda quota', found, advice);
  } finally {
    client.destroy();
  }
}

/** Whether anyone is notified of alarms and refused loads. */
export async function checkAlarms(topicArn: string): Promise<Finding> {
  const client = new SNSClient(clientConfig);
  try {
    const { Subscriptions = [] } = await client.send(new ListSubscriptionsByTopicCommand({ TopicArn: topicArn }));
    const confirmed = Subscriptions.filter(({ SubscriptionArn }) => SubscriptionArn?.startsWith('arn:'));
    if (confirmed.length > 0)
      return okay(
        'alarms',
        `${confirmed.length} confirmed ${confirmed.length === 1 ? 'subscription' : 'subscriptions'} to ${topicArn}`,
      );
    if (Subscriptions.some(({ SubscriptionArn }) => SubscriptionArn === 'PendingConfirmation')) {
      const advice = 'Open the link in the email from AWS. To send it again: SNS console, Request confirmation.';
      return warning('alarms', 'Nobody is notified of alarms: the subscription is not confirmed.', advice);
    }
    const advice = `Set alarmEmail in bag-adres.json and deploy again, or subscribe to ${topicArn}.`;
    return warning('alarms', 'Nobody is notified of alarms: the topic has no subscription.', advice);
  } finally {
    client.destroy();
  }
}

const restoreAdvice = 'A table that was deleted can be restored: docs/runbook.md#lost-table.';

/** Whether a table is active. */
export async function checkTable(client: DynamoDBClient, check: string, table: string): Promise<Finding> {
  const found = await client.send(new DescribeTableCommand({ TableName: table })).catch((error: Error) => {
    if (error.name === 'ResourceNotFoundException') return undefined;
    throw error;
  });
  // Deploying again does not help: CloudFormation creates nothing for a template that has not changed.
  if (!found) return failed(check, `There is no table ${table}.`, restoreAdvice);
  const status = found.Table?.TableStatus ?? 'unknown';
  if (status === 'ACTIVE' || status === 'UPDATING') return okay(check, `${table} is ${status}`);
  return failed(check, `${table} is ${status}`, `Wait until it is ACTIVE. ${restoreAdvice}`);
}

/** Whether a table can be restored, and is protected against deletion. */
export async function checkProtection(client: DynamoDBClient, check: string, table: string): Promise<Finding> {
  const backups = await client.send(new DescribeContinuousBackupsCommand({ TableName: table }));
  const { Table } = await client.send(new DescribeTableCommand({ TableName: table }));
  const recovery = backups.ContinuousBackupsDescription?.PointInTimeRecoveryDescription;
  if (recovery?.PointInTimeRecoveryStatus !== 'ENABLED') {
    const advice = 'It was switched off after the deployment. Enable it again: DynamoDB console, the table, Backups.';
    return failed(check, 'point-in-time recovery is off', advice);
  }
  if (!Table?.DeletionProtectionEnabled) {
    const advice = 'Right for a trial (removalPolicy "destroy"). Otherwise deploy again with removalPolicy "retain".';
    return warning(check, 'point-in-time recovery is on, deletion protection is off', advice);
  }
  return okay(check, 'point-in-time recovery and deletion protection are on');
}

/**
 * Which snapshot is live, and its age.
 * @param where the options that select this dataset in a command
 * @param demo the date of the demo, which is intentionally old
 * @param daily whether it follows days of mutations
 */
export async function checkDataset(
  client: DynamoDBClient,
  table: string,
  where: string,
  { now = Date.now(), demo = null, daily = false }: { now?: number; demo?: string | null; daily?: boolean } = {},
): Promise<Finding> {
  const dataset = await dynamoDbAddressTable(client, table).dataset();
  if (!dataset) return failed('dataset', 'No addresses are loaded yet.', `Load them: "load run ${where}".`);
  const days = Math.floor((now - Date.parse(dataset.peildatum)) / 86_400_000);
  const found = `snapshot of ${dataset.peildatum}, ${days === 1 ? '1 day' : `${days} days`} old`;
  if (dataset.peildatum === demo) return okay('dataset', `the demo, a ${found}`);
  if (days < (daily ? loadDefaults.oldAfterDaysOfMutations : loadDefaults.oldAfterDays)) return okay('dataset', found);
  return warning(
    'dataset',
    found,
    `${daily ? 'Mutations are published daily' : 'The extract is published monthly'}; "load status ${where}" says why none was loaded.`,
  );
}

/**
 * How to deploy again after the first deployment of a stack has failed. `cdk deploy` alone can't: it has to delete the
 * stack first, and has protected it against that before it failed.
 */
function redeploy(stack: string): string {
  const tables = stack.endsWith('-data') ? ' The tables that it had created stay, empty, and are not in the way.' : '';
  return (
    'The first deployment failed; the stack events in CloudFormation say why. Fix that, delete the failed stack, and ' +
    `deploy again: aws cloudformation update-termination-protection --no-enable-termination-protection --stack-name ${stack}; ` +
    `aws cloudformation delete-stack --stack-name ${stack}; ` +
    `aws cloudformation wait stack-delete-complete --stack-name ${stack}; npx cdk deploy --all.${tables}`
  );
}

/** The status of a stack. */
export async function checkStack(name: string): Promise<Finding> {
  const check = `stack ${name}`;
  const { status } = await readStack(name);
  if (/^(?:CREATE|UPDATE|IMPORT)_COMPLETE$/.test(status)) return okay(check, status);
  if (/^(?:CREATE_FAILED|ROLLBACK_COMPLETE|ROLLBACK_FAILED)$/.test(status))
    return failed(check, status, redeploy(name));
  if (status === 'REVIEW_IN_PROGRESS') {
    return failed(check, status, 'A deployment was prepared but not started. Deploy again: npx cdk deploy --all.');
  }
  if (/IN_PROGRESS$/.test(status))
    return warning(check, status, 'A deployment is in progress; check again when it has ended.');
  if (/^(?:UPDATE|IMPORT)_ROLLBACK_COMPLETE$/.test(status)) {
    return warning(
      check,
      status,
      'The last deployment was rolled back; the stack events in CloudFormation say why. Fix that and deploy again.',
    );
  }
  if (status === 'UPDATE_ROLLBACK_FAILED') {
    const advice =
      'Neither the deployment nor its rollback succeeded; the stack events in CloudFormation say why. Fix that, then: ' +
      `aws cloudformation continue-update-rollback --stack-name ${name}. When that has ended, deploy again.`;
    return failed(check, status, advice);
  }
  return failed(check, status, 'The stack events in CloudFormation say why; no deployment is possible in this status.');
}

/** How the last execution of the state machine ended. */
export async function checkLoads(client: SFNClient, stateMachineArn: string, where: string): Promise<Finding> {
  const { executions = [] } = await client.send(new ListExecutionsCommand({ stateMachineArn, maxResults: 1 }));
  const [last] = executions;
  if (!last) return warning('last load', 'No load has run yet.', `Start one: "load run ${where}".`);
  const found = `${last.status} (${last.name}, started ${last.startDate?.toISOString()})`;
  if (last.status === 'SUCCEEDED') return okay('last load', found);
  if (last.status === 'RUNNING')
    return okay(
      'last load',
      `${found}; a deployment does not change its steps. "load follow ${last.name} ${where}" shows its progress`,
    );
  const why = `"load follow ${last.name} ${where}" says why it ended, "load status ${where}" whether a load is refused.`;
  return warning('last load', found, `${why} See docs/runbook.md#load-failed.`);
}

/** Whether this machine can reach the extract that the daily check reads. The service runs without it. */
export async function checkSource(location: string): Promise<Finding> {
  const source = await openSource(location).catch((error: Error) => {
    if (error instanceof SourceUnavailableError) return error;
    throw error;
  });
  if (source instanceof Error) {
    const advice = 'Wait until its server is back: the service answers, and the next check tries again.';
    return warning('source', source.message, advice);
  }
  const { size = null, lastModified = null } = source?.version ?? {};
  await source?.close();
  const megabytes = size === null ? 'unknown size' : `${Math.round(size / 1e6).toLocaleString('en')} MB`;
  return okay('source', `${location}: ${megabytes}, last modified ${lastModified ?? 'at an unknown time'}`);
}

/** Which version of this project is deployed. */
export function checkVersion(deployed: string | undefined, own: string): Finding {
  if (deployed === own) return okay('version', `${deployed}, as this command line`);
  const advice = `Install the deployed version (npm install bag-adres@${deployed ?? 'VERSION'}), or deploy this one: npx bag-adres upgrade.`;
  return warning('version', `${deployed ?? 'unknown'} is deployed; this command line is ${own}`, advice);
}
