import { type DynamoDBClient, GetItemCommand } from '@aws-sdk/client-dynamodb';
import { accountsTable } from '../../core/names.ts';
import { CommandError } from './errors.ts';

/** More than a request takes; AWS itself refuses signatures with a larger difference. */
const toleratedSeconds = 300;

/**
 * Refuses a command that depends on the time if the clock of this machine and that of the store differ. The SDK
 * corrects its signatures by itself, so nothing else would notice. Some engines send no Date header.
 * @throws CommandError `clock`
 */
export async function checkClock(client: DynamoDBClient, table: string, now: () => number): Promise<void> {
  const told = await dateOfStore(client, table);
  if (told === undefined) return;
  const seconds = Math.round((now() - told) / 1000);
  if (Math.abs(seconds) <= toleratedSeconds) return;
  const difference = `${Math.abs(seconds)} seconds ${seconds > 0 ? 'ahead of' : 'behind'}`;
  throw new CommandError(
    'clock',
    `The clock of this machine is ${difference} that of the store (${new Date(told).toISOString()}). Set it, then try again.`,
  );
}

/** The header `Date` of an answer, in milliseconds since 1970. */
async function dateOfStore(client: DynamoDBClient, table: string): Promise<number | undefined> {
  let date: string | undefined;
  const { partitionKey, sortKey } = accountsTable;
  const Key = { [partitionKey]: { S: 'usage#' }, [sortKey]: { S: 'retention' } };
  const command = new GetItemCommand({ TableName: table, Key });
  command.middlewareStack.add(
    (next) => async (args) => {
      const answer = await next(args);
      date = (answer.response as { headers?: Record<string, string> } | undefined)?.headers?.date;
      return answer;
    },
    { step: 'deserialize', name: 'readDate' },
  );
  await client.send(command);
  const told = Date.parse(date ?? '');
  return Number.isNaN(told) ? undefined : told;
}
