import { generateKeyPairSync } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DeleteTableCommand } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { dynamoDbAddressTable } from '../../../loader/storage/address-table.ts';
import { createAdmin } from '../../../packages/admin/admin.ts';
import { testChecksumSecret, testTables } from '../../support/address-service.ts';
import { createTables, startDynamoDb } from '../../support/dynamodb.ts';
import { underLock } from '../../support/under-lock.ts';
import { type AwsOperations, type FakeStack, startFakeAws, templateAnswer } from '../fake-aws.ts';

const changing = /^(BatchWrite|Create|Delete|Restore|Start|Update|Tag|Put|PUT|Transact)/;

/** Whether an operation of AWS changes something. */
export const isChange = (operation: string) => changing.test(operation);

/** Fails one of the operations that change something. */
export class OneFailure {
  /** The call of this number, counted from now on, fails before or after it has its effect. */
  next: { call: number; when: 'before' | 'after' } | null = null;

  /** How many more changes have an effect, as of a process that is killed then; `null`: all. */
  left: number | null = null;

  /** Whether the process was killed before this. */
  readonly killed = (operation: string) => this.left !== null && isChange(operation) && this.left-- <= 0;

  /** The same operations, of which one may fail. */
  in(operations: AwsOperations): AwsOperations {
    const failing = Object.entries(operations).map(([name, operation]): [string, AwsOperations[string]] => [
      name,
      async (input) => {
        const { next } = this;
        const fails = isChange(name) && next !== null && --next.call === 0;
        if (fails && next.when === 'before') return { error: 'InternalServerError' };
        const answer = await operation(input);
        return fails ? { error: 'InternalServerError' } : answer;
      },
    ]);
    return Object.fromEntries(failing);
  }
}

/** The stacks of a deployment `a`, whose backup sets and snapshots are in the bucket `snapshots`. */
export function deploymentStacks(baseUrl: string, AccountsTableName = testTables.accounts): Record<string, FakeStack> {
  const tables = { AccountsTableName, AddressesTableName: testTables.addresses };
  return {
    'a-data': { outputs: { ...tables, KeyChecksumSecretArn: 'checksum' } },
    'a-service': { outputs: { BaseUrl: baseUrl } },
    'a-loader': { outputs: { SnapshotBucketName: 'snapshots', StateMachineArn: 'x' } },
  };
}

/** `public.pem` and `private.pem` in a folder, as the docs tell an operator to make them. */
export async function writeKeyPair(folder: string): Promise<void> {
  const pair = generateKeyPairSync('rsa', { modulusLength: 2048 });
  await writeFile(join(folder, 'public.pem'), pair.publicKey.export({ type: 'spki', format: 'pem' }));
  await writeFile(join(folder, 'private.pem'), pair.privateKey.export({ type: 'pkcs8', format: 'pem' }));
}

/** A deployment in a new account: an engine of its own with empty tables, and a secret that was generated with it. */
export async function startNewDeployment(baseUrl: string, failure: OneFailure) {
  const engine = await startDynamoDb();
  const tables = { addresses: testTables.addresses, accounts: 'accounts-b' };
  const stacks = deploymentStacks(baseUrl, tables.accounts);
  const versions = new Map<string, string>();
  const deployed: string[] = [];
  const current = () => [...versions.keys()].at(-1) ?? '';
  const secret = (id: string) => `KEY_CHECKSUM_SECRET: {{resolve:secretsmanager:x:SecretString:::${id}}}`;
  const operations = failure.in({
    GetSecretValue: () => ({ value: { SecretString: versions.get(current()) } }),
    DescribeSecret: () => ({ value: { VersionIdsToStages: { [current()]: ['AWSCURRENT'] } } }),
    PutSecretValue: ({ SecretString }: { SecretString: string }) => {
      versions.set(`v${versions.size + 1}`, SecretString);
      return { value: {} };
    },
    GetTemplate: () => templateAnswer(deployed.map(secret).join()),
  });
  const aws = await startFakeAws(stacks, operations, engine.endpoint, failure.killed);
  const client = DynamoDBDocumentClient.from(engine.client);
  const addresses = dynamoDbAddressTable(engine.client, tables.addresses);
  return {
    endpoint: aws.endpoint,
    asked: aws.asked,
    stacks,
    client,
    accountsTable: tables.accounts,
    admin: createAdmin({ client, table: tables.accounts, checksumSecret: testChecksumSecret }),
    /** The values of its secret by version, and the versions that its service was deployed with. */
    versions,
    deployed,
    /** The version of the secret that is current. */
    current,
    /** Begins anew, as after the first deployment. */
    async reset() {
      versions.clear();
      versions.set('v1', 'generated with the new stack');
      deployed.length = 0;
      for (const TableName of Object.values(tables))
        await engine.client.send(new DeleteTableCommand({ TableName })).catch(() => undefined);
      await createTables(engine.client, tables);
    },
    /** Loads the register. */
    load: () => underLock(addresses, (fence) => addresses.setDataset({ peildatum: '2026-11-08', load: 'one' }, fence)),
    async stop() {
      await aws.stop();
      await engine.stop();
    },
  };
}
