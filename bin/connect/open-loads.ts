import { basename } from 'node:path';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { ExecutionDoesNotExist, ListExecutionsCommand, SFNClient, StartExecutionCommand } from '@aws-sdk/client-sfn';
import { findMembers } from '../../loader/bag/extract-members.ts';
import { extractIdentity } from '../../loader/dataset/load.ts';
import type { Progress } from '../../loader/progress.ts';
import { discardLoad } from '../../loader/run/discard.ts';
import { repairTable } from '../../loader/run/repair.ts';
import { approveLoad, planLoad, rollbackLoad, runLoad } from '../../loader/run/run-load.ts';
import { dynamoDbAddressTable, scanAddresses } from '../../loader/storage/dynamodb-address-table.ts';
import { fileSource } from '../../loader/storage/file-source.ts';
import { remoteLease } from '../../loader/storage/lease.ts';
import { openStorage } from '../../loader/storage/open.ts';
import { pdokExtract } from '../../loader/storage/pdok.ts';
import { s3Client, s3Storage } from '../../loader/storage/s3.ts';
import type { Source } from '../../loader/storage/source.ts';
import type { Storage } from '../../loader/storage/storage.ts';
import { localDynamoDb } from '../../local/engine/tables.ts';
import { readLocalState } from '../../local/state.ts';
import type { ConnectionOptions } from './admin.ts';
import { clientConfig, findDeployment } from './deployment.ts';
import { CommandError, UsageError } from './errors.ts';
import { followExecution } from './executions.ts';
import type { LoadRequest, Loads, ProgressReporter, RunningLoad } from './loads.ts';

/**
 * The loads of the dataset that the options name.
 * @throws UsageError, NotRunningError, CommandError, and errors of AWS
 */
export async function openLoads({ local, data, stack }: ConnectionOptions, reporter: ProgressReporter): Promise<Loads> {
  if (local) return localLoads(data, reporter.progress);
  if (stack !== undefined) return stackLoads(stack, reporter);
  throw new UsageError('Name the dataset: --local for the running "npm start", or --stack NAME for a deployment.');
}

/** Loads in this process, on the data of the running `npm start`, which serves what they publish immediately. */
async function localLoads(dataFolder: string | undefined, progress: Progress): Promise<Loads> {
  const { endpoint, accessKeyId, addressesTable, storageFolder } = await readLocalState(dataFolder);
  const client = localDynamoDb(endpoint, accessKeyId);
  const addresses = dynamoDbAddressTable(client, addressesTable, { transactions: true });
  const options = { storage: storageFolder, addresses, progress };
  return {
    context: { storage: await openStorage(storageFolder), addresses },
    where: dataFolder === undefined ? '--local' : `--local --data ${dataFolder}`,
    start({ source = pdokExtract, again = false, planOnly = false, rollback, approve }) {
      if (approve !== undefined) return approveLoad({ ...options, load: approve });
      if (rollback !== undefined) return rollbackLoad({ ...options, snapshot: rollback });
      return (planOnly ? planLoad : runLoad)({ ...options, source, again });
    },
    follow: async () => {
      throw new CommandError('not_here', 'A load with --local runs in the command that started it; nothing to follow.');
    },
    running: async () => [],
    repair: ({ planOnly }) => repairTable({ ...options, planOnly, scan: () => scanAddresses(client, addressesTable) }),
    discard: (load) => discardLoad({ ...options, load }),
    close: () => client.destroy(),
  };
}

/** Whether a source is a file on this machine, which a deployment can't read. */
function isOnThisMachine(source: string): boolean {
  return !/^(?:https?|s3):\/\//i.test(source);
}

/**
 * Uploads an extract to the bucket unless it is there already, and returns its location: `s3://BUCKET/uploads/...`. A file
 * that is no extract is refused before the upload.
 * @throws SourceError, ExtractError
 */
async function uploadExtract(
  path: string,
  { storage, bucket, progress }: { storage: Storage; bucket: string; progress: Progress },
): Promise<string> {
  const source = await fileSource(path);
  if (!source?.access) throw new Error(`${path} can't be read in ranges`);
  try {
    const { location } = source.version;
    const { size } = source.access;
    const { peildatum, members } = await findMembers(source.access, basename(location));
    const key = `uploads/${extractIdentity(peildatum, members)}-${size}.zip`;
    if (!(await storage.open(key))) await upload(storage, { key, source, bytes: size, progress });
    return `s3://${bucket}/${key}`;
  } finally {
    await source.close();
  }
}

type Upload = { key: string; source: Source; bytes: number; progress: Progress };

async function upload(storage: Storage, { key, source, bytes, progress }: Upload): Promise<void> {
  const shown = progress.begin('stage', { bytes });
  const counted = async function* () {
    for await (const chunk of source.stream()) {
      shown.advance({ bytes: chunk.length });
      yield chunk;
    }
  };
  await storage.putStream(key, counted());
  shown.end();
}

/** Of a scan: a third of the read capacity of one partition, so that lookups are not throttled. */
const scanPagesPerSecond = 8;

/** Loads by the state machine of a deployment. Throws `CommandError`, and errors of AWS. */
async function stackLoads(stack: string, { print, progress }: ProgressReporter): Promise<Loads> {
  const { name, output } = await findDeployment(stack, ['data', 'loader']);
  const machine = output('StateMachineArn');
  const bucket = output('SnapshotBucketName');
  const dynamoDb = new DynamoDBClient(clientConfig);
  const table = output('AddressesTableName');
  const addresses = dynamoDbAddressTable(dynamoDb, table);
  const storage = s3Storage(s3Client(), bucket);
  const stepFunctions = new SFNClient(clientConfig);
  const where = `--stack ${name}`;

  async function running(): Promise<RunningLoad[]> {
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
    const input = { again: false, ...request, ...(given && { source: given }) };
    const { executionArn = '' } = await stepFunctions.send(
      new StartExecutionCommand({ stateMachineArn: machine, input: JSON.stringify(input) }),
    );
    const execution = executionArn.split(':').at(-1) ?? '';
    print(`Started ${execution}. Ctrl-C stops following; the load continues.`);
    return follow(execution);
  }

  return {
    context: { storage, addresses },
    where,
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
      return repairTable({ storage, addresses, progress, planOnly, scan, lease: remoteLease });
    },
    discard: (load) => discardLoad({ storage, addresses, load }),
    close() {
      dynamoDb.destroy();
      stepFunctions.destroy();
    },
  };
}
