import { setTimeout as pause } from 'node:timers/promises';
import { ConditionalCheckFailedException, TransactionConflictException } from '@aws-sdk/client-dynamodb';
import { GetCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { type NativeAttributeValue, unmarshall } from '@aws-sdk/util-dynamodb';
import type { Access } from '../domain/access.ts';
import type { KeyClaim } from '../domain/api-key.ts';
import type { AccessStore, ChargeAttempt, ChargeResult } from '../domain/ports.ts';
import { type WindowName, windowNames } from '../domain/window.ts';
import { accountsTable } from '../tables.ts';
import { accessItem } from './access-item.ts';
import { chargeCommand } from './charge-command.ts';
import { orUnavailable, type StoreClient } from './send.ts';

/** Access items in DynamoDB: a strongly consistent read, or the one conditional write that is everything at once. */
export function createAccessStore(client: StoreClient, table: string): AccessStore {
  async function read(claim: KeyClaim, signal: AbortSignal): Promise<Access | undefined> {
    const command = new GetCommand({
      TableName: table,
      Key: { [accountsTable.partitionKey]: claim.account, [accountsTable.sortKey]: accessItem.sortKey() },
      ConsistentRead: true,
    });
    const { Item } = await orUnavailable(client.send(command, { abortSignal: signal }), signal);
    return Item && toAccess(Item);
  }

  async function charge(attempt: ChargeAttempt, signal: AbortSignal): Promise<ChargeResult> {
    const command = new UpdateCommand(chargeCommand(table, attempt));
    try {
      const { Attributes } = await orUnavailable(client.send(command, { abortSignal: signal }), signal, isRefusal);
      return { charged: true, access: toAccess(Attributes ?? {}) };
    } catch (error) {
      if (error instanceof TransactionConflictException) return await chargeLater(attempt, signal);
      if (!(error instanceof ConditionalCheckFailedException)) throw error;
      // The item of this error is raw, also through the document client.
      return { charged: false, access: error.Item && toAccess(unmarshall(error.Item)) };
    }
  }

  /** An operator's change of the account is under way, which takes milliseconds; the SDK does not retry this. */
  async function chargeLater(attempt: ChargeAttempt, signal: AbortSignal): Promise<ChargeResult> {
    await pause(10 + Math.random() * 40);
    return await charge(attempt, signal);
  }

  return { read, charge };
}

function isRefusal(error: unknown): boolean {
  return error instanceof ConditionalCheckFailedException || error instanceof TransactionConflictException;
}

/** Reads an access item as `access-item.ts` lays it out. */
export function toAccess(item: Record<string, NativeAttributeValue>): Access {
  return {
    accountActive: item[accessItem.state] === 'active',
    planActive: item[accessItem.planState] === 'active',
    planCode: item[accessItem.plan],
    keys: item[accessItem.keys],
    quota: Object.fromEntries(windowNames.flatMap((window) => toWindowCount(item, window))),
  };
}

function toWindowCount(item: Record<string, NativeAttributeValue>, window: WindowName) {
  const start: number | undefined = item[accessItem.start(window)];
  if (start === undefined) return [];
  const used: number = item[accessItem.used(window)];
  const limit: number | null = item[accessItem.limit(window)] ?? null;
  return [[window, { start, used, limit }] as const];
}
