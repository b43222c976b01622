import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { ExecutionDoesNotExist, ListExecutionsCommand, SFNClient, StartExecutionCommand } from '@aws-sdk/client-sfn';
import type { AuditAction } from '../../core/accounts/admin/audit.ts';
import { gapAfter, pathFrom } from '../../loader/dataset/delivery-path.ts';
import type { ManifestEntry } from '../../loader/dataset/load.ts';
import type { Progress } from '../../loader/progress.ts';
import type { LoadReport } from '../../loader/steps/load-report.ts';
import type { LoadContext, LoadRequest } from '../../loader/steps/step.ts';
import { dynamoDbAddressTable, scanAddresses } from '../../loader/storage/address-table.ts';
import { remoteLease } from '../../loader/storage/lease.ts';
import { type Held, isProcessGone, type LoadLock } from '../../loader/storage/lock.ts';
import { listMutations } from '../../loader/storage/mutation-lists.ts';
import { openStorage, pdokExtract } from '../../loader/storage/open.ts';
import { s3Client, s3Storage } from '../../loader/storage/s3.ts';
import { readLocalState } from '../../local/data-folder.ts';
import { localDynamoDb } from '../../local/engine/client.ts';
import { type DiscardReport, discardLoad, type RepairReport, repairTable } from '../../local/load/repair.ts';
import { runLoad } from '../../local/load/run-load.ts';
import { type ConnectionOptions, callerIdentity, localUser } from './admin.ts';
import { clientConfig, findDeployment } from './deployment.ts';
import { CommandError, UsageError } from './errors.ts';
import { operatorAudit } from './operator-audit.ts';
import { followExecution, isOnThisMachine, uploadExtract, uploadMutations } from './state-machine-load.ts';

/** A load that is running. */
export type ExecutingLoad = { name: string; since: string };

/** Loads of one dataset: in this process on the data of the local run, or by the state machine of a deployment. */
export type LoadCommands = {
  /** The storage and the addresses table. */
  readonly context: LoadContext;
  /** The options that select the same dataset in another command: `--local`. */
  readonly where: string;
  /** The list of mutations that the daily check follows; none when it follows none. */
  readonly mutations: string | undefined;
  /** Runs a load to its end. @throws RefusedLoadError, and any other error of a load */
  start(request: LoadRequest): Promise<LoadReport>;
  /** Follows a load that was started elsewhere: the named one, else the one that is running. @throws CommandError */
  follow(name?: string): Promise<LoadReport>;
  running(): Promise<ExecutingLoad[]>;
  /** Makes the table equal to its snapshot; always in this process. @throws LockedError, UnknownSnapshotError */
  repair(options: { planOnly: boolean }): Promise<RepairReport>;
  /** Removes the work of a load that was not published. @throws PendingLoadError, UnknownLoadError, LockedError */
  discard(load: string): Promise<DiscardReport>;
  /**
   * Who holds the lock on the table, and whether that load has ended; `null` if there is no lock.
   * @throws CommandError of a load that may be running, unless `force`
   */
  lockHolder(options: { force: boolean }): Promise<(Held & { isGone: boolean }) | null>;
  /** Removes the lock of this holder. A load that is running then stops before its next write. */
  unlock(held: Held): Promise<void>;
  close(): void;
};

/** How the progress of a load is reported. */
export type ProgressReporter = {
  /** Of work in this process. */
  progress: Progress;
  /** Prints a line about work elsewhere. */
  print: (line: string) => void;
};

/**
 * The loads of the dataset that the options name.
 * @throws UsageError, NotRunningError, CommandError, and errors of AWS
 */
export async function openLoads(
  { local, data, stack }: ConnectionOptions,
  reporter: ProgressReporter,
): Promise<LoadCommands> {
  if (local) return localLoads(data, reporter);
  if (stack !== undefined) return stackLoads(stack, reporter);
  throw new UsageError('Name the dataset: --local for the running "npm start", or --stack NAME for a deployment.');
}

/** Loads in this process, on the data of the running `npm start`, which serves what they publish immediately. */
async function localLoads(
  dataFolder: string | undefined,
  { progress, print }: ProgressReporter,
): Promise<LoadCommands> {
  const { endpoint, accessKeyId, accountsTable, addressesTable, storageFolder, mutations } =
    await readLocalState(dataFolder);
  const client = localDynamoDb(endpoint, accessKeyId);
  const audit = operatorAudit({ client, accountsTable, actor: async () => localUser(), print });
  const addresses = dynamoDbAddressTable(client, addressesTable, { transactions: true });
  const options = { storage: storageFolder, addresses, progress };
  return {
    context: { storage: await openStorage(storageFolder), addresses },
    where: dataFolder === undefined ? '--local' : `--local --data ${dataFolder}`,
    mutations,
    start(request) {
      const { source, mutations: named, rollback, approve, reject, planOnly } = request;
      const isOfExtract = (rollback ?? approve ?? reject ?? named) === undefined;
      const run = () => runLoad({ ...options, ...request, source: isOfExtract ? (source ?? pdokExtract) : source });
      return planOnly ? run() : audit(...auditOf(request), run);
    },
    follow: async () => {
      throw new CommandError('not_here', 'A load with --local runs in the command that started it; nothing to follow.');
    },
    running: async () => [],
    repair({ planOnly }) {
      const work = () => repairTable({ ...options, planOnly, scan: () => scanAddresses(client, addressesTable) });
      return planOnly ? work() : audit('load repair', {}, work);
    },
    discard: (load) => audit('load discard', { load }, () => discardLoad({ ...options, load })),
    lockHolder: ({ force }) => lockHolder(addresses.lock, force, isProcessGone),
    unlock: (held) => audit('load unlock', { ...held }, () => releaseLock(addresses.lock, held)),
    close: () => client.destroy(),
  };
}

/** What the audit has of a request. */
function auditOf({ rollback, approve, reject, ...request }: LoadRequest): [AuditAction, Record<string, unknown>] {
  if (approve !== undefined) return ['load approve', { load: approve }];
  if (reject !== undefined) return ['load reject', { load: reject }];
  if (rollback !== undefined) return ['load rollback', { snapshot: rollback }];
  const { source, mutations, again } = request;
  return ['load run', { ...(source && { source }), ...(mutations && { mutations }), ...(again && { again }) }];
}

async function lockHolder(
  lock: LoadLock,
  force: boolean,
  isGone: (held: Held) => boolean | null | Promise<boolean | null>,
): Promise<(Held & { isGone: boolean }) | null> {
  const held = await lock.holder();
  if (!held) return null;
  const { owner, untilSeconds } = held;
  const gone = (await isGone(held)) ?? untilSeconds * 1000 < Date.now();
  if (!gone && !force) {
    const until = new Date(untilSeconds * 1000).toISOString();
    throw new CommandError(
      'locked',
      `${owner} still holds the lock, which ends at ${until} unless it is renewed. Wait for it, stop it, or add --force: it ` +
        'then stops before its next write.',
    );
  }
  return { ...held, isGone: gone };
}

async function releaseLock(lock: LoadLock, { owner, token }: Held): Promise<void> {
  await lock.release(owner, token || undefined);
}

/** Of a scan: a third of the read capacity of one partition, so that lookups are not throttled. */
const scanPagesPerSecond = 8;

/** Loads by the state machine of a deployment. @throws CommandError, and errors of AWS */
async function stackLoads(stack: string, { print, progress }: ProgressReporter): Promise<LoadCommands> {
  const { name, output, optionalOutput } = await findDeployment(stack, ['data', 'loader']);
  const machine = output('StateMachineArn');
  const bucket = output('SnapshotBucketName');
  const dynamoDb = new DynamoDBClient(clientConfig);
  const table = output('AddressesTableName');
  const addresses = dynamoDbAddressTable(dynamoDb, table);
  const storage = s3Storage(s3Client(), bucket);
  const stepFunctions = new SFNClient(clientConfig);
  const accountsTable = output('AccountsTableName');
  const audit = operatorAudit({ client: dynamoDb, accountsTable, actor: callerIdentity, print });
  const where = `--stack ${name}`;

  async function running(): Promise<ExecutingLoad[]> {
    const command = new ListExecutionsCommand({ stateMachineArn: machine, statusFilter: 'RUNNING', maxResults: 10 });
    const { executions = [] } = await stepFunctions.send(command);
    return executions.map(({ name: load = '', startDate }) => ({ name: load, since: startDate?.toISOString() ?? '' }));
  }

  function follow(execution: string) {
    const executionArn = `${machine.replace(':stateMachine:', ':execution:')}:${execution}`;
    const again = `"load follow ${execution} ${where}"`;
    return followExecution({ client: stepFunctions, executionArn, print, again });
  }

  async function start(request: LoadRequest) {
    const [other] = await running();
    if (other) {
      const message = `A load has been running since ${other.since}. Follow it with "load follow ${where}", or wait until it ends.`;
      throw new CommandError('locked', message, { details: { execution: other.name } });
    }
    const { source } = request;
    const given =
      source && isOnThisMachine(source) ? await uploadExtract(source, { storage, bucket, progress }) : source;
    // Never an empty input: that is the daily check, which gives way to another load silently.
    const mutations = request.mutations && (await uploadMutations(request.mutations, { storage, bucket }));
    const input = { again: false, ...request, ...(given && { source: given }), ...(mutations && { mutations }) };
    const command = new StartExecutionCommand({ stateMachineArn: machine, input: JSON.stringify(input) });
    const begin = () => stepFunctions.send(command);
    const { executionArn = '' } = await (request.planOnly ? begin() : audit(...auditOf(request), begin));
    const execution = executionArn.split(':').at(-1) ?? '';
    print(`Started ${execution}. Ctrl-C stops following; the load continues.`);
    return follow(execution);
  }

  return {
    context: { storage, addresses },
    where,
    mutations: optionalOutput('MutationsSource'),
    start,
    async follow(named) {
      const execution = named?.split(':').at(-1) ?? (await running())[0]?.name;
      if (execution === undefined) {
        throw new CommandError('no_load', `No load is running. "load history ${where}" lists earlier loads.`);
      }
      return follow(execution).catch((error: unknown) => {
        if (!(error instanceof ExecutionDoesNotExist)) throw error;
        throw new CommandError(
          'no_load',
          `There is no load ${execution}. Leave out the name to follow the one that is running.`,
        );
      });
    },
    running,
    repair: ({ planOnly }) => {
      const scan = () => scanAddresses(dynamoDb, table, scanPagesPerSecond);
      const work = () => repairTable({ storage, addresses, progress, planOnly, scan, lease: remoteLease });
      return planOnly ? work() : audit('load repair', {}, work);
    },
    discard: (load) => audit('load discard', { load }, () => discardLoad({ storage, addresses, load })),
    unlock: (held) => audit('load unlock', { ...held }, () => releaseLock(addresses.lock, held)),
    lockHolder: ({ force }) =>
      lockHolder(addresses.lock, force, async (held) => {
        const [, execution] = /^arn:[^:]+:states:.*:([^:]+)$/.exec(held.owner) ?? [];
        if (execution === undefined) return isProcessGone(held);
        return !(await running()).some(({ name }) => name === execution);
      }),
    close() {
      dynamoDb.destroy();
      stepFunctions.destroy();
    },
  };
}

/** How far a dataset has followed its mutations. Plain JSON. */
export type MutationStatus = {
  /** The next delivery is the one that leads on from this date. */
  from: string;
  /** Listed deliveries that the next check applies; `null` where no list is known. */
  waiting: string[] | null;
  /** Why it can't follow further: a day is missing, or the list can't be read. */
  problem: string | null;
};

/**
 * What the list (where there is one) holds for the live dataset; `null` for one that follows no mutations. Never
 * throws.
 */
export async function mutationStatus(
  published: ManifestEntry | null,
  list: string | undefined,
): Promise<MutationStatus | null> {
  if (!published?.extract || (list === undefined && published.extract.peildatum === published.peildatum)) return null;
  const from = published.peildatum;
  if (list === undefined) return { from, waiting: null, problem: null };
  try {
    const { listed } = await listMutations(list);
    const path = pathFrom(listed, from);
    return { from, waiting: path.map(({ name }) => name), problem: gapAfter(listed, path.at(-1)?.tot ?? from) };
  } catch (error) {
    return { from, waiting: null, problem: (error as Error).message };
  }
}
