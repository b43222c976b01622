import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { describe, expect, it } from '@jest/globals';
import { createStoreClient } from '../../core/dynamodb.ts';

const hasLogger = (client: DynamoDBClient) =>
  client.middlewareStack.identify().some((name) => name.startsWith('loggerMiddleware'));

describe('the client of the Lambdas', () => {
  it('has no logger middleware, whose name in the SDK has not changed', () => {
    expect(hasLogger(new DynamoDBClient())).toBe(true);
    expect(hasLogger(createStoreClient())).toBe(false);
  });
});
