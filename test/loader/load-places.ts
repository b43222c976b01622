import { BatchWriteItemCommand, DeleteTableCommand, ScanCommand } from '@aws-sdk/client-dynamodb';
import { CreateTopicCommand, type PublishCommandInput, SNSClient } from '@aws-sdk/client-sns';
import { s3Storage } from '../../loader/storage/s3.ts';
import { createAddressesTable } from '../support/dynamodb.ts';
import { startRangeServer } from '../support/range-server.ts';
import { startS3 } from '../support/s3.ts';
import { startFakeExecutions } from './fake-executions.ts';
import { startLoadBench } from './steps/load-bench.ts';

const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };

/** Everything that a deployed loader works with: a table, a bucket, a topic, its executions and a server of extracts. */
export async function startLoadPlaces() {
  const [bench, s3, server, executions] = await Promise.all([
    startLoadBench(),
    startS3(),
    startRangeServer(),
    startFakeExecutions(),
  ]);
  const { protocol, hostname, port } = (await bench.client.config.endpoint?.()) ?? {};
  const sns = new SNSClient({ endpoint: s3.endpoint, region: 'eu-west-1', credentials });
  const { TopicArn: topic = '' } = await sns.send(new CreateTopicCommand({ Name: 'alarms' }));
  const messages: { topic: string; subject: string; text: string }[] = [];
  let silent = false;
  sns.middlewareStack.add((next) => async (args) => {
    if (silent) throw Object.assign(new Error('Rate exceeded'), { name: 'ThrottledException' });
    const result = await next(args);
    const { Subject: subject = '', Message: text = '', TopicArn = '' } = args.input as PublishCommandInput;
    messages.push({ topic: TopicArn, subject, text });
    return result;
  });
  const table = await bench.newTable();
  const storage = s3Storage(s3.client, s3.bucket);

  return {
    server,
    sns,
    s3,
    executions,
    storage,
    messages,
    names: { table, bucket: s3.bucket, topic },
    /** What the SDK of a Lambda has to be told to work here. */
    environment: {
      AWS_REGION: 'eu-west-1',
      AWS_ACCESS_KEY_ID: credentials.accessKeyId,
      AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
      AWS_ENDPOINT_URL_DYNAMODB: `${protocol}//${hostname}:${port}`,
      AWS_ENDPOINT_URL_S3: s3.endpoint,
      AWS_ENDPOINT_URL_SFN: executions.endpoint,
    },
    /** From now on the topic takes no message, until `reset`. */
    silence(): void {
      silent = true;
    },
    addresses: () => bench.addressesIn(table),
    /** Keeps what is in table, bucket, messages and server, for the function that it gives, which puts it back into empty ones. */
    async keep(): Promise<() => Promise<void>> {
      const [keptMessages, putFiles] = [[...messages], server.keep()];
      const { Items = [] } = await bench.client.send(new ScanCommand({ TableName: table, ConsistentRead: true }));
      const keys = (await storage.list('')).map(({ key }) => key);
      const objects = await Promise.all(keys.map(async (key) => ({ key, bytes: (await storage.get(key)) as Buffer })));
      return async () => {
        putFiles();
        messages.push(...keptMessages);
        const puts = Items.map((Item) => ({ PutRequest: { Item } }));
        for (let first = 0; first < puts.length; first += 25) {
          const RequestItems = { [table]: puts.slice(first, first + 25) };
          await bench.client.send(new BatchWriteItemCommand({ RequestItems }));
        }
        await Promise.all(objects.map(({ key, bytes }) => storage.put(key, bytes)));
      };
    },
    /** Empties table, bucket and messages. */
    async reset(): Promise<void> {
      messages.length = 0;
      silent = false;
      await storage.delete((await storage.list('')).map(({ key }) => key));
      await bench.client.send(new DeleteTableCommand({ TableName: table }));
      await createAddressesTable(bench.client, table);
    },
    async stop(): Promise<void> {
      sns.destroy();
      await Promise.all([bench.stop(), s3.stop(), server.stop(), executions.stop()]);
    },
  };
}
