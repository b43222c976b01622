import { type DynamoDBClient, paginateScan } from '@aws-sdk/client-dynamodb';
import { addressesTable } from '../../lambdas/shared/tables.ts';
import { type Line, placeText } from '../dataset/lines.ts';
import { type Item, placesOf } from '../storage/address-item.ts';
import { pacer } from '../storage/pacer.ts';

/** What a lookup can ask for. Under any other key nothing is ever served. */
const askable = /^[1-9]\d{3}[A-Z]{2}#[1-9]\d{0,4}#[0-9A-Z]{0,5}$/;

/**
 * The line of every address in the table, page by page (1 MB, 128 read units), in no order; its places stand as the table
 * has them. It need not see the writes of this very second: what is found to differ is written as it has to be.
 */
export async function* scanAddresses(
  client: DynamoDBClient,
  table: string,
  pagesPerSecond = Number.POSITIVE_INFINITY,
): AsyncGenerator<Line[]> {
  const pace = pacer(pagesPerSecond);
  for await (const { Items = [] } of paginateScan({ client }, { TableName: table })) {
    yield Items.flatMap(lineOf);
    await pace(1);
  }
}

function lineOf(item: Item): Line[] {
  const key = item[addressesTable.partitionKey]?.S ?? '';
  return askable.test(key) ? [`${key}\t${placesOf(item).map(placeText).join('\t')}`] : [];
}
