import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CreateBucketCommand } from '@aws-sdk/client-s3';
import { DeleteCommand, DynamoDBDocumentClient, PutCommand } from '@aws-sdk/lib-dynamodb';
import { checksumSecret } from '../../core/accounts/checksum-secret.ts';
import { RefusedLoadError } from '../../loader/guard/load-report.ts';
import { localGuardDefaults } from '../../loader/names.ts';
import { dynamoDbAddressTable } from '../../loader/storage/address-table.ts';
import { runLoad } from '../../local/load/run-load.ts';
import { type Admin, createAdmin } from '../../packages/admin/admin.ts';
import { january, type Month, voorkomensOf } from '../loader/steps/months.ts';
import { createAccountsTable, createTables, startDynamoDb } from '../support/dynamodb.ts';
import { startS3 } from '../support/s3.ts';
import { restoreItems, storedItems } from '../support/stored-items.ts';
import { writeExtract } from '../support/write-extract.ts';
import { type AwsOperations, type FakeStack, startFakeAws } from './fake-aws.ts';

/** One address fewer than in January. */
const february: Month = { peildatum: '2026-02-08', addresses: january.addresses.slice(1) };
/** Forty addresses in the place of those before, which is refused. */
const refused: Month = {
  peildatum: '2026-04-08',
  addresses: Array.from({ length: 40 }, (_, index) => [`1012RJ ${index + 1}`, 'Dam', 'Amsterdam']),
};
const former = 'accounts-before';
const tables = { accounts: 'accounts', addresses: 'addresses' };
const elsewhere = { accounts: 'accounts-of-b', addresses: 'addresses-of-b' };

/**
 * A deployment `a` with an account, its key, and the registers of January and February, of which
 * February is live; and beside it `b`, whose tables and buckets are empty.
 */
export async function startLiveDeployment(killed: (operation: string) => boolean) {
  const engine = await startDynamoDb();
  const s3 = await startS3('snapshots');
  for (const Bucket of ['statements', 'empty']) {
    await s3.client.send(new CreateBucketCommand({ Bucket }));
  }
  await createTables(engine.client, tables);
  await createTables(engine.client, elsewhere);
  const folder = await mkdtemp(join(tmpdir(), 'live-'));
  const client = DynamoDBDocumentClient.from(engine.client);
  const addresses = dynamoDbAddressTable(engine.client, tables.addresses);
  await client.send(new DeleteCommand({ TableName: elsewhere.accounts, Key: checksumSecret.key }));
  const executions = new Map<string, Record<string, string>>();

  const extractOf = async ({ peildatum, addresses }: Month) => {
    const file = join(folder, `${peildatum}.zip`);
    await writeFile(file, await writeExtract(peildatum, voorkomensOf({ peildatum, addresses })));
    return file;
  };
  const load = (request: Partial<Parameters<typeof runLoad>[0]>) =>
    runLoad({ storage: 's3://snapshots', addresses, workers: 0, keep: 24, ...request });

  const operations: AwsOperations = {
    PutEvents: () => ({ value: { FailedEntryCount: 0 } }),
    ListExecutions: () => ({ value: { executions: [] } }),
    async StartExecution({
      input,
      name = `run-${executions.size}`,
    }: {
      input: string;
      name?: string;
    }) {
      if (executions.has(name)) return { error: 'ExecutionAlreadyExists' };
      executions.set(name, {
        status: 'SUCCEEDED',
        output: JSON.stringify(await load(JSON.parse(input))),
      });
      return { value: { executionArn: `x:${name}`, startDate: 1_790_000_000 } };
    },
    DescribeExecution({ executionArn }: { executionArn: string }) {
      const found = executions.get(executionArn.split(':').at(-1) ?? '');
      return found ? { value: { executionArn, ...found } } : { error: 'ExecutionDoesNotExist' };
    },
    GetExecutionHistory: () => ({ value: { events: [] } }),
  };
  const stacksOf = (
    name: string,
    { accounts, addresses }: typeof tables,
    bucket: string,
    statements: string,
  ): Record<string, FakeStack> => ({
    [`bag-adres-${name}-data`]: {
      outputs: {
        AccountsTableName: accounts,
        AddressesTableName: addresses,
        StatementsBucketName: statements,
      },
    },
    [`bag-adres-${name}-service`]: { outputs: { BaseUrl: 'http://127.0.0.1:1' } },
    [`bag-adres-${name}-loader`]: { outputs: { SnapshotBucketName: bucket, StateMachineArn: 'x' } },
  });
  const stacks: Record<string, FakeStack> = {
    ...stacksOf('a', tables, 'snapshots', 'statements'),
    ...stacksOf('b', elsewhere, 'empty', 'empty'),
  };
  const aws = await startFakeAws(stacks, operations, engine.endpoint, killed);

  return {
    endpoint: aws.endpoint,
    s3: s3.endpoint,
    asked: aws.asked,
    client,
    addresses,
    /** Its changes were made forty days ago, so that a month has ended since. */
    admin: createAdmin({
      client,
      table: tables.accounts,
      now: () => Date.now() - 40 * 86_400_000,
    }),
    /**
     * Copies the accounts table to `accounts-before`, and changes the copy: the one before a
     * restore.
     */
    async keepFormer(change: (former: Admin) => Promise<unknown>) {
      await createAccountsTable(engine.client, former).catch(() => undefined);
      await restoreItems(client, former, await storedItems(client, tables.accounts));
      await change(createAdmin({ client, table: former }));
    },
    /** Brings back a register that was live before, whatever it changes. */
    async goTo(peildatum: string) {
      if ((await addresses.dataset())?.peildatum === peildatum) return;
      await load({
        rollback: peildatum,
        thresholds: { ...localGuardDefaults, alwaysAllowed: 1_000_000 },
      });
    },
    /** Writes an address that is in no register, as something else than a load would. */
    putAddress: (address: string) =>
      client.send(
        new PutCommand({
          TableName: tables.addresses,
          Item: { address, places: { 'Dam\tAmsterdam': ['1'] } },
        }),
      ),
    /** Loads both registers. */
    async loadRegisters() {
      for (const month of [january, february]) await load({ source: await extractOf(month) });
    },
    /** A load that waits for a decision, by its name. */
    async refuse(): Promise<string> {
      try {
        const thresholds = { ...localGuardDefaults, alwaysAllowed: 1 };
        await load({ source: await extractOf(refused), again: true, thresholds });
      } catch (error) {
        if (error instanceof RefusedLoadError) return `${error.report.load}`;
        throw error;
      }
      throw new Error('the load was not refused');
    },
    async stop() {
      await aws.stop();
      await s3.stop();
      await engine.stop();
      await rm(folder, { recursive: true });
    },
  };
}
