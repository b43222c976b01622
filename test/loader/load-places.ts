import {
  BatchWriteItemCommand,
  DeleteItemCommand,
  DeleteTableCommand,
  PutItemCommand,
  ScanCommand,
} from '@aws-sdk/client-dynamodb';
import type { S3Client } from '@aws-sdk/client-s3';
import { keyItem } from '../../core/addresses/address-item.ts';
import { s3Storage } from '../../loader/storage/s3.ts';
import { createAddressesTable } from '../support/dynamodb.ts';
import { MemoryS3 } from '../support/memory-s3.ts';
import { startRangeServer } from '../support/range-server.ts';
import { startS3 } from '../support/s3.ts';
import type { PutEvent } from '../support/state-machine/integrations.ts';
import { startFakeExecutions } from './fake-executions.ts';
import { startLoadBench } from './steps/load-bench.ts';

const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };

/**
 * Everything that a deployed loader works with: a table, a bucket, its executions and a server of
 * extracts. The bucket is in memory, which takes a fifth of the time, or on an S3 server.
 */
export async function startLoadPlaces({ s3Server }: { s3Server: boolean }) {
  const [bench, server, executions] = await Promise.all([
    startLoadBench(),
    startRangeServer(),
    startFakeExecutions(),
  ]);
  const messages: { subject: string; text: string }[] = [];
  const table = await bench.newTable();
  const buckets = new MemoryS3();
  const overHttp = s3Server ? await startS3() : undefined;
  const s3 = overHttp ?? { client: buckets.newClient(), bucket: 'snapshots' };
  buckets.createBucket(s3.bucket);
  const storage = s3Storage(s3.client, s3.bucket);

  return {
    server,
    s3,
    executions,
    storage,
    messages,
    /** Takes an event of the state machine; a test reads it as a message. */
    take({ detail }: PutEvent) {
      messages.push({ subject: `${detail.summary}`, text: JSON.stringify(detail, null, 1) });
    },
    names: { table, bucket: s3.bucket },
    /** What the SDK of a Lambda has to be told to work here. */
    environment: {
      AWS_REGION: 'eu-west-1',
      AWS_ACCESS_KEY_ID: credentials.accessKeyId,
      AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
      AWS_ENDPOINT_URL_DYNAMODB: bench.endpoint,
      AWS_ENDPOINT_URL_SFN: executions.endpoint,
      ...(overHttp && { AWS_ENDPOINT_URL_S3: overHttp.endpoint }),
    },
    /** Gives a client that was made with this environment the bucket, if it is in memory. */
    connect(client: S3Client): void {
      if (!overHttp) buckets.answer(client);
    },
    /** Removes an item of the table, past the loader, and gives what puts it back. */
    async removeItem(key: string): Promise<() => Promise<unknown>> {
      const wanted = { TableName: table, Key: keyItem(key), ReturnValues: 'ALL_OLD' } as const;
      const { Attributes: Item } = await bench.client.send(new DeleteItemCommand(wanted));
      return () => bench.client.send(new PutItemCommand({ TableName: table, Item }));
    },
    addresses: () => bench.addressesIn(table),
    /**
     * Keeps what is in table, bucket, messages and server, for the function that it gives, which
     * puts it back into empty ones.
     */
    async keep(): Promise<() => Promise<void>> {
      const keptMessages = [...messages];
      const putFiles = server.keep();
      const { Items = [] } = await bench.client.send(
        new ScanCommand({ TableName: table, ConsistentRead: true }),
      );
      const keys = await storage.list('');
      const objects = await Promise.all(
        keys.map(async (key) => ({ key, bytes: (await storage.get(key)) as Buffer })),
      );
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
      await storage.delete(await storage.list(''));
      await bench.client.send(new DeleteTableCommand({ TableName: table }));
      await createAddressesTable(bench.client, table);
    },
    async stop(): Promise<void> {
      await Promise.all([bench.stop(), overHttp?.stop(), server.stop(), executions.stop()]);
    },
  };
}
