import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startStateMachineBench } from '../../../test/loader/state-machine-bench.ts';
import { states } from '../../../test/loader/what-happened.ts';
import { writeMutationDelivery } from '../../../test/support/mutation-delivery.ts';
import {
  dateAfter,
  firstState,
  laterDays,
  type RegisterDay,
  withObjecten,
} from '../../../test/support/register.ts';
import { sample } from '../../../test/support/weesp-truth.ts';
import { writeExtract } from '../../../test/support/write-extract.ts';
import '../../../test/support/quiet.js';
import { Random } from '../../bench/generator/random.ts';
import type { Judge } from '../judge.ts';
import { type Aws, bootstrap, cdk, objections, outputsOf, startAws } from './aws.ts';

const start = '2026-01-08';
const first = withObjecten(new Random(33), firstState(new Random(31), start, 60), start);
const days = [...laterDays(new Random(32), first, start, 3)] as [
  RegisterDay,
  RegisterDay,
  RegisterDay,
];
const settings = {
  guard: { minimumAddresses: 30, maximumShare: 1 },
  dataset: { objecten: true },
  snapshotsKept: 3,
};

/** What an execution came to, without what differs between any two. */
type Outcome = {
  entered: readonly string[];
  status: string;
  output: unknown;
  error: string;
  cause: string;
};

type Run = (input: Readonly<Record<string, unknown>>) => Promise<Outcome>;
/** An interpreter with its own bucket and table. */
type Side = {
  put(name: string, bytes: Buffer): Promise<string>;
  run: Run;
  /** The keys of the loads that it works on. */
  loads(): Promise<string[]>;
  table(): Promise<unknown>;
};

/** The inputs of one execution after another. */
type Runs = Readonly<Record<string, (side: Side) => Promise<Record<string, unknown>>>>;

const ofWeesp: Runs = {
  'first load of Weesp': async ({ put }) => ({
    source: await put('weesp.zip', readFileSync(sample)),
  }),
};

const generated: Runs = {
  'first load': async ({ put }) => ({
    source: await put('first.zip', await writeExtract(start, first)),
  }),
  'a day': async ({ put }) => ({
    mutations: [await put(nameOf(days[0]), await deliveryOf(days[0]))],
  }),
  'a month': async (side) => ({ source: await month(side) }),
  'the same again': async (side) => ({ source: await month(side) }),
  'a refusal': async ({ put }) => ({ source: await put('half.zip', await half()) }),
  'its approval': async ({ put, loads }) => ({
    source: await put('half.zip', await half()),
    approve: (await loads()).join().match(new RegExp(`${halfDate}-[0-9a-f]{10}`))?.[0],
  }),
  'a rollback': async () => ({ rollback: days[2].date }),
  'a step that fails': async ({ put }) => ({
    source: await put('damaged.zip', Buffer.alloc(10_000, 'x')),
  }),
};

const nameOf = ({ date }: RegisterDay) =>
  `BAGNLDM-${digits(dateAfter(date, -1))}-${digits(date)}.zip`;
const digits = (date: string) => date.split('-').reverse().join('');
const deliveryOf = ({ date, groups, state }: RegisterDay) =>
  writeMutationDelivery(dateAfter(date, -1), date, groups, state);

const month = async ({ put }: Side) =>
  put('month.zip', await writeExtract(days[2].date, days[2].state));
const halfDate = dateAfter(days[2].date, 30);

/** So few addresses that the guard refuses them. */
function half(): Promise<Buffer> {
  const { state } = days[2];
  return writeExtract(halfDate, { ...state, NUM: state.NUM.slice(0, 25) });
}

/**
 * Somebody else's interpreter of state machines, with the deployed functions, beside the one of our
 * tests.
 */
export const machine: Judge = {
  description:
    "moto's interpreter, which is LocalStack's: loads with objects by the deployed state machine, beside our own interpreter",
  needs: [['python3', '-m', 'venv', '--help']],
  async judge() {
    const findings: string[] = [];
    const aws = await startAws();
    const folder = mkdtempSync(join(tmpdir(), 'judge-machine-'));
    try {
      await bootstrap(aws);
      const stages = { ...(existsSync(sample) && { weesp: ofWeesp }), test: generated };
      for (const stage of Object.keys(stages)) await cdk(aws, 'deploy', stage, settings);
      await aws.checkAccess();
      const bench = await startStateMachineBench(settings);
      try {
        const ours = await benchSide(bench);
        let executions = 0;
        let entered = 0;
        for (const [stage, runs] of Object.entries(stages)) {
          const theirs = await deployedSide(aws, folder, stage);
          await bench.reset();
          for (const [what, inputOf] of Object.entries(runs)) {
            const a = await theirs.run(await inputOf(theirs));
            const b = await ours.run(await inputOf(ours));
            executions++;
            entered += a.entered.length;
            for (const [part, mine] of Object.entries(plain(b))) {
              if (JSON.stringify(plain(a)[part]) !== JSON.stringify(mine)) {
                findings.push(
                  `${what}: ${part} is ${JSON.stringify(plain(a)[part])}, ours is ${JSON.stringify(mine)}`,
                );
              }
            }
            if (JSON.stringify(await theirs.table()) !== JSON.stringify(await ours.table())) {
              findings.push(`${what}: the tables differ`);
            }
          }
        }
        findings.push(...objections(aws.notes()));
        return { findings, detail: `${executions} executions through ${entered} states` };
      } finally {
        await bench.stop();
      }
    } finally {
      await aws.stop();
      rmSync(folder, { recursive: true, force: true });
    }
  },
};

/** Without times and the names of loads, in which the place of the extract is. */
function plain(outcome: Outcome): Record<string, unknown> {
  const text = JSON.stringify(outcome)
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
    .replace(/(\d{4}-\d\d-\d\d)-[0-9a-f]{10}/g, '$1-LOAD')
    .replace(/s3:\/\/[a-z0-9-]+\//g, 's3://bucket/');
  return JSON.parse(text);
}

async function deployedSide(aws: Aws, folder: string, stage: string): Promise<Side> {
  const { ask } = aws;
  const outputs = await outputsOf(aws, `bag-adres-${stage}`);
  const {
    SnapshotBucketName: Bucket,
    StateMachineArn: stateMachineArn,
    AddressesTableName: TableName,
  } = outputs;
  return {
    async put(name, bytes) {
      writeFileSync(join(folder, name), bytes);
      await ask('s3', 'upload_file', {
        Filename: join(folder, name),
        Bucket,
        Key: `uploads/${name}`,
      });
      return `s3://${Bucket}/uploads/${name}`;
    },
    async run(input) {
      const begun = { stateMachineArn, input: JSON.stringify(input) };
      const { executionArn } = await ask('stepfunctions', 'start_execution', begun);
      for (;;) {
        const described = await ask('stepfunctions', 'describe_execution', { executionArn });
        const { status, output, error = '', cause = '' } = described;
        if (status === 'RUNNING') {
          await sleep(500);
          continue;
        }
        const { events } = await ask('stepfunctions', 'get_execution_history', { executionArn });
        const entered = events
          .map(
            (event: { stateEnteredEventDetails?: { name: string } }) =>
              event.stateEnteredEventDetails?.name,
          )
          .filter((name?: string) => name && !name.endsWith('Batch'));
        return { entered, status, output: JSON.parse(output ?? 'null'), error, cause };
      }
    },
    async loads() {
      const { Contents = [] } = await ask('s3', 'list_objects_v2', { Bucket, Prefix: 'loads/' });
      return Contents.map(({ Key }: { Key: string }) => Key);
    },
    table: async () =>
      addressesIn((await ask('dynamodb', 'scan', { TableName, ConsistentRead: true })).Items),
  };
}

async function benchSide(bench: Awaited<ReturnType<typeof startStateMachineBench>>): Promise<Side> {
  return {
    async put(name, bytes) {
      await bench.storage.put(`uploads/${name}`, bytes);
      return `s3://${bench.names.bucket}/uploads/${name}`;
    },
    async run(input) {
      const execution = await bench.run(input);
      const { output = null, error = '', cause = '' } = { ...execution } as Partial<Outcome>;
      return { entered: states(execution), status: execution.status, output, error, cause };
    },
    loads: () => bench.storage.list('loads/'),
    async table() {
      const { DynamoDBClient, paginateScan } = await import('@aws-sdk/client-dynamodb');
      const client = new DynamoDBClient({ endpoint: bench.environment.AWS_ENDPOINT_URL_DYNAMODB });
      const items: Item[] = [];
      for await (const page of paginateScan({ client }, { TableName: bench.names.table })) {
        items.push(...(page.Items as Item[]));
      }
      return addressesIn(items);
    },
  };
}

type Item = Record<string, { S?: string }>;

/** With the attributes of all maps in one order. */
function inOrder<T>(value: T): T {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) {
    return (Array.isArray(value) ? value.map(inOrder) : value) as T;
  }
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([name, inner]) => [name, inOrder(inner)])) as T;
}

/** The items of addresses, not those of the lock, in the order of their keys. */
function addressesIn(items: Item[]): unknown {
  return items
    .filter(({ address }) => /^\d{4}[A-Z]{2}#/.test(address?.S ?? ''))
    .map((item) => inOrder(item))
    .sort((a, b) => ((a.address?.S ?? '') < (b.address?.S ?? '') ? -1 : 1));
}
