import { readFileSync } from 'node:fs';
import type { Server } from 'node:http';
import { join } from 'node:path';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { createPortal } from './portal.ts';

/**
 * What `npm start` writes to `local.json` in its data folder, readable by its owner only, while it
 * runs.
 */
type LocalState = { endpoint: string; accessKeyId?: string; accountsTable: string };

/**
 * The portal on the database of the running `npm start`, for development: every visitor is the
 * customer of the account "demo". Keys that it creates work at once against the API that
 * `npm start` prints.
 */
export function developPortal(dataFolder: string): Server {
  const text = readFileSync(join(dataFolder, 'local.json'), 'utf8');
  const { endpoint, accessKeyId = 'local', accountsTable }: LocalState = JSON.parse(text);
  const connection = new DynamoDBClient({
    endpoint,
    region: 'eu-west-1',
    // The endpoint checks the id of the access key, and no signature.
    credentials: { accessKeyId, secretAccessKey: 'local' },
    requestHandler: { connectionTimeout: 800, requestTimeout: 1000 },
  });
  return createPortal({
    client: DynamoDBDocumentClient.from(connection),
    table: accountsTable,
    plansOnOffer: [],
    customerOf: async () => ({ account: 'demo', email: 'developer@example.nl' }),
  });
}
