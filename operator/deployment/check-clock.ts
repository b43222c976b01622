import { type DynamoDBClient, GetItemCommand } from '@aws-sdk/client-dynamodb';
import { accountsTable } from '../../core/tables.ts';
import { CommandError } from './errors.ts';
import type { AccountsAt } from './find-tables.ts';

/** More than a request takes; AWS itself refuses signatures with a larger difference. */
const toleratedSeconds = 300;

/**
 * Refuses a command that depends on the time and can't be undone if the clocks of this machine and
 * the store differ. The SDK corrects its signatures by itself, so nothing else would notice. Some
 * engines send no Date header.
 * @throws CommandError `clock`
 */
export async function checkClock(
  { client, table }: AccountsAt,
  now: () => number = Date.now,
): Promise<void> {
  let date = '';
  const Key = {
    [accountsTable.partitionKey]: { S: 'usage#' },
    [accountsTable.sortKey]: { S: 'retention' },
  };
  const command = new GetItemCommand({ TableName: table, Key });
  command.middlewareStack.add(
    (next) => async (args) => {
      const answer = await next(args);
      date =
        (answer.response as { headers?: Record<string, string> } | undefined)?.headers?.date ?? '';
      return answer;
    },
    { step: 'deserialize', name: 'readDate' },
  );
  await (client as DynamoDBClient).send(command);
  const told = Date.parse(date);
  if (Number.isNaN(told)) return;
  const seconds = Math.round((now() - told) / 1000);
  if (Math.abs(seconds) <= toleratedSeconds) return;
  const store = `the store's (${new Date(told).toISOString()})`;
  const difference = `${Math.abs(seconds)} seconds ${seconds > 0 ? 'ahead of' : 'behind'} ${store}`;
  throw new CommandError(
    'clock',
    `The clock of this machine is ${difference}. Set it, then try again.`,
  );
}
