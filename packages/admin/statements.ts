/**
 * The statements of closed months, for portals and invoices; as stable as the rest of the package.
 */

import type { S3Client } from '@aws-sdk/client-s3';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { s3Storage } from '../../loader/storage/s3.ts';
import { createAdminStore } from './accounts/admin-store.ts';
import { type Statements, statementsOf } from './monthly-statements.ts';

export type { StatementsRefusals } from './accounts/admin-error.ts';
export type { PlanPeriod } from './accounts/plan-history.ts';
export type { DayUsage } from './accounts/usage.ts';
export type { MonthState, Statements, UsageMonth } from './monthly-statements.ts';
export { daysOf, type Statement, statementsCsv } from './monthly-statements.ts';

export type StatementsConfig = {
  client: DynamoDBDocumentClient;
  /** The accounts table. */
  table: string;
  s3: S3Client;
  /** The bucket of the data stack's output `StatementsBucketName`. */
  bucket: string;
  /** Milliseconds since 1970. */
  now?: (() => number) | undefined;
};

/** The statements of a deployment. A refusal is thrown as `AdminError`. */
export function createStatements({
  client,
  table,
  s3,
  bucket,
  now = Date.now,
}: StatementsConfig): Statements {
  const store = createAdminStore(client, table, 'statements', now);
  return statementsOf(store, s3Storage(s3, bucket));
}
