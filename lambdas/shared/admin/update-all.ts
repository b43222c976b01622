import { TransactWriteCommand, UpdateCommand, type UpdateCommandInput } from '@aws-sdk/lib-dynamodb';
import type { AdminStore } from './admin-store.ts';

type GuardedUpdate = UpdateCommandInput & { UpdateExpression: string };

/** Makes all of the updates or none. One alone is no transaction, which could get in the way of a request's charge. */
export async function updateAll({ client }: AdminStore, updates: GuardedUpdate[]): Promise<void> {
  const [first, ...others] = updates;
  if (!first) return;
  if (others.length === 0) await client.send(new UpdateCommand(first));
  else await client.send(new TransactWriteCommand({ TransactItems: updates.map((Update) => ({ Update })) }));
}
