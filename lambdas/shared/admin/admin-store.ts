import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';

/** What every capability of the admin module works with. */
export type AdminStore = {
  client: DynamoDBDocumentClient;
  table: string;
  /** Whom the audit names. */
  actor: string;
  /** Milliseconds since 1970. */
  now: () => number;
  /** Whole seconds since 1970. */
  nowSeconds: () => number;
};
