import { GetAccountSettingsCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { ListSubscriptionsByTopicCommand, SNSClient } from '@aws-sdk/client-sns';
import { GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts';
import { patience, readStack } from '../connect/deployment.ts';
import { type Finding, failed, ok, warning } from './finding.ts';

/** Who the operator is to AWS. */
export async function checkCredentials(): Promise<Finding> {
  const client = new STSClient(patience);
  try {
    const { Arn = 'unknown' } = await client.send(new GetCallerIdentityCommand());
    return ok('credentials', Arn);
  } finally {
    client.destroy();
  }
}

/** Where the operator's commands go. */
export async function checkRegion(): Promise<Finding> {
  const client = new STSClient(patience);
  try {
    return ok('region', await client.config.region());
  } finally {
    client.destroy();
  }
}

/** What the stacks of this version need: they bring files along. */
const bootstrapVersion = 8;
const bootstrapStack = 'CDKToolkit';

/** Whether the CDK can deploy here. What is deployed already may have another bootstrap stack than the usual one. */
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
  if (version >= bootstrapVersion) return ok('bootstrap', found);
  return bad('bootstrap', `${found}; ${bootstrapVersion} is needed.`, bootstrap);
}

/** A load runs ten functions at once, beside the lookups; new accounts have ten in all. */
const comfortableConcurrency = 100;

/** How many Lambda functions may run at once. */
export async function checkConcurrency(): Promise<Finding> {
  const client = new LambdaClient(patience);
  try {
    const { AccountLimit } = await client.send(new GetAccountSettingsCommand());
    const { ConcurrentExecutions: limit = 0, UnreservedConcurrentExecutions: free = 0 } = AccountLimit ?? {};
    const found = `${free} of ${limit} functions may run at once without a reservation`;
    if (free >= comfortableConcurrency) return ok('lambda quota', found);
    const advice =
      'Lookups are throttled past that, the sooner while a load runs ten. Ask for 1,000: Service Quotas, AWS Lambda, ' +
      'Concurrent executions (L-B99A9384); it is free.';
    return warning('lambda quota', found, advice);
  } finally {
    client.destroy();
  }
}

/** Whether anybody hears of an alarm, and of a load that was refused. */
export async function checkAlarms(topicArn: string): Promise<Finding> {
  const client = new SNSClient(patience);
  try {
    const { Subscriptions = [] } = await client.send(new ListSubscriptionsByTopicCommand({ TopicArn: topicArn }));
    const confirmed = Subscriptions.filter(({ SubscriptionArn }) => SubscriptionArn?.startsWith('arn:'));
    if (confirmed.length > 0) return ok('alarms', `${confirmed.length} confirmed subscription(s) to ${topicArn}`);
    if (Subscriptions.some(({ SubscriptionArn }) => SubscriptionArn === 'PendingConfirmation')) {
      const advice =
        'Follow the link in the mail that AWS sent; the SNS console sends it again (Request confirmation).';
      return warning('alarms', 'Nobody hears of an alarm: the subscription is not confirmed.', advice);
    }
    const advice = `Set alarmEmail in cdk.json and deploy again, or subscribe to ${topicArn} yourself.`;
    return warning('alarms', 'Nobody hears of an alarm: no one is subscribed.', advice);
  } finally {
    client.destroy();
  }
}
