import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { type Admin, createAdmin } from '../../lambdas/shared/admin/admin.ts';
import type { ConnectionOptions } from '../commands/connection-options.ts';
import { findTables } from './find-tables.ts';
import { operator } from './operator.ts';

/** The admin module on the tables that `options` and `env` say. Throws `CommandError`, `UsageError`. */
export async function openAdmin(
  options: ConnectionOptions,
  env: NodeJS.ProcessEnv,
): Promise<{ admin: Admin; close: () => void }> {
  const { client, accountsTable: table, checksumSecret } = await findTables(options, env);
  const admin = createAdmin({ client: DynamoDBDocumentClient.from(client), table, checksumSecret, actor: operator() });
  return { admin, close: () => client.destroy() };
}
