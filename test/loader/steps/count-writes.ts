import type { BatchWriteItemCommandOutput, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { testDynamoDb } from '../../support/dynamodb.ts';

/** A client of the same engine, and the write units that the engine itself counts for every batch of it. */
export async function countWrites(client: DynamoDBClient): Promise<{ client: DynamoDBClient; units(): number }> {
  const endpoint = await client.config.endpoint?.();
  if (!endpoint) throw new Error('The client has no endpoint');
  const { protocol, hostname, port } = endpoint;
  const counted = testDynamoDb(`${protocol}//${hostname}:${port}`);
  let units = 0;
  counted.middlewareStack.add(
    (next, { commandName }) =>
      async (args) => {
        if (commandName !== 'BatchWriteItemCommand') return next(args);
        const result = await next({ ...args, input: { ...args.input, ReturnConsumedCapacity: 'TOTAL' } });
        const { ConsumedCapacity = [] } = result.output as BatchWriteItemCommandOutput;
        for (const { CapacityUnits = 0 } of ConsumedCapacity) units += CapacityUnits;
        return result;
      },
    { step: 'initialize' },
  );
  return { client: counted, units: () => units };
}
