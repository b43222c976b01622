import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { ExecutionDoesNotExist, ListExecutionsCommand, SFNClient, StartExecutionCommand } from '@aws-sdk/client-sfn';
import { repairTable } from '../../loader/repair/repair-table.ts';
import { scanAddresses } from '../../loader/repair/scan-addresses.ts';
import { dynamoDbAddressTable } from '../../loader/storage/dynamodb-address-table.ts';
import { s3Client } from '../../loader/storage/s3-client.ts';
import { s3Storage } from '../../loader/storage/s3-storage.ts';
import { CommandError } from '../commands/command-error.ts';
import type { Watcher } from '../output/watcher.ts';
import { findDeployment } from './find-deployment.ts';
import { followExecution } from './follow-execution.ts';
import type { LoadRequest, Loads, RunningLoad } from './loads.ts';
import { patience } from './patience.ts';
import { isOnThisMachine, uploadExtract } from './upload-extract.ts';

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
