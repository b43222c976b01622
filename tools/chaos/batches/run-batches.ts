import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { PutItemCommand } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { addressItem } from '../../../core/addresses/address-item.ts';
import { dateOf, daySeconds, secondsOf } from '../../../core/calendar.ts';
import { type Admin, createAdmin } from '../../../packages/admin/admin.ts';
import { lambdaEnvironment, testChecksumSecret, testTables } from '../../../test/support/address-service.ts';
import { createTables, startDynamoDb } from '../../../test/support/dynamodb.ts';
import { sendPlainly } from '../../../test/support/plain-client.ts';
import { Random } from '../../bench/generator/random.ts';
import { AccountModel, type Limits, type Outcome } from './account-model.ts';
import { anAddress, expectedAnswer, storedAddresses } from './dataset.ts';
import { type CallFault, type EngineLink, startEngineLink } from './engine-link.ts';
import type { Answered, Asked } from './instance.ts';

export type BatchRun = {
  /** At least so many are sent. */
  batches: number;
  seed: number;
  /** In every so many rounds an instance is killed. */
  killEvery: number;
  progress?: (sent: number) => void;
};

/** How often each kind of event occurred, and what must not have happened. */
export type BatchReport = { counts: Record<string, number>; findings: string[] };

const accounts: [shards: number, limits: Limits][] = [
  [1, { minute: 90, day: 40_000 }],
  [1, { hour: 2_500, month: null }],
  [4, { minute: 400, day: 60_000 }],
  [8, { minute: 300, hour: 9_000, month: 2_000_000 }],
];

/** At once: fewer than the attempts that an item lists, so that a lost answer never counts twice (decision 0153). */
const mostAtOnce = 6;
const instanceCount = 2;

/**
 * Sends batches in rounds, each to one account and at once, over processes with connections that fail, and kills some
 * of these processes. After each round compares all responses with the dataset, and what was counted with the
 * responses.
 */
export async function runBatches({ batches, seed, killEvery, progress }: BatchRun): Promise<BatchReport> {
  const random = new Random(seed, 11);
  const counts: Record<string, number> = {};
  const findings: string[] = [];
  const count = (event: string) => {
    counts[event] = (counts[event] ?? 0) + 1;
  };
  await using resources = new AsyncDisposableStack();
  const engine = await startDynamoDb();
  resources.defer(engine.stop);
  sendPlainly(engine.client, engine.endpoint);
  await createTables(engine.client, testTables);
  for (const address of storedAddresses()) {
    await engine.client.send(new PutItemCommand({ TableName: testTables.addresses, Item: addressItem(address) }));
  }
  let seconds = secondsOf('2026-03-30');
  const client = DynamoDBDocumentClient.from(engine.client);
  const options = { client, table: testTables.accounts, checksumSecret: testChecksumSecret };
  const admin = createAdmin({ ...options, now: () => seconds * 1000 });
  const customers = await createCustomers(admin);

  const meddler = new Meddler(count);
  const instances: Instance[] = [];
  for (let i = 0; i < instanceCount; i++) {
    const link = await startEngineLink(engine.endpoint, (operation) => meddler.decide(operation, () => instances[i]));
    resources.defer(link.stop);
    instances.push(new Instance(link));
  }
  resources.defer(async () => void (await Promise.all(instances.map((instance) => instance.end()))));

  let sent = 0;
  for (let round = 1; sent < batches; round++) {
    seconds += random.pick([0, 0, 1, 5, 20, 60, random.int(7_200), random.chance(0.1) ? daySeconds : 0]);
    const customer = random.pick(customers);
    const requests = Array.from({ length: 1 + random.int(mostAtOnce) }, () => aBatch(random));
    if (customer.model.hasPassed(seconds)) count('windows passed');
    meddler.plan(faultOf(round, killEvery), random.int(requests.length));
    const outcomes = await Promise.all(
      requests.map(async (request, i): Promise<Outcome> => {
        const instance = instances[(round + i) % instanceCount] as Instance;
        const answered = await instance.ask({ key: customer.key, body: request.body, seconds });
        const { outcome, faults } = read(request, answered);
        for (const fault of faults) findings.push(`round ${round}: ${fault}`);
        count(outcome.ended);
        return outcome;
      }),
    );
    for (const instance of instances) await instance.settle();
    const { windows } = await admin.accounts.show(customer.id);
    for (const fault of customer.model.judge(outcomes, windows, seconds)) {
      findings.push(`round ${round}, ${customer.id}: ${fault} (${JSON.stringify(outcomes)})`);
    }
    sent += requests.length;
    progress?.(sent);
    if (findings.length >= 20) break;
  }
  for (const { id, model } of customers) {
    const { days } = await admin.accounts.usage(id, { from: '2026-03-01', to: dateOf(seconds) });
    const total = days.reduce((sum, { lookups }) => sum + lookups, 0);
    if (total !== model.total) findings.push(`${id} has a usage of ${total}, where ${model.total} units were counted`);
  }
  return { counts, findings };
}

async function createCustomers(admin: Admin) {
  const customers: { id: string; key: string; model: AccountModel }[] = [];
  for (const [i, [shards, limits]] of accounts.entries()) {
    const id = `account-${i}`;
    await admin.plans.put({ code: id, limits });
    await admin.accounts.create({ id, plan: id });
    if (shards > 1) await admin.accounts.set({ id, shards });
    const { key } = await admin.keys.create({ account: id, label: 'chaos' });
    customers.push({ id, key, model: new AccountModel(limits) });
  }
  return customers;
}

type Request = ReturnType<typeof aBatch>;

/** Mostly a valid batch; one in twenty has an address that is not. */
function aBatch(random: Random) {
  const units = random.pick([1, 2, 3, 5, 10, 37, 100]);
  const include = random.pick([[], [], ['toevoegingen'], ['nummeraanduidingen', 'toevoegingen']]);
  const addresses = Array.from({ length: units }, () => anAddress(random));
  const isValid = !random.chance(0.05);
  if (!isValid) addresses[random.int(units)] = { postcode: '0000AA', huisnummer: 1 };
  return { units, addresses, include, isValid, body: { addresses, ...(include.length > 0 && { include }) } };
}

/** What a batch was answered, and what is wrong with that. */
function read(
  { units, addresses, include, isValid }: Request,
  answered: Answered | undefined,
): { outcome: Outcome; faults: string[] } {
  if (!answered || answered.status === 503) return { outcome: { units, ended: 'unknown' }, faults: [] };
  const { status, json, headers, fault } = answered;
  if (fault) return { outcome: { units, ended: 'unknown' }, faults: [fault] };
  if (status === 422 && !isValid) return { outcome: { units, ended: 'invalid' }, faults: [] };
  if (status === 429 && isValid) {
    const violated = (json as { violated_windows: string[] }).violated_windows;
    return { outcome: { units, ended: 'refused', violated, retryAfter: Number(headers['retry-after']) }, faults: [] };
  }
  const results = status === 200 ? (json as { results: unknown[] }).results : [];
  const right = addresses.map((address) => expectedAnswer(address, include));
  const faults = right.flatMap((one, i) =>
    isValid && isDeepStrictEqual(results[i], one)
      ? []
      : [`${status} with ${JSON.stringify(results[i])} where ${JSON.stringify(one)} is right`],
  );
  return { outcome: { units, ended: 'served' }, faults };
}

type Fault = { operation: 'UpdateItem' | 'BatchGetItem'; fault: CallFault; times: number };

const faults: Record<number, Fault> = {
  3: { operation: 'UpdateItem', fault: 'lost', times: 1 },
  5: { operation: 'BatchGetItem', fault: 'unprocessed', times: 2 },
  7: { operation: 'UpdateItem', fault: 'lost', times: 2 },
  11: { operation: 'UpdateItem', fault: 'failed', times: 1 },
  13: { operation: 'BatchGetItem', fault: 'lost', times: 1 },
};

/** The fault of a round: in every `killEvery` a kill, else by its place among sixteen; others have none. */
function faultOf(round: number, killEvery: number): Fault | undefined {
  if (round % killEvery !== 0) return faults[round % 16];
  const fault = (round / killEvery) % 2 === 0 ? 'killed before' : 'killed after';
  return { operation: 'UpdateItem', fault, times: 1 };
}

/** Decides about the calls of a round, whichever instance makes them. */
class Meddler {
  readonly #count: (event: string) => void;
  #fault: Fault | undefined;
  #skip = 0;
  #left = 0;

  constructor(count: (event: string) => void) {
    this.#count = count;
  }

  /** Lets the fault happen to the call that follows `skip` others of its kind, and to the next ones. */
  plan(fault: Fault | undefined, skip: number): void {
    this.#fault = fault;
    this.#skip = skip;
    this.#left = fault?.times ?? 0;
  }

  decide(operation: string, instance: () => Instance | undefined): CallFault | undefined {
    if (!this.#fault || operation !== this.#fault.operation || this.#left === 0 || this.#skip-- > 0) return undefined;
    this.#left--;
    const { fault } = this.#fault;
    this.#count(`${operation} ${fault}`);
    if (fault === 'killed before' || fault === 'killed after') instance()?.kill();
    return fault;
  }
}

const script = join(import.meta.dirname, 'instance.ts');

/** A process that serves; the next request starts another one after it was killed. */
class Instance {
  readonly #link: EngineLink;
  readonly #waiting = new Map<number, (answered: Answered | undefined) => void>();
  #child: { process: ChildProcess; ready: Promise<unknown>; exited: Promise<unknown> } | undefined;
  #lastId = 0;

  constructor(link: EngineLink) {
    this.#link = link;
  }

  async ask(asked: Omit<Asked, 'id'>): Promise<Answered | undefined> {
    this.#child ??= this.#start();
    const { process, ready } = this.#child;
    await ready;
    const id = ++this.#lastId;
    const answered = new Promise<Answered | undefined>((resolve) => this.#waiting.set(id, resolve));
    // A process that was just killed takes nothing.
    process.send({ ...asked, id }, (error) => error && this.#waiting.get(id)?.(undefined));
    return answered;
  }

  kill(): void {
    this.#child?.process.kill('SIGKILL');
  }

  /** Waits until nothing that the process has sent is under way, also if it was killed. */
  async settle(): Promise<void> {
    if (this.#child?.process.killed) await this.#child.exited;
    await this.#link.idle();
  }

  async end(): Promise<void> {
    this.kill();
    await this.#child?.exited;
  }

  #start() {
    const process = fork(script, {
      execArgv: ['--disable-warning=ExperimentalWarning'],
      env: {
        ...globalThis.process.env,
        ...lambdaEnvironment(this.#link.endpoint),
        POWERTOOLS_LOG_LEVEL: 'SILENT',
        POWERTOOLS_METRICS_DISABLED: 'true',
      },
    });
    const ready = once(process, 'message');
    process.on('message', (answered: Answered) => {
      this.#waiting.get(answered.id)?.(answered);
      this.#waiting.delete(answered.id);
    });
    const exited = once(process, 'exit').then(() => {
      this.#child = undefined;
      for (const resolve of this.#waiting.values()) resolve(undefined);
      this.#waiting.clear();
    });
    return { process, ready, exited };
  }
}
