import { paginateScan, type ScanCommandInput } from '@aws-sdk/lib-dynamodb';
import type { AdminStore } from './admin-store.ts';

/**
 * The items of the accounts table that pass `filter`, page by page; every write that returned before the scan began is
 * seen. It reads the whole table (a read unit for each 4 KB), which suits an operator's hand, not a customer's request.
 */
export async function* scan(
  { client, table }: AdminStore,
  filter: Pick<ScanCommandInput, 'FilterExpression' | 'ExpressionAttributeNames' | 'ExpressionAttributeValues'>,
): AsyncGenerator<Record<string, unknown>> {
  for await (const { Items = [] } of paginateScan({ client }, { TableName: table, ConsistentRead: true, ...filter })) {
    yield* Items;
  }
}
