import { DynamoDBClient } from '@aws-sdk/client-dynamodb';

/** Region and credentials for an engine on this machine; engines want some, and check none. */
export const localAws = {
  region: 'eu-west-1',
  credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
} as const;

/** A client for the DynamoDB engine at `endpoint`; the caller destroys it. */
export function localDynamoDb(endpoint: string): DynamoDBClient {
  return new DynamoDBClient({ ...localAws, endpoint });
}
