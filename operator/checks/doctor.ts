import {
  CloudWatchClient,
  DescribeAlarmsCommand,
  type MetricAlarm,
} from '@aws-sdk/client-cloudwatch';
import { DynamoDBClient, ScanCommand } from '@aws-sdk/client-dynamodb';
import { GetAccountSettingsCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { ListSubscriptionsByTopicCommand, SNSClient } from '@aws-sdk/client-sns';
import { GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts';
import { storedAddress } from '../../core/addresses/address-item.ts';
import { parseAddressKey } from '../../core/addresses/address-key.ts';
import { storedLayout } from '../../core/tables.ts';
import { type ApiAnswer, callApi } from '../../lambdas/canary/call-api.ts';
import { packageVersion, portalStackName } from '../../lib/config/deployment.ts';
import { dynamoDbAddressTable } from '../../loader/storage/address-table.ts';
import { readLocalState } from '../../local/data-folder.ts';
import { localDynamoDb } from '../../local/engine/client.ts';
import {
  clientConfig,
  deploymentStacks,
  findDeployment,
  ifMissing,
  readStack,
  readTemplate,
  templateLayoutFault,
} from '../deployment/deployed-stacks.ts';
import { explainError } from '../deployment/errors.ts';
import { lookupPath, type WrittenAddress } from './run-smoke.ts';
import { type CheckOutcome, checkTable, failed, okay, skipped, warning } from './table-settings.ts';

export type Finding = { check: string } & CheckOutcome;

type Checks = Record<string, () => CheckOutcome | Promise<CheckOutcome>>;

/** Runs each check; an error that it throws becomes a failed finding. */
async function examine(checks: Checks): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const [check, work] of Object.entries(checks)) {
    try {
      findings.push({ check, ...(await work()) });
    } catch (error) {
      const { code, message } = explainError(error);
      findings.push({ check, ...failed(message, errorAdvice[code] ?? 'See docs/runbook.md.') });
    }
  }
  return findings;
}

const errorAdvice: Record<string, string> = {
  aws_credentials: 'Sign in ("aws sso login", "aws configure"), or set AWS_PROFILE.',
  aws_region: 'For the service on this machine: doctor --local.',
  aws_access: 'Allow this identity to read it, or sign in as another one.',
  aws_not_found:
    'Check the name, AWS_PROFILE and AWS_REGION. If it was never deployed: npx cdk deploy --all.',
  no_output: 'Deploy this version: npx cdk deploy --all.',
  other_layout: 'Or start this version on other data: npm start -- --data FOLDER.',
  not_running: 'Start it, in another terminal: npm start.',
  unreachable: 'Check the network; a proxy or VPN may block the connection.',
};

const hasFailed = ({ state }: Finding) => state === 'failed';

type LookupOptions = { key?: string | undefined; address?: WrittenAddress | undefined };

/** A lookup takes tens of milliseconds; a cold start under a second. */
const slowMilliseconds = 2_000;

const logs = 'See the function logs, the dashboard of the service stack, and docs/runbook.md.';

/**
 * Whether the API answers, whether the key is valid, and whether it finds an address: the given
 * one, else one from the table.
 */
function apiChecks(
  baseUrl: string,
  { key, address }: LookupOptions,
  client: DynamoDBClient,
  table: string,
): Checks {
  const noKey = skipped('No key was given.', 'Give --key, or BAG_ADRES_KEY in the environment.');
  return {
    /** Without a key it returns 401, and uses no quota. */
    async api() {
      const { status, milliseconds } = await ask(baseUrl, '/v1/auth/validate');
      const found = `${baseUrl} answered ${status} in ${milliseconds} ms`;
      return status === 401
        ? okay(found)
        : failed(`${found}; a request without a key must return 401.`, logs);
    },
    /** Uses no quota. */
    async key() {
      if (key === undefined) return noKey;
      const { status, json } = await ask(baseUrl, '/v1/auth/validate', key);
      if (status === 200) {
        return okay(`plan ${json?.plan_code}, limits ${JSON.stringify(json?.limits)}`);
      }
      const advice =
        'Check the key, and its account ("account list"), or create a key: "key create --account acme --label doctor".';
      return failed(`The API returned ${status}: ${json?.detail ?? 'no reason given'}`, advice);
    },
    /** Uses one unit of quota. */
    async lookup() {
      if (key === undefined) return noKey;
      const wanted = address ?? (await someAddress(client, table));
      if (!wanted) {
        return skipped(
          'There is no address to look up.',
          'Load the addresses first, or give --address.',
        );
      }
      return lookUp(baseUrl, key, wanted);
    },
  };
}

async function lookUp(
  baseUrl: string,
  key: string,
  address: WrittenAddress,
): Promise<CheckOutcome> {
  const { status, milliseconds, json } = await ask(baseUrl, lookupPath(address), key);
  const asked = `${address.postcode} ${address.huisnummer} ${address.toevoeging}`.trim();
  if (status === 429) {
    return warning('The account has no quota left.', 'Give a key of another account.');
  }
  if (status !== 200) {
    return failed(`${asked}: ${status}, ${json?.detail ?? 'no reason given'}`, logs);
  }
  const found = json?.address as { straat: string; woonplaats: string } | null | undefined;
  if (!found) {
    return failed(
      `${asked} is ${json?.status}.`,
      'Give an --address that exists, or check the load.',
    );
  }
  const text = `${asked} is ${found.straat}, ${found.woonplaats}, in ${milliseconds} ms`;
  return milliseconds < slowMilliseconds
    ? okay(text)
    : warning(text, `The lookup is slow. ${logs}`);
}

async function ask(baseUrl: string, path: string, key: string | null = null): Promise<ApiAnswer> {
  const answer = await callApi(baseUrl + path, { key }).catch((error: Error) => {
    throw new Error(`${new URL(baseUrl).origin} does not answer: ${error.message}`, {
      cause: error,
    });
  });
  return { ...answer, milliseconds: Math.round(answer.milliseconds) };
}

/** An address of the table whose lookup is not ambiguous. */
async function someAddress(client: DynamoDBClient, table: string): Promise<WrittenAddress | null> {
  const { Items = [] } = await client.send(new ScanCommand({ TableName: table, Limit: 50 }));
  for (const { key, places } of Items.map(storedAddress)) {
    const address = places.length === 1 && parseAddressKey(key);
    if (address) return { ...address, toevoeging: address.toevoeging ?? '' };
  }
  return null;
}

/** The stacks have assets, which need this version of the bootstrap stack or a newer one. */
const bootstrapVersion = 8;
const bootstrapStack = 'CDKToolkit';

/**
 * Whether the CDK can deploy here. An existing deployment may use a bootstrap stack of another
 * name.
 */
async function checkBootstrap(isDeployed: boolean): Promise<CheckOutcome> {
  const bad = (found: string) =>
    (isDeployed ? warning : failed)(found, 'Bootstrap this account and region: npx cdk bootstrap.');
  const stack = await readStack(bootstrapStack).catch(ifMissing);
  if (!stack) return bad(`There is no stack ${bootstrapStack}.`);
  const version = Number(stack.outputs.BootstrapVersion ?? 0);
  const found = `${bootstrapStack} has version ${version}`;
  return version >= bootstrapVersion
    ? okay(found)
    : bad(`${found}; version ${bootstrapVersion} or newer is needed.`);
}

/**
 * A load runs up to ten functions at once, besides the lookups; a new account allows ten in total.
 */
const comfortableConcurrency = 100;

async function checkConcurrency(): Promise<CheckOutcome> {
  const { AccountLimit } = await new LambdaClient(clientConfig).send(
    new GetAccountSettingsCommand(),
  );
  const { ConcurrentExecutions: limit = 0, UnreservedConcurrentExecutions: free = 0 } =
    AccountLimit ?? {};
  const found = `${free} of ${limit} concurrent executions are unreserved`;
  if (free >= comfortableConcurrency) return okay(found);
  const request = 'Request 1,000, which is free: docs/runbook.md#concurrency has the command.';
  const until = `Until then a load runs at most ${Math.max(1, Math.floor(free / 4))} functions at once, a quarter of this number.`;
  return warning(found, `Lookups above that are throttled. ${request}\n${until}`);
}

/** The status of a stack, and the remedy for a failed stack. */
async function checkStack(name: string): Promise<CheckOutcome> {
  const { status } = await readStack(name);
  if (/^(?:CREATE|UPDATE|IMPORT)_COMPLETE$/.test(status)) return okay(status);
  const events = `${onStack(name, 'describe-stack-events')} says why.`;
  if (/^(?:CREATE_FAILED|ROLLBACK_COMPLETE|ROLLBACK_FAILED)$/.test(status)) {
    return failed(status, redeploy(name, events));
  }
  if (status === 'REVIEW_IN_PROGRESS') {
    return failed(
      status,
      'A deployment was prepared but not started. Deploy again: npx cdk deploy --all.',
    );
  }
  if (status === 'UPDATE_ROLLBACK_FAILED') {
    return failed(
      status,
      `${events}\nFix that, then: ${onStack(name, 'continue-update-rollback')}`,
    );
  }
  if (/IN_PROGRESS$/.test(status)) {
    return warning(status, 'Check again when the deployment has ended.');
  }
  if (/ROLLBACK_COMPLETE$/.test(status)) {
    return warning(
      status,
      `The last deployment was rolled back. ${events}\nFix that and deploy again.`,
    );
  }
  return failed(status, `No deployment is possible in this status. ${events}`);
}

/**
 * A plain "cdk deploy" can't: the stack has to be deleted first, and was protected before it
 * failed.
 */
function redeploy(stack: string, events: string): string {
  const commands = [
    'update-termination-protection --no-enable-termination-protection',
    'delete-stack',
    'wait stack-delete-complete',
  ].map((command) => onStack(stack, command));
  const advice = [
    'The first deployment failed.',
    events,
    'Fix that, delete the stack and deploy again:',
  ];
  return [...advice, ...commands, 'npx cdk deploy --all'].join('\n');
}

const onStack = (stack: string, command: string) =>
  `aws cloudformation ${command} --stack-name ${stack}`;

/** Checks that somebody is notified, which an alarm can't tell itself. */
async function checkAlarms(
  deployment: string,
  stacks: readonly string[],
  topic: string,
): Promise<CheckOutcome> {
  const alarms = new DescribeAlarmsCommand({ AlarmNamePrefix: `${deployment}-`, MaxRecords: 100 });
  const [{ Subscriptions = [] }, { MetricAlarms = [] }] = await Promise.all([
    new SNSClient(clientConfig).send(new ListSubscriptionsByTopicCommand({ TopicArn: topic })),
    new CloudWatchClient(clientConfig).send(alarms),
  ]);
  // The name of another deployment may begin with the name of this one.
  const isOurs = ({ AlarmName = '' }: MetricAlarm) =>
    stacks.some((stack) => AlarmName.startsWith(`${stack}-`));
  const ours = MetricAlarms.filter(isOurs);
  if (ours.length === 0) {
    return warning(
      'There is no alarm.',
      'Somebody deleted them: docs/runbook.md#find-and-revert-manual-changes.',
    );
  }
  const silent = ours
    .filter(({ ActionsEnabled }) => ActionsEnabled === false)
    .map(({ AlarmName }) => AlarmName);
  if (silent.length > 0) {
    return warning(
      `${silent.length} of ${ours.length} alarms notify nobody: their actions are off`,
      `aws cloudwatch enable-alarm-actions --alarm-names ${silent.join(' ')}`,
    );
  }
  const confirmed = Subscriptions.filter(({ SubscriptionArn }) =>
    SubscriptionArn?.startsWith('arn:'),
  ).length;
  if (confirmed === 0) {
    const [why, advice] =
      Subscriptions.length > 0
        ? [
            'subscription is not confirmed',
            'Open the link in the email from AWS. To send it again: SNS console, Request confirmation.',
          ]
        : [
            'topic has no subscription',
            `Set alarmEmail in bag-adres.json and deploy again, or subscribe to ${topic}.`,
          ];
    return warning(`Nobody is notified of alarms: the ${why}.`, advice);
  }
  return okay(
    `${ours.length} alarms notify ${confirmed} ${confirmed === 1 ? 'subscription' : 'subscriptions'}`,
  );
}

/** Which register is live. How old it may be is for an alarm. */
async function checkDataset(
  client: DynamoDBClient,
  table: string,
  where: string,
): Promise<CheckOutcome> {
  const dataset = await dynamoDbAddressTable(client, table).dataset();
  if (dataset) return okay(`the register of ${dataset.peildatum}`);
  return failed('No addresses are loaded yet.', `Load them: "load run ${where}".`);
}

function checkVersion(deployed: string | undefined, own: string): CheckOutcome {
  if (deployed === own) return okay(`${deployed}, as this command line`);
  const install = `npm install --save-exact bag-adres@${deployed ?? 'VERSION'}`;
  const advice = `Install the deployed version: ${install}. Or deploy this one: docs/deploy.md#upgrade.`;
  return warning(`${deployed ?? 'unknown'} is deployed; this command line is ${own}`, advice);
}

/** Whether this command line can read the data of the deployed version. */
async function checkLayout(stack: string): Promise<CheckOutcome> {
  const fault = templateLayoutFault(await readTemplate(stack));
  if (!fault) return okay(`${storedLayout}, as this command line`);
  const advice =
    'Run no command of this version on it: the release notes (CHANGELOG.md) say which version fits, and how to move the stored data.';
  return failed(`${stack} ${fault}`, advice);
}

/**
 * Checks the AWS account, and a stage if one is named. Stops early when nothing more can be
 * checked.
 */
export async function examineStage(
  stage: string | undefined,
  lookup: LookupOptions,
): Promise<Finding[]> {
  const sts = new STSClient(clientConfig);
  const access = await examine({
    region: async () => okay(await sts.config.region()),
    credentials: async () =>
      okay((await sts.send(new GetCallerIdentityCommand())).Arn ?? 'unknown'),
  });
  if (access.some(hasFailed)) {
    return [
      ...access,
      { check: 'everything else', ...skipped('It needs a region and credentials.') },
    ];
  }
  const account = await examine({
    bootstrap: () => checkBootstrap(stage !== undefined),
    'lambda quota': checkConcurrency,
  });
  const noStage = skipped(
    'No stage was named.',
    'After the first deployment: doctor --stage prod.',
  );
  const rest =
    stage === undefined
      ? [{ check: 'deployment', ...noStage }]
      : await examineDeployment(stage, lookup);
  return [...access, ...account, ...rest];
}

async function examineDeployment(stage: string, lookup: LookupOptions): Promise<Finding[]> {
  const dynamoDb = new DynamoDBClient(clientConfig);
  const { name, stacks } = deploymentStacks(stage);
  const portal = portalStackName(name);
  const hasPortal = await readStack(portal).catch(() => undefined);
  const names = [...Object.values(stacks), ...(hasPortal ? [portal] : [])];
  const findings = await examine(
    Object.fromEntries(names.map((stack) => [`stack ${stack}`, () => checkStack(stack)])),
  );
  if (findings.some(hasFailed)) {
    return [
      ...findings,
      { check: 'the service', ...skipped('Not all of its stacks are deployed.') },
    ];
  }
  const where = `--stage ${stage}`;
  const { output, optionalOutput } = await findDeployment(stage, ['data', 'service', 'loader']);
  const addresses = output('AddressesTableName');
  const accounts = output('AccountsTableName');
  const checks: Checks = {
    version: () => checkVersion(optionalOutput('Version'), packageVersion()),
    layout: () => checkLayout(stacks.data),
    'accounts table': () =>
      checkTable(dynamoDb, accounts, { stack: stacks.data, kind: 'accounts' }),
    'addresses table': () =>
      checkTable(dynamoDb, addresses, { stack: stacks.data, kind: 'addresses' }),
    alarms: () => checkAlarms(name, names, output('AlarmTopicArn')),
    dataset: () => checkDataset(dynamoDb, addresses, where),
    ...apiChecks(output('BaseUrl'), lookup, dynamoDb, addresses),
  };
  return [...findings, ...(await examine(checks))];
}

export async function examineLocal(
  data: string | undefined,
  lookup: LookupOptions,
): Promise<Finding[]> {
  const reading = readLocalState(data);
  const running = await examine({
    async 'npm start'() {
      const { pid, baseUrl } = await reading;
      return okay(`process ${pid} at ${baseUrl}`);
    },
  });
  if (running.some(hasFailed)) return running;
  const { endpoint, accessKeyId, addressesTable, accountsTable, baseUrl } = await reading;
  const client = localDynamoDb(endpoint, accessKeyId);
  const where = data === undefined ? '--local' : `--local --data ${data}`;
  const findings = await examine({
    'addresses table': () => checkTable(client, addressesTable),
    'accounts table': () => checkTable(client, accountsTable),
    dataset: () => checkDataset(client, addressesTable, where),
    ...apiChecks(baseUrl, lookup, client, addressesTable),
  });
  return [...running, ...findings];
}
