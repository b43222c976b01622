import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { SFNClient } from '@aws-sdk/client-sfn';
import { deploymentStacks, findDeployment, patience } from '../connect/deployment.ts';
import { checkAlarms, checkBootstrap, checkConcurrency, checkCredentials, checkRegion } from './check-account.ts';
import { checkInterface, checkKey, checkLookup, someAddress, type WantedAddress } from './check-service.ts';
import { checkDataset, checkLoads, checkProtection, checkStack, checkTable } from './check-tables.ts';
import { examine, type Finding, skipped } from './finding.ts';

/** What the live lookup is made with. */
export type LookupOptions = { key?: string | undefined; address?: WantedAddress | undefined };

/** Looks at the account, and at a deployment where one is named. Stops early where nothing further could be asked. */
export async function examineStack(stack: string | undefined, lookup: LookupOptions): Promise<Finding[]> {
  const findings = [await examine('region', checkRegion), await examine('credentials', checkCredentials)];
  if (findings.some(({ state }) => state === 'failed')) {
    return [...findings, skipped('everything else', 'Nothing can be asked without them.')];
  }
  const isDeployed = stack !== undefined;
  findings.push(
    await examine('bootstrap', () => checkBootstrap({ isDeployed })),
    await examine('lambda quota', checkConcurrency),
  );
  if (stack === undefined) {
    const advice = 'Once it is deployed, name it: doctor --stack bag-adres-prod.';
    return [...findings, skipped('deployment', 'No stack was named.', advice)];
  }
  return [...findings, ...(await examineDeployment(stack, lookup))];
}

async function examineDeployment(stack: string, { key, address }: LookupOptions): Promise<Finding[]> {
  const { name, stacks } = deploymentStacks(stack);
  const names = Object.values(stacks);
  const findings = await Promise.all(names.map((one) => examine(`stack ${one}`, () => checkStack(one))));
  if (findings.some(({ state }) => state === 'failed')) {
    return [...findings, skipped('the service', 'Not all of its stacks are there.')];
  }
  const where = `--stack ${name}`;
  const dynamoDb = new DynamoDBClient(patience);
  const stepFunctions = new SFNClient(patience);
  try {
    const { output } = await findDeployment(stack, ['data', 'service', 'loader']);
    const addresses = output('AddressesTableName');
    const accounts = output('AccountsTableName');
    const baseUrl = output('BaseUrl');
    const find = async () => address ?? (await someAddress(dynamoDb, addresses));
    const checks: [string, () => Promise<Finding>][] = [
      ['addresses table', () => checkTable(dynamoDb, 'addresses table', addresses)],
      ['addresses backup', () => checkProtection(dynamoDb, 'addresses backup', addresses)],
      ['accounts table', () => checkTable(dynamoDb, 'accounts table', accounts)],
      ['accounts backup', () => checkProtection(dynamoDb, 'accounts backup', accounts)],
      ['alarms', () => checkAlarms(output('AlarmTopicArn'))],
      ['dataset', () => checkDataset(dynamoDb, addresses, where)],
      ['last load', () => checkLoads(stepFunctions, output('StateMachineArn'), where)],
      ['interface', () => checkInterface(baseUrl)],
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
