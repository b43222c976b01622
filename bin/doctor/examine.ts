import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { SFNClient } from '@aws-sdk/client-sfn';
import { pdokExtract } from '../../loader/storage/open.ts';
import { demoPeildatum } from '../../local/demo/demo.ts';
import { localDynamoDb } from '../../local/engine/tables.ts';
import { type LocalState, projectRoot, readLocalState } from '../../local/state.ts';
import { clientConfig, deploymentStacks, findDeployment } from '../connect/deployment.ts';
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
import { checkApi, checkKey, checkLookup, someAddress, type WantedAddress } from './check-service.ts';
import { examine, type Finding, ok, skipped } from './finding.ts';

/** What to look up, and with which key. */
export type LookupOptions = { key?: string | undefined; address?: WantedAddress | undefined };

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
    const find = async () => address ?? (await someAddress(dynamoDb, addresses));
    findings.push(checkVersion(optionalOutput('Version'), await ownVersion()));
    const checks: [string, () => Promise<Finding>][] = [
      ['addresses table', () => checkTable(dynamoDb, 'addresses table', addresses)],
      ['addresses backup', () => checkProtection(dynamoDb, 'addresses backup', addresses)],
      ['accounts table', () => checkTable(dynamoDb, 'accounts table', accounts)],
      ['accounts backup', () => checkProtection(dynamoDb, 'accounts backup', accounts)],
      ['alarms', () => checkAlarms(output('AlarmTopicArn'))],
      ['dataset', () => checkDataset(dynamoDb, addresses, where)],
      ['source', () => checkSource(optionalOutput('ExtractSource') ?? pdokExtract)],
      ['last load', () => checkLoads(stepFunctions, output('StateMachineArn'), where)],
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

/** Checks the running `npm start`. */
export async function examineLocal(data: string | undefined, { key, address }: LookupOptions): Promise<Finding[]> {
  let state: LocalState | undefined;
  const running = await examine('npm start', async () => {
    state = await readLocalState(data);
    return ok('npm start', `process ${state.pid} at ${state.baseUrl}`);
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
