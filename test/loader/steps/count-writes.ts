import type { BatchWriteItemCommandOutput, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { testDynamoDb } from '../../support/dynamodb.ts';

/** A client of the same engine, and the write units that the engine itself counts for every batch of it in a table. */
export async function countWrites(client: DynamoDBClient): Promise<{
  client: DynamoDBClient;
  units(table: string): number;
}> {
  const endpoint = await client.config.endpoint?.();
  if (!endpoint) throw new Error('The client has no endpoint');
  const { protocol, hostname, port } = endpoint;
  const counted = testDynamoDb(`${protocol}//${hostname}:${port}`);
  const counts = new Map<string, number>();
  counted.middlewareStack.add(
    (next, { commandName }) =>
      async (args) => {
        if (commandName !== 'BatchWriteItemCommand') return next(args);
        const result = await next({ ...args, input: { ...args.input, ReturnConsumedCapacity: 'TOTAL' } });
        const { ConsumedCapacity = [] } = result.output as BatchWriteItemCommandOutput;
        for (const { TableName = '', CapacityUnits = 0 } of ConsumedCapacity) {
          counts.set(TableName, (counts.get(TableName) ?? 0) + CapacityUnits);
        }
        return result;
      },
    { step: 'initialize' },
  );
  return { client: counted, units: (table) => counts.get(table) ?? 0 };
}
