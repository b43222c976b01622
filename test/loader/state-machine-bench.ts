import { DeleteTableCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { CreateTopicCommand, type PublishCommandInput, SNSClient } from '@aws-sdk/client-sns';
import { loaderEnvironment, loaderErrors } from '../../loader/names.ts';
import { s3Storage } from '../../loader/storage/s3-storage.ts';
import { writeExtract } from '../../local/extract/write-extract.ts';
import { startCountingProxy } from '../support/counting-proxy.ts';
import { createTables } from '../support/dynamodb.ts';
import { startRangeServer } from '../support/range-server.ts';
import { startS3 } from '../support/s3.ts';
import { lambdaInvoke, lambdaInvokeArn } from '../support/state-machine/lambda-invoke.ts';
import { type Execution, runStateMachine } from '../support/state-machine/run-state-machine.ts';
import { snsPublish, snsPublishArn } from '../support/state-machine/sns-publish.ts';
import { deployedLoader } from './deployed-loader.ts';
import { importHandlers, type Step } from './import-handlers.ts';
import { startLoadBench } from './steps/load-bench.ts';
import { type Month, voorkomensOf } from './steps/months.ts';

export type StateMachineBench = Awaited<ReturnType<typeof startStateMachineBench>>;

/** Stands in for a step: `real` is the step itself. */
export type Instead = (event: never, real: Step) => unknown;

const guard = { minimumAddresses: 1, maximumRemovedShare: 0.3, alwaysAllowed: 0 };

/**
 * The loader's state machine as it is deployed, with the real handlers, on an engine, an S3 with SNS and a server of
 * extracts. The handlers keep the environment that they are imported with: one bench to a test file.
 */
export async function startStateMachineBench() {
  const [bench, s3, server] = await Promise.all([startLoadBench(), startS3(), startRangeServer()]);
  const { protocol, hostname, port } = (await bench.client.config.endpoint?.()) ?? {};
  const dynamoDb = await startCountingProxy(`${protocol}//${hostname}:${port}`);
  const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };
  const sns = new SNSClient({ endpoint: s3.endpoint, region: 'eu-west-1', credentials });
  const { TopicArn: topic = '' } = await sns.send(new CreateTopicCommand({ Name: 'alarms' }));
  const messages: { subject: string; text: string }[] = [];
  sns.middlewareStack.add((next) => async (args) => {
    const result = await next(args);
    const { Subject = '', Message = '' } = args.input as PublishCommandInput;
    messages.push({ subject: Subject, text: Message });
    return result;
  });

  const table = await bench.newTable();
  const configuration = { guard: { ...guard, maximumChangedShare: 1, maximumAddedShare: 1 } };
  const { definition, functions } = deployedLoader(configuration, { table, bucket: s3.bucket, topic });
  const environment = { ...process.env };
  Object.assign(process.env, {
    AWS_REGION: 'eu-west-1',
    AWS_ACCESS_KEY_ID: credentials.accessKeyId,
    AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
    AWS_ENDPOINT_URL_DYNAMODB: dynamoDb.endpoint,
    AWS_ENDPOINT_URL_S3: s3.endpoint,
  });
  // A thousand writes a second are for a table in the cloud; a test would wait for them.
  const steps = await importHandlers(functions, [loaderEnvironment.writesPerSecond]);
  const instead = new Map<string, Instead>();
  const handlers = Object.fromEntries(
    Object.entries(functions).map(([id, { step }]) => {
      const real = steps[step] as Step;
      return [id, (event: never) => (instead.get(step) ?? real)(event, real)];
    }),
  );
  const storage = s3Storage(s3.client, s3.bucket);

  return {
    definition,
    functions,
    server,
    storage,
    messages,
    dynamoDb,
    run: (input: Record<string, unknown> = {}): Promise<Execution> =>
      runStateMachine(definition, {
        input,
        integrations: { [lambdaInvokeArn]: lambdaInvoke(handlers), [snsPublishArn]: snsPublish(sns) },
        s3: s3.client,
        functionErrors: Object.values(loaderErrors),
        name: 'Load',
      }),
    /** From now on this is called for a step; without it the step is itself again. */
    replace(step: string, by?: Instead): void {
      if (!steps[step]) throw new Error(`There is no step ${step}.`);
      if (by) instead.set(step, by);
      else instead.delete(step);
    },
    async serve(month: Month): Promise<string> {
      return server.serve('lvbag-extract-nl.zip', await writeExtract(month.state, voorkomensOf(month)));
    },
    addresses: () => bench.addressesIn(table),
    /** Hours pass for whoever holds the lock. */
    async outliveLock(): Promise<void> {
      const Key = { address: { S: '#load' } };
      const past = { ':past': { N: '0' } };
      const UpdateExpression = 'SET #until = :past';
      await bench.client.send(
        new UpdateItemCommand({
          TableName: table,
          Key,
          UpdateExpression,
          ExpressionAttributeNames: { '#until': 'until' },
          ExpressionAttributeValues: past,
        }),
      );
    },
    /** As nothing had ever been loaded. */
    async reset(): Promise<void> {
      instead.clear();
      messages.length = 0;
      await storage.delete((await storage.list('')).map(({ key }) => key));
      await bench.client.send(new DeleteTableCommand({ TableName: table }));
      await createTables(bench.client, { addresses: table, accounts: `accounts-${crypto.randomUUID()}` });
      dynamoDb.take();
    },
    async stop(): Promise<void> {
      process.env = environment;
      sns.destroy();
      await dynamoDb.stop();
      await Promise.all([bench.stop(), s3.stop(), server.stop()]);
    },
  };
}
