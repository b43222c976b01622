import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DynamoDBClient, ScanCommand } from '@aws-sdk/client-dynamodb';
import { SFNClient } from '@aws-sdk/client-sfn';
import { storedAddress } from '../../core/addresses/address-item.ts';
import { parseAddressKey } from '../../core/addresses/address-key.ts';
import { pdokExtract } from '../../loader/storage/open.ts';
import { type LocalState, projectRoot, readLocalState } from '../../local/data-folder.ts';
import { demoPeildatum } from '../../local/demo/demo.ts';
import { localDynamoDb } from '../../local/engine/client.ts';
import { clientConfig, deploymentStacks, findDeployment, readPortal } from '../connect/deployment.ts';
import {
  checkAlarms,
  checkBootstrap,
  checkConcurrency,
  checkCredentials,
  checkDataset,
  checkLoads,
  checkProtection,
  checkRegion,
  checkSource,
  checkStack,
  checkTable,
  checkVersion,
} from './check-aws.ts';
import {
  checkAlarmStates,
  checkBackups,
  checkCertificate,
  checkClientSecret,
  checkPortal,
  checkTableSettings,
  readAlarms,
} from './check-operations.ts';
import { examine, type Finding, failed, okay, skipped, warning } from './finding.ts';

/** More than the five seconds within which every request is answered. */
const timeoutMilliseconds = 8_000;
/** A lookup takes tens of milliseconds; a cold start under a second. */
const slowMilliseconds = 2_000;

const logs = 'See the function logs, the dashboard of the service stack, and docs/runbook.md.';

/** Whether the API answers: without a key it returns 401. Uses no quota. */
async function checkApi(baseUrl: string): Promise<Finding> {
  const { status, milliseconds } = await ask(`${baseUrl}/v1/auth/validate`);
  const found = `${baseUrl} answered ${status} in ${milliseconds} ms`;
  if (status === 401) return okay('api', found);
  return failed('api', `${found}; a request without a key must return 401.`, logs);
}

/** Whether a key is valid, and its limits. Uses no quota. */
async function checkKey(baseUrl: string, key: string | undefined): Promise<Finding> {
  if (key === undefined) return skipped('key', 'No key was given.', 'Give --key, or BAG_ADRES_KEY in the environment.');
  const { status, body } = await ask(`${baseUrl}/v1/auth/validate`, key);
  if (status === 200) return okay('key', `plan ${body?.plan_code}, limits ${JSON.stringify(body?.limits)}`);
  const advice = 'Check the key, and its account with "account show ID", or create a key with "key create".';
  return failed('key', `The API returned ${status}: ${body?.detail ?? 'no reason given'}`, advice);
}

/** An address as a person writes it, `1012RJ 147` or `1381AA 9 a`. */
export type WantedAddress = { postcode: string; huisnummer: string; toevoeging: string };

/** Looks up one address, as a caller does: the given one, else one from the table. Uses one unit of quota. */
async function checkLookup(
  baseUrl: string,
  key: string | undefined,
  findAddress: () => Promise<WantedAddress | null>,
): Promise<Finding> {
  if (key === undefined)
    return skipped('lookup', 'No key was given.', 'Give --key, or BAG_ADRES_KEY in the environment.');
  const address = await findAddress();
  if (!address)
    return skipped('lookup', 'There is no address to look up.', 'Load the addresses first, or give --address.');
  const { status, milliseconds, body } = await ask(`${baseUrl}/v1/address?${new URLSearchParams(address)}`, key);
  const asked = `${address.postcode} ${address.huisnummer} ${address.toevoeging}`.trim();
  if (status === 429) return warning('lookup', 'The account has no quota left.', 'Give a key of another account.');
  if (status !== 200) return failed('lookup', `${asked}: ${status}, ${body?.detail ?? 'no reason given'}`, logs);
  const found = body?.address as { straat: string; woonplaats: string } | null | undefined;
  if (!found)
    return failed('lookup', `${asked} is ${body?.status}.`, 'Give an --address that exists, or check the load.');
  const text = `${asked} is ${found.straat}, ${found.woonplaats}, in ${milliseconds} ms`;
  return milliseconds < slowMilliseconds
    ? okay('lookup', text)
    : warning('lookup', text, `The lookup is slow. ${logs}`);
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

type ProbeAnswer = { status: number; milliseconds: number; body: Record<string, unknown> | null };

async function ask(url: string, key?: string): Promise<ProbeAnswer> {
  const startedAt = performance.now();
  const response = await fetch(url, {
    headers: key === undefined ? {} : { 'x-api-key': key },
    signal: AbortSignal.timeout(timeoutMilliseconds),
    redirect: 'manual',
  }).catch((error: Error) => {
    const { cause } = error;
    throw new Error(
      `${new URL(url).origin} does not answer: ${cause instanceof Error ? cause.message : error.message}`,
    );
  });
  const body = (await response.json().catch(() => null)) as ProbeAnswer['body'];
  return { status: response.status, milliseconds: Math.round(performance.now() - startedAt), body };
}

/** What to look up, and with which key. */
type LookupOptions = { key?: string | undefined; address?: WantedAddress | undefined };

/** Checks the AWS account, and a deployment if one is named. Stops early when nothing more can be checked. */
export async function examineStack(stack: string | undefined, lookup: LookupOptions): Promise<Finding[]> {
  const findings = [await examine('region', checkRegion), await examine('credentials', checkCredentials)];
  if (findings.some(({ state }) => state === 'failed')) {
    return [...findings, skipped('everything else', 'It needs a region and credentials.')];
  }
  const isDeployed = stack !== undefined;
  findings.push(
    await examine('bootstrap', () => checkBootstrap({ isDeployed })),
    await examine('lambda quota', checkConcurrency),
  );
  if (stack === undefined) {
    const advice = 'After the first deployment: doctor --stack bag-adres-prod.';
    return [...findings, skipped('deployment', 'No stack was named.', advice)];
  }
  const ofDeployment = await examineDeployment(stack, lookup);
  const version = ofDeployment.filter(({ check }) => check === 'version');
  return [...version, ...findings, ...ofDeployment.filter(({ check }) => check !== 'version')];
}

async function examineDeployment(stack: string, { key, address }: LookupOptions): Promise<Finding[]> {
  const { name, stacks } = deploymentStacks(stack);
  const names = Object.values(stacks);
  const portal = await readPortal(name).catch(() => undefined);
  if (portal) names.push(portal.stack);
  const findings = await Promise.all(names.map((one) => examine(`stack ${one}`, () => checkStack(one))));
  if (findings.some(({ state }) => state === 'failed')) {
    return [...findings, skipped('the service', 'Not all of its stacks are deployed.')];
  }
  const where = `--stack ${name}`;
  const dynamoDb = new DynamoDBClient(clientConfig);
  const stepFunctions = new SFNClient(clientConfig);
  try {
    const { output, optionalOutput } = await findDeployment(stack, ['data', 'service', 'loader']);
    const addresses = output('AddressesTableName');
    const accounts = output('AccountsTableName');
    const baseUrl = output('BaseUrl');
    const { PortalUrl: portalUrl, ClientSecretExpires: secretEnds } = portal?.outputs ?? {};
    const alarms = await readAlarms(name, names).catch((error: Error) => error);
    const find = async () => address ?? (await someAddress(dynamoDb, addresses));
    findings.push(checkVersion(optionalOutput('Version'), await ownVersion()));
    const checks: (readonly [string, () => Promise<Finding>])[] = [
      ['addresses table', () => checkTable(dynamoDb, 'addresses table', addresses)],
      ['addresses backup', () => checkProtection(dynamoDb, 'addresses backup', addresses)],
      ['accounts table', () => checkTable(dynamoDb, 'accounts table', accounts)],
      ['accounts backup', () => checkProtection(dynamoDb, 'accounts backup', accounts)],
      ['addresses settings', () => checkTableSettings(dynamoDb, stacks.data, 'addresses', addresses)],
      ['accounts settings', () => checkTableSettings(dynamoDb, stacks.data, 'accounts', accounts)],
      ['alarms', () => checkAlarms(output('AlarmTopicArn'))],
      ['alarm states', async () => checkAlarmStates(orThrow(alarms))],
      [
        'backups',
        async () => {
          const hasSets = optionalOutput('BackupRoleArn') !== undefined;
          const hasCopies = orThrow(alarms).some(({ AlarmName }) => AlarmName?.includes('-AccountsBackupLate'));
          return checkBackups({ stage: stageOf(name), hasSets, hasCopies });
        },
      ],
      [
        'dataset',
        () => checkDataset(dynamoDb, addresses, where, { daily: optionalOutput('MutationsSource') !== undefined }),
      ],
      ['source', () => checkSource(optionalOutput('ExtractSource') ?? pdokExtract)],
      ['last load', () => checkLoads(stepFunctions, output('StateMachineArn'), where)],
      ['certificate', () => checkCertificate('certificate', baseUrl)],
      ...(portalUrl
        ? ([
            ['portal', () => checkPortal(portalUrl)],
            ['portal certificate', () => checkCertificate('portal certificate', portalUrl)],
            ...(secretEnds ? ([['client secret', async () => checkClientSecret(secretEnds)]] as const) : []),
          ] as const)
        : []),
      ['api', () => checkApi(baseUrl)],
      ['key', () => checkKey(baseUrl, key)],
      ['lookup', () => checkLookup(baseUrl, key, find)],
    ];
    for (const [check, work] of checks) findings.push(await examine(check, work));
    return findings;
  } finally {
    dynamoDb.destroy();
    stepFunctions.destroy();
  }
}

/** `prod` for `bag-adres-prod`: what its metrics are under. */
const stageOf = (deployment: string) => deployment.replace(/^bag-adres-/, '');

function orThrow<T>(found: T | Error): T {
  if (found instanceof Error) throw found;
  return found;
}

/** Checks the running `npm start`. */
export async function examineLocal(data: string | undefined, { key, address }: LookupOptions): Promise<Finding[]> {
  let state: LocalState | undefined;
  const running = await examine('npm start', async () => {
    state = await readLocalState(data);
    return okay('npm start', `process ${state.pid} at ${state.baseUrl}`);
  });
  if (!state) return [running];
  const { endpoint, accessKeyId, addressesTable, accountsTable, baseUrl } = state;
  const client = localDynamoDb(endpoint, accessKeyId);
  try {
    const find = async () => address ?? (await someAddress(client, addressesTable));
    const where = data === undefined ? '--local' : `--local --data ${data}`;
    return [
      running,
      await examine('addresses table', () => checkTable(client, 'addresses table', addressesTable)),
      await examine('accounts table', () => checkTable(client, 'accounts table', accountsTable)),
      await examine('dataset', () => checkDataset(client, addressesTable, where, { demo: demoPeildatum })),
      await examine('api', () => checkApi(baseUrl)),
      await examine('key', () => checkKey(baseUrl, key)),
      await examine('lookup', () => checkLookup(baseUrl, key, find)),
    ];
  } finally {
    client.destroy();
  }
}

/** The version of this project that is installed here. */
async function ownVersion(): Promise<string> {
  return JSON.parse(await readFile(join(projectRoot, 'package.json'), 'utf8')).version;
}
