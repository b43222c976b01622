import { CloudWatchClient } from '@aws-sdk/client-cloudwatch';
import { DynamoDBClient, ScanCommand } from '@aws-sdk/client-dynamodb';
import { LambdaClient } from '@aws-sdk/client-lambda';
import { SFNClient } from '@aws-sdk/client-sfn';
import { SNSClient } from '@aws-sdk/client-sns';
import { STSClient } from '@aws-sdk/client-sts';
import { storedAddress } from '../../core/addresses/address-item.ts';
import { parseAddressKey } from '../../core/addresses/address-key.ts';
import { type ApiAnswer, callApi } from '../../lambdas/canary/call-api.ts';
import { packageVersion } from '../../lib/config/deployment.ts';
import { pdokExtract } from '../../loader/storage/open.ts';
import { readLocalState } from '../../local/data-folder.ts';
import { demoPeildatum } from '../../local/demo/demo.ts';
import { localDynamoDb } from '../../local/engine/client.ts';
import { clientConfig, deploymentStacks, findDeployment, readPortal } from '../connect/deployment.ts';
import { explainError } from '../connect/errors.ts';
import {
  type CheckOutcome,
  checkAlarmStates,
  checkAlarms,
  checkBackups,
  checkBootstrap,
  checkCertificate,
  checkClientSecret,
  checkConcurrency,
  checkCredentials,
  checkDataset,
  checkLoads,
  checkPortal,
  checkProtection,
  checkSource,
  checkStack,
  checkTable,
  checkTableSettings,
  checkVersion,
  failed,
  okay,
  readAlarms,
  skipped,
  warning,
} from './check-deployment.ts';

/** What the check of this name found. */
export type Finding = { check: string } & CheckOutcome;

/** What to check, in order, by name. */
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
  aws_not_found: 'Check the name, AWS_PROFILE and AWS_REGION. If it was never deployed: npx cdk deploy --all.',
  no_output: 'Deploy this version: npx cdk deploy --all.',
  not_running: 'Start it, in another terminal: npm start.',
  no_extract: 'Set source in bag-adres.json and deploy; until then name the extract: load run --extract URL.',
  source_unavailable: 'Wait until its server is back, or name another source: load run --extract URL.',
  unreachable: 'Check the network; a proxy or VPN may block the connection.',
};

const hasFailed = ({ state }: Finding) => state === 'failed';

/** An address as a person writes it, `1012RJ 147` or `1381AA 9 a`. */
export type WantedAddress = { postcode: string; huisnummer: string; toevoeging: string };

/** What to look up, and with which key. */
type LookupOptions = { key?: string | undefined; address?: WantedAddress | undefined };

/** A lookup takes tens of milliseconds; a cold start under a second. */
const slowMilliseconds = 2_000;

const logs = 'See the function logs, the dashboard of the service stack, and docs/runbook.md.';

/**
 * Whether the API answers, whether the key is valid, and whether it finds an address: the given one, else one from the
 * table.
 */
function apiChecks(
  baseUrl: string,
  { key, address }: LookupOptions,
  { client, table }: { client: DynamoDBClient; table: string },
): Checks {
  const noKey = skipped('No key was given.', 'Give --key, or BAG_ADRES_KEY in the environment.');
  return {
    /** Without a key it returns 401, and uses no quota. */
    async api() {
      const { status, milliseconds } = await ask(baseUrl, '/v1/auth/validate');
      const found = `${baseUrl} answered ${status} in ${milliseconds} ms`;
      return status === 401 ? okay(found) : failed(`${found}; a request without a key must return 401.`, logs);
    },
    /** Uses no quota. */
    async key() {
      if (key === undefined) return noKey;
      const { status, json } = await ask(baseUrl, '/v1/auth/validate', key);
      if (status === 200) return okay(`plan ${json?.plan_code}, limits ${JSON.stringify(json?.limits)}`);
      const advice =
        'Check the key, and its account ("account list"), or create a key: "key create --account acme --label doctor".';
      return failed(`The API returned ${status}: ${json?.detail ?? 'no reason given'}`, advice);
    },
    /** Uses one unit of quota. */
    async lookup() {
      if (key === undefined) return noKey;
      const wanted = address ?? (await someAddress(client, table));
      if (!wanted) return skipped('There is no address to look up.', 'Load the addresses first, or give --address.');
      return lookUp(baseUrl, key, wanted);
    },
  };
}

async function lookUp(baseUrl: string, key: string, address: WantedAddress): Promise<CheckOutcome> {
  const { status, milliseconds, json } = await ask(baseUrl, `/v1/address?${new URLSearchParams(address)}`, key);
  const asked = `${address.postcode} ${address.huisnummer} ${address.toevoeging}`.trim();
  if (status === 429) return warning('The account has no quota left.', 'Give a key of another account.');
  if (status !== 200) return failed(`${asked}: ${status}, ${json?.detail ?? 'no reason given'}`, logs);
  const found = json?.address as { straat: string; woonplaats: string } | null | undefined;
  if (!found) return failed(`${asked} is ${json?.status}.`, 'Give an --address that exists, or check the load.');
  const text = `${asked} is ${found.straat}, ${found.woonplaats}, in ${milliseconds} ms`;
  return milliseconds < slowMilliseconds ? okay(text) : warning(text, `The lookup is slow. ${logs}`);
}

async function ask(baseUrl: string, path: string, key: string | null = null): Promise<ApiAnswer> {
  const answer = await callApi(baseUrl + path, { key }).catch((error: Error) => {
    throw new Error(`${new URL(baseUrl).origin} does not answer: ${error.message}`, { cause: error });
  });
  return { ...answer, milliseconds: Math.round(answer.milliseconds) };
}

/** An address of the table whose lookup is not ambiguous. */
async function someAddress(client: DynamoDBClient, table: string): Promise<WantedAddress | null> {
  const { Items = [] } = await client.send(new ScanCommand({ TableName: table, Limit: 50 }));
  for (const { key, places } of Items.map(storedAddress)) {
    const address = places.length === 1 && parseAddressKey(key);
    if (address) return { ...address, huisnummer: String(address.huisnummer), toevoeging: address.toevoeging ?? '' };
  }
  return null;
}

function awsClients() {
  return {
    cloudWatch: new CloudWatchClient(clientConfig),
    dynamoDb: new DynamoDBClient(clientConfig),
    lambda: new LambdaClient(clientConfig),
    sns: new SNSClient(clientConfig),
    stepFunctions: new SFNClient(clientConfig),
    sts: new STSClient(clientConfig),
  };
}
type AwsClients = ReturnType<typeof awsClients>;

/** Checks the AWS account, and a deployment if one is named. Stops early when nothing more can be checked. */
export async function examineStack(stack: string | undefined, lookup: LookupOptions): Promise<Finding[]> {
  const clients = awsClients();
  const { sts, lambda } = clients;
  try {
    const access = await examine({
      region: async () => okay(await sts.config.region()),
      credentials: () => checkCredentials(sts),
    });
    if (access.some(hasFailed))
      return [...access, { check: 'everything else', ...skipped('It needs a region and credentials.') }];
    const account = await examine({
      bootstrap: () => checkBootstrap({ isDeployed: stack !== undefined }),
      'lambda quota': () => checkConcurrency(lambda),
    });
    const findings = [...access, ...account];
    if (stack === undefined) {
      const advice = 'After the first deployment: doctor --stack bag-adres-prod.';
      return [...findings, { check: 'deployment', ...skipped('No stack was named.', advice) }];
    }
    findings.push(...(await examineDeployment(clients, stack, lookup)));
    return findings.toSorted((a, b) => Number(b.check === 'version') - Number(a.check === 'version'));
  } finally {
    for (const client of Object.values(clients)) client.destroy();
  }
}

async function examineDeployment(clients: AwsClients, stack: string, lookup: LookupOptions): Promise<Finding[]> {
  const { cloudWatch, dynamoDb, sns, stepFunctions } = clients;
  const { name, stacks } = deploymentStacks(stack);
  const portal = await readPortal(name).catch(() => undefined);
  const names = [...Object.values(stacks), ...(portal ? [portal.stack] : [])];
  const findings = await examine(Object.fromEntries(names.map((one) => [`stack ${one}`, () => checkStack(one)])));
  if (findings.some(hasFailed))
    return [...findings, { check: 'the service', ...skipped('Not all of its stacks are deployed.') }];
  const where = `--stack ${name}`;
  const { output, optionalOutput } = await findDeployment(stack, ['data', 'service', 'loader']);
  const [addresses, accounts] = [output('AddressesTableName'), output('AccountsTableName')];
  const baseUrl = output('BaseUrl');
  const { PortalUrl: portalUrl, ClientSecretExpires: secretEnds } = portal?.outputs ?? {};
  const alarms = readAlarms(cloudWatch, name, names);
  // Two checks await it, and each reports the error.
  alarms.catch(() => undefined);
  const checks: Checks = {
    version: () => checkVersion(optionalOutput('Version'), packageVersion()),
    'addresses table': () => checkTable(dynamoDb, addresses),
    'addresses backup': () => checkProtection(dynamoDb, addresses),
    'accounts table': () => checkTable(dynamoDb, accounts),
    'accounts backup': () => checkProtection(dynamoDb, accounts),
    'addresses settings': () => checkTableSettings(dynamoDb, stacks.data, 'addresses', addresses),
    'accounts settings': () => checkTableSettings(dynamoDb, stacks.data, 'accounts', accounts),
    alarms: () => checkAlarms(sns, output('AlarmTopicArn')),
    'alarm states': async () => checkAlarmStates(await alarms),
    async backups() {
      const hasSets = optionalOutput('BackupRoleArn') !== undefined;
      const hasCopies = (await alarms).some(({ AlarmName }) => AlarmName?.includes('-AccountsBackupLate'));
      return checkBackups(cloudWatch, { stage: stageOf(name), hasSets, hasCopies });
    },
    dataset: () => checkDataset(dynamoDb, addresses, where, { daily: optionalOutput('MutationsSource') !== undefined }),
    source: () => checkSource(optionalOutput('ExtractSource') ?? pdokExtract),
    'last load': () => checkLoads(stepFunctions, output('StateMachineArn'), where),
    certificate: () => checkCertificate(baseUrl),
    ...(portalUrl && {
      portal: () => checkPortal(portalUrl),
      'portal certificate': () => checkCertificate(portalUrl),
      ...(secretEnds && { 'client secret': () => checkClientSecret(secretEnds) }),
    }),
    ...apiChecks(baseUrl, lookup, { client: dynamoDb, table: addresses }),
  };
  return [...findings, ...(await examine(checks))];
}

/** `prod` for `bag-adres-prod`: what its metrics are under. */
const stageOf = (deployment: string) => deployment.replace(/^bag-adres-/, '');

/** Checks the running `npm start`. */
export async function examineLocal(data: string | undefined, lookup: LookupOptions): Promise<Finding[]> {
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
  try {
    const findings = await examine({
      'addresses table': () => checkTable(client, addressesTable),
      'accounts table': () => checkTable(client, accountsTable),
      dataset: () => checkDataset(client, addressesTable, where, { demo: demoPeildatum }),
      ...apiChecks(baseUrl, lookup, { client, table: addressesTable }),
    });
    return [...running, ...findings];
  } finally {
    client.destroy();
  }
}
