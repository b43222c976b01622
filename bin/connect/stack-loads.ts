import { basename } from 'node:path';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { ExecutionDoesNotExist, ListExecutionsCommand, SFNClient, StartExecutionCommand } from '@aws-sdk/client-sfn';
import { findMembers } from '../../loader/bag/extract-members.ts';
import { extractIdentity } from '../../loader/dataset/load.ts';
import type { Progress } from '../../loader/progress.ts';
import { repairTable } from '../../loader/run/repair.ts';
import { dynamoDbAddressTable, scanAddresses } from '../../loader/storage/dynamodb-address-table.ts';
import { fileSource } from '../../loader/storage/file-source.ts';
import { s3Client, s3Storage } from '../../loader/storage/s3.ts';
import type { Source } from '../../loader/storage/source.ts';
import type { Storage } from '../../loader/storage/storage.ts';
import { CommandError } from '../cli/arguments.ts';
import type { Watcher } from '../cli/watcher.ts';
import { findDeployment, patience } from './deployment.ts';
import { followExecution } from './executions.ts';
import type { LoadRequest, Loads, RunningLoad } from './loads.ts';

/** Whether a source is a file here, which a deployment can't reach. */
export function isOnThisMachine(source: string): boolean {
  return !/^(?:https?|s3):\/\//i.test(source);
}

/**
 * Copies an extract into the bucket, once, and gives where it is: `s3://BUCKET/uploads/...`. A file that is no extract is
 * refused before it is sent.
 * @throws SourceError, ExtractError
 */
export async function uploadExtract(
  path: string,
  { storage, bucket, progress }: { storage: Storage; bucket: string; progress: Progress },
): Promise<string> {
  const source = await fileSource(path);
  if (!source?.access) throw new Error(`${path} can't be read by range`);
  try {
    const { location } = source.version;
    const { size } = source.access;
    const { peildatum, members } = await findMembers(source.access, basename(location));
    const key = `uploads/${extractIdentity(peildatum, members)}-${size}.zip`;
    if (!(await storage.open(key))) await send(storage, { key, source, bytes: size, progress });
    return `s3://${bucket}/${key}`;
  } finally {
    await source.close();
  }
}

type Sending = { key: string; source: Source; bytes: number; progress: Progress };

async function send(storage: Storage, { key, source, bytes, progress }: Sending): Promise<void> {
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

/** Of a scan: a third of the reads that one part of a table takes, so that lookups get theirs. */
const pagesPerSecond = 8;

/** Loads by the state machine of a deployment. Throws `CommandError`, and what AWS says. */
export async function stackLoads(stack: string, { tell, progress }: Watcher): Promise<Loads> {
  const { name, output } = await findDeployment(stack, ['data', 'loader']);
  const machine = output('StateMachineArn');
  const bucket = output('SnapshotBucketName');
  const dynamoDb = new DynamoDBClient(patience);
  const table = output('AddressesTableName');
  const addresses = dynamoDbAddressTable(dynamoDb, table);
  const storage = s3Storage(s3Client(), bucket);
  const stepFunctions = new SFNClient(patience);
  const where = `--stack ${name}`;

  async function running(): Promise<RunningLoad[]> {
    const command = new ListExecutionsCommand({ stateMachineArn: machine, statusFilter: 'RUNNING', maxResults: 10 });
    const { executions = [] } = await stepFunctions.send(command);
    return executions.map(({ name: load = '', startDate }) => ({ name: load, since: startDate?.toISOString() ?? '' }));
  }

  function watch(execution: string) {
    const executionArn = `${machine.replace(':stateMachine:', ':execution:')}:${execution}`;
    const again = `"load follow ${execution} ${where}"`;
    return followExecution({ client: stepFunctions, executionArn, tell, again });
  }

  async function start(request: LoadRequest) {
    const [other] = await running();
    if (other) {
      const message = `A load is under way since ${other.since}; watch it with "load follow ${where}", or wait for its end.`;
      throw new CommandError('locked', message, { details: { execution: other.name } });
    }
    const { source } = request;
    const given =
      source && isOnThisMachine(source) ? await uploadExtract(source, { storage, bucket, progress }) : source;
    // Never the empty input, which is the daily look: that one steps aside for another load without a word.
    const input = { again: false, ...request, ...(given && { source: given }) };
    const { executionArn = '' } = await stepFunctions.send(
      new StartExecutionCommand({ stateMachineArn: machine, input: JSON.stringify(input) }),
    );
    const execution = executionArn.split(':').at(-1) ?? '';
    tell(`Started ${execution}. Ctrl-C leaves it running.`);
    return watch(execution);
  }

  return {
    places: { storage, addresses },
    where,
    start,
    async follow(named) {
      const execution = named?.split(':').at(-1) ?? (await running())[0]?.name;
      if (execution === undefined) {
        throw new CommandError('no_load', `No load is under way; what there was shows "load history ${where}".`);
      }
      return watch(execution).catch((error: unknown) => {
        if (!(error instanceof ExecutionDoesNotExist)) throw error;
        throw new CommandError('no_load', `There is no load ${execution}; leave the name out for the one under way.`);
      });
    },
    running,
    repair: ({ planOnly }) => {
      const scan = () => scanAddresses(dynamoDb, table, pagesPerSecond);
      return repairTable({ storage, addresses, progress, planOnly, scan });
    },
    close() {
      dynamoDb.destroy();
      stepFunctions.destroy();
    },
  };
}
