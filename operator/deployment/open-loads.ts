import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { ExecutionDoesNotExist, SFNClient, StartExecutionCommand } from '@aws-sdk/client-sfn';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import type { ManifestEntry } from '../../loader/dataset/load.ts';
import type { LoadReport } from '../../loader/guard/load-report.ts';
import { gapAfter, listMutations, pathFrom } from '../../loader/mutations/mutation-lists.ts';
import type { LoadRequest, Progress } from '../../loader/steps/step.ts';
import { dynamoDbAddressTable, scanAddresses } from '../../loader/storage/address-table.ts';
import {
  type Held,
  isProcessGone,
  type LeaseTiming,
  remoteLease,
} from '../../loader/storage/lock.ts';
import { openStorage, pdokExtract } from '../../loader/storage/open.ts';
import type { LoadContext } from '../../loader/storage/stored-loads.ts';
import { readLocalState } from '../../local/data-folder.ts';
import { localDynamoDb } from '../../local/engine/client.ts';
import { localLoadRunner } from '../../local/load/load-runner.ts';
import {
  type DiscardReport,
  discardLoad,
  type RepairReport,
  repairTable,
} from '../../local/load/repair.ts';
import { runLoad } from '../../local/load/run-load.ts';
import { createAdminStore } from '../../packages/admin/accounts/admin-store.ts';
import type { AuditAction } from '../../packages/admin/accounts/audit-log.ts';
import { type LoadDecision, type Loads, loadsOf } from '../../packages/admin/load-approvals.ts';
import { loadMachine } from '../../packages/admin/loads.ts';
import { clientConfig, findDeployment } from './deployed-stacks.ts';
import { CommandError, UsageError } from './errors.ts';
import { type ConnectionOptions, callerIdentity, localUser } from './find-tables.ts';
import { type OperatorAudit, operatorAudit } from './operator-audit.ts';
import {
  type EndedLoad,
  followExecution,
  isOnThisMachine,
  lastRuns,
  uploadExtract,
  uploadMutations,
} from './state-machine-load.ts';

/**
 * Loads of one dataset: in this process on the data of the local run, or by the state machine of a
 * deployment.
 */
export type LoadCommands = {
  /** The storage and the addresses table. */
  readonly context: LoadContext;
  /** The list of mutations that the daily check follows; none when it follows none. */
  readonly mutations: string | undefined;
  /** The running and waiting loads, as the portal shows them. */
  readonly loads: Pick<Loads, 'running' | 'waiting'>;
  /**
   * The last loads that ended, the newest first; empty on this machine, whose command reported the
   * end itself.
   */
  lastRuns(): Promise<EndedLoad[]>;
  /** Runs a load to its end. @throws RefusedLoadError, and any other error of a load */
  start(request: Omit<LoadRequest, 'reject'>): Promise<LoadReport>;
  /**
   * Approves or rejects the seen proposal of a load, as the portal does, and follows its run to the
   * end.
   */
  decide(decision: LoadDecision, seen: { load: string; proposal: string }): Promise<LoadReport>;
  /**
   * Follows a load that was started elsewhere: the named load, else the running one. @throws
   * CommandError
   */
  follow(name?: string): Promise<LoadReport>;
  /**
   * Makes the table equal to its snapshot; always in this process. @throws LockedError,
   * UnknownSnapshotError
   */
  repair(options: { planOnly: boolean }): Promise<RepairReport>;
  /**
   * Removes the work of a load that was not published. @throws PendingLoadError, UnknownLoadError,
   * LockedError
   */
  discard(load: string): Promise<DiscardReport>;
  /**
   * Who holds the lock on the table, and whether that load has ended; `null` if there is no lock.
   * @throws CommandError of a load that may be running, unless `force`
   */
  lockHolder(options: { force: boolean }): Promise<(Held & { isGone: boolean }) | null>;
  /** Removes the lock of this holder. A load that is running then stops before its next write. */
  unlock(held: Held): Promise<void>;
};

export type ProgressReporter = {
  /** Shows work in this process. */
  progress: Progress;
  /** Prints a line about work elsewhere. */
  print: (line: string) => void;
};

/**
 * The loads of the dataset that the options name.
 * @throws UsageError, NotRunningError, CommandError, and errors of AWS
 */
export async function openLoads(
  options: ConnectionOptions,
  reporter: ProgressReporter,
): Promise<LoadCommands> {
  const { local, data, stage } = options;
  if (local) return localLoads(data, reporter);
  if (stage !== undefined) return stageLoads(stage, reporter);
  throw new UsageError(
    'Name the dataset: --local for the running "npm start", or --stage NAME for a deployment.',
  );
}

/**
 * Loads in this process, on the data of the running `npm start`, which serves their result
 * immediately.
 */
async function localLoads(
  data: string | undefined,
  { progress, print }: ProgressReporter,
): Promise<LoadCommands> {
  const { endpoint, accessKeyId, accountsTable, addressesTable, ...state } =
    await readLocalState(data);
  const { storageFolder, mutations, objecten } = state;
  const client = localDynamoDb(endpoint, accessKeyId);
  const addresses = dynamoDbAddressTable(client, addressesTable, { transactions: true });
  const storage = await openStorage(storageFolder);
  const options = { storage: storageFolder, addresses, objecten, progress };
  const runner = localLoadRunner(options);
  const store = createAdminStore(
    DynamoDBDocumentClient.from(client),
    accountsTable,
    localUser(),
    Date.now,
  );
  const loads = loadsOf(store, storage, runner);
  const audit = operatorAudit(client, accountsTable, async () => localUser(), print);
  return {
    context: { storage, addresses },
    mutations,
    loads,
    lastRuns: async () => [],
    start(request) {
      const { source, mutations: named, rollback, approve, planOnly } = request;
      const isOfExtract = (rollback ?? named ?? approve) === undefined;
      const onPublished = ({ peildatum, added, changed, removed, kind, more }: LoadReport) =>
        named && (more || kind === 'extract')
          ? print(
              `The snapshot of ${peildatum} is live: ${added} added, ${changed} changed, ${removed} removed.`,
            )
          : undefined;
      const extract = isOfExtract ? (source ?? pdokExtract) : source;
      const run = () => runLoad({ ...options, ...request, source: extract, onPublished });
      return planOnly ? run() : audit(...auditOf(request), run);
    },
    async decide(decision, seen) {
      const { run } = await loads[decision](seen);
      return (await runner.reportOf(run)) ?? followElsewhere();
    },
    follow: async () => followElsewhere(),
    ...tableCommands(audit, isProcessGone, {
      ...options,
      scan: () => scanAddresses(client, addressesTable),
    }),
  };
}

function followElsewhere(): never {
  throw new CommandError(
    'not_here',
    'A load with --local runs in the command that started it; nothing to follow.',
  );
}

function auditOf({
  rollback,
  source,
  mutations,
  again,
  approve,
}: LoadRequest): [AuditAction, Record<string, unknown>] {
  if (rollback !== undefined) return ['load rollback', { snapshot: rollback }];
  if (approve !== undefined) return ['load run', { finish: approve }];
  return [
    'load run',
    { ...(source && { source }), ...(mutations && { mutations }), ...(again && { again }) },
  ];
}

/** A third of the read capacity of one partition, so that a scan does not throttle lookups. */
const scanPagesPerSecond = 8;

/** Loads by the state machine of a deployment. @throws CommandError, and errors of AWS */
async function stageLoads(
  stage: string,
  { print, progress }: ProgressReporter,
): Promise<LoadCommands> {
  const { name, output, optionalOutput } = await findDeployment(stage, ['data', 'loader']);
  const stateMachineArn = output('StateMachineArn');
  const bucket = output('SnapshotBucketName');
  const table = output('AddressesTableName');
  const accountsTable = output('AccountsTableName');
  const dynamoDb = new DynamoDBClient(clientConfig);
  const stepFunctions = new SFNClient(clientConfig);
  const addresses = dynamoDbAddressTable(dynamoDb, table);
  const storage = await openStorage(`s3://${bucket}`);
  const audit = operatorAudit(dynamoDb, accountsTable, callerIdentity, print);
  const machine = loadMachine(stepFunctions, stateMachineArn);
  const loadsAs = (actor: string) =>
    loadsOf(
      createAdminStore(DynamoDBDocumentClient.from(dynamoDb), accountsTable, actor, Date.now),
      storage,
      machine,
    );
  const loads = loadsAs('unknown');

  async function follow(named?: string): Promise<LoadReport> {
    const execution = named?.split(':').at(-1) ?? (await loads.running())[0]?.name;
    if (execution === undefined) {
      throw new CommandError('no_load', 'No load is running. "load history" lists earlier loads.');
    }
    const executionArn = `${stateMachineArn.replace(':stateMachine:', ':execution:')}:${execution}`;
    const again = `"load follow ${execution}"`;
    const missing = `There is no load ${execution}. Leave out the name to follow the running load.`;
    return followExecution(stepFunctions, executionArn, print, again).catch((error: unknown) => {
      throw error instanceof ExecutionDoesNotExist ? new CommandError('no_load', missing) : error;
    });
  }

  function followNow(run: string, started: boolean): Promise<LoadReport> {
    print(
      `${started ? 'Started' : 'Following'} ${run}. Ctrl-C stops following; the load continues.`,
    );
    return follow(run);
  }

  async function start(request: LoadRequest): Promise<LoadReport> {
    const [other] = await loads.running();
    if (other) {
      const message = `A load has been running since ${other.since}. Follow it with "load follow", or wait until it ends.`;
      throw new CommandError('locked', message, { details: { execution: other.name } });
    }
    const { source } = request;
    const to = { storage, bucket, progress };
    const given = source && isOnThisMachine(source) ? await uploadExtract(source, to) : source;
    // Never an empty input: that is the daily check, which gives way to another load silently.
    const mutations = request.mutations && (await uploadMutations(request.mutations, to));
    const input = {
      again: false,
      ...request,
      ...(given && { source: given }),
      ...(mutations && { mutations }),
    };
    const command = new StartExecutionCommand({ stateMachineArn, input: JSON.stringify(input) });
    const begin = () => stepFunctions.send(command);
    const { executionArn = '' } = await (request.planOnly
      ? begin()
      : audit(...auditOf(request), begin));
    return followNow(executionArn.split(':').at(-1) ?? '', true);
  }

  async function isGone(held: Held): Promise<boolean | null> {
    const [, execution] = /^arn:[^:]+:states:.*:([^:]+)$/.exec(held.owner) ?? [];
    if (execution === undefined) return isProcessGone(held);
    return !(await loads.running()).some(({ name }) => name === execution);
  }

  return {
    context: { storage, addresses },
    mutations: optionalOutput('MutationsSource'),
    loads,
    lastRuns: () => lastRuns(stepFunctions, stateMachineArn, `${name}/Load failed/Errors`),
    start,
    async decide(decision, seen) {
      const { run, started } = await loadsAs(await callerIdentity())[decision](seen);
      return followNow(run, started);
    },
    follow,
    ...tableCommands(audit, isGone, {
      storage,
      addresses,
      progress,
      lease: remoteLease,
      scan: () => scanAddresses(dynamoDb, table, scanPagesPerSecond),
    }),
  };
}

/** Whether the load that holds the lock has ended; `null` if that can't be known. */
type IsGone = (held: Held) => boolean | null | Promise<boolean | null>;
type TableRepair = Omit<Parameters<typeof repairTable>[0], 'planOnly'> & { lease?: LeaseTiming };

/**
 * The commands that run in this process on any table: repairs, and the removal of an interrupted
 * load's leftovers.
 */
function tableCommands(audit: OperatorAudit, isGone: IsGone, repair: TableRepair) {
  const { lock } = repair.addresses;
  return {
    repair({ planOnly }: { planOnly: boolean }) {
      const work = () => repairTable({ ...repair, planOnly });
      return planOnly ? work() : audit('load repair', {}, work);
    },
    discard: (load: string) =>
      audit('load discard', { load }, () => discardLoad({ ...repair, load })),
    async lockHolder({ force }: { force: boolean }) {
      const held = await lock.holder();
      if (!held) return null;
      const { owner, untilSeconds } = held;
      const gone = (await isGone(held)) ?? untilSeconds * 1000 < Date.now();
      if (gone || force) return { ...held, isGone: gone };
      const until = new Date(untilSeconds * 1000).toISOString();
      const message = `${owner} still holds the lock, which ends at ${until} unless it is renewed. Wait for it, stop it, or add --force: it then stops before its next write.`;
      throw new CommandError('locked', message);
    },
    unlock: (held: Held) =>
      audit('load unlock', { ...held }, async () => {
        await lock.release(held.owner, held.token || undefined);
      }),
  };
}

/** How far a dataset has followed its mutations. Plain JSON. */
export type MutationStatus = {
  /** The next delivery leads on from this date. */
  from: string;
  /** Listed deliveries that the next check applies; `null` where no list is known. */
  waiting: string[] | null;
  /** Why it can't follow further: a day is missing, or the list can't be read. */
  problem: string | null;
};

/**
 * The deliveries in the list, if any, for the live dataset; `null` if it follows no mutations.
 * Never throws.
 */
export async function mutationStatus(
  published: ManifestEntry | null,
  list?: string,
): Promise<MutationStatus | null> {
  if (
    !published?.extract ||
    (list === undefined && published.extract.peildatum === published.peildatum)
  ) {
    return null;
  }
  const from = published.peildatum;
  if (list === undefined) return { from, waiting: null, problem: null };
  try {
    const { listed } = await listMutations(list);
    const path = pathFrom(listed, from);
    return {
      from,
      waiting: path.map(({ name }) => name),
      problem: gapAfter(listed, path.at(-1)?.tot ?? from),
    };
  } catch (error) {
    return { from, waiting: null, problem: (error as Error).message };
  }
}
