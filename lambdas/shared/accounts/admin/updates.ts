import { setTimeout as sleep } from 'node:timers/promises';
import {
  ConditionalCheckFailedException,
  TransactionCanceledException,
  TransactionConflictException,
} from '@aws-sdk/client-dynamodb';
import {
  type DynamoDBDocumentClient,
  paginateScan,
  type ScanCommandInput,
  TransactWriteCommand,
  UpdateCommand,
  type UpdateCommandInput,
} from '@aws-sdk/lib-dynamodb';
import type { NativeAttributeValue } from '@aws-sdk/util-dynamodb';

/**
 * The attributes of an item to write, to raise and to drop; the others stay, also while a request is charged at the same
 * time. An attribute is named in one of them only, and one that is raised is there.
 */
export type Changes = { set: Record<string, NativeAttributeValue>; raise?: Record<string, number>; remove: string[] };

/** What an attribute must be for a change to happen. */
export type Guard =
  | { attribute: string; is: '=' | '<='; value: NativeAttributeValue }
  | { attribute: string; is: 'absent' | 'there' };

/**
 * The parts of an `UpdateItem` for `changes`. Each attribute `a` is aliased `#a` and its value `:a`, since many of our
 * names are reserved words; attribute names are lower case letters and `_`.
 */
export function updateChanges({ set, raise = {}, remove }: Changes) {
  const sets = [
    ...Object.keys(set).map((name) => `#${name} = :${name}`),
    ...Object.keys(raise).map((name) => `#${name} = #${name} + :${name}`),
  ];
  const removes = remove.map((name) => `#${name}`);
  return {
    UpdateExpression: [sets.length && `SET ${sets.join(', ')}`, removes.length && `REMOVE ${removes.join(', ')}`]
      .filter(Boolean)
      .join(' '),
    names: aliases([...Object.keys(set), ...Object.keys(raise), ...remove]),
    values: Object.fromEntries(Object.entries({ ...set, ...raise }).map(([name, value]) => [`:${name}`, value])),
  };
}

/** An update of the item under `Key` in `table`, that happens if all of `guards` hold. */
export function guardedUpdate(table: string, Key: Record<string, string>, changes: Changes, guards: Guard[]) {
  const { UpdateExpression, names, values } = updateChanges(changes);
  const guard = guardExpression(guards);
  return {
    TableName: table,
    Key,
    UpdateExpression,
    ConditionExpression: guard.ConditionExpression,
    ExpressionAttributeNames: { ...names, ...guard.names },
    ExpressionAttributeValues: { ...values, ...guard.values },
  };
}

/** The parts of a condition that all of `guards` hold. */
export function guardExpression(guards: Guard[]) {
  const conditions = guards.map((guard, i) => {
    if (guard.is === 'absent') return `attribute_not_exists(#${guard.attribute})`;
    if (guard.is === 'there') return `attribute_exists(#${guard.attribute})`;
    return `#${guard.attribute} ${guard.is} :seen${i}`;
  });
  const values = guards.flatMap((guard, i) => ('value' in guard ? [[`:seen${i}`, guard.value] as const] : []));
  return {
    ConditionExpression: conditions.join(' AND '),
    names: aliases(guards.map(({ attribute }) => attribute)),
    values: Object.fromEntries(values) as Record<string, NativeAttributeValue>,
  };
}

function aliases(names: string[]): Record<string, string> {
  return Object.fromEntries(names.map((name) => [`#${name}`, name]));
}

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

type GuardedUpdate = UpdateCommandInput & { UpdateExpression: string };

/** Makes all of the updates or none. One alone is no transaction, which could get in the way of a request's charge. */
export async function updateAll({ client }: AdminStore, updates: GuardedUpdate[]): Promise<void> {
  const [first, ...others] = updates;
  if (!first) return;
  if (others.length === 0) await client.send(new UpdateCommand(first));
  else await client.send(new TransactWriteCommand({ TransactItems: updates.map((Update) => ({ Update })) }));
}

/** Stable: a portal may branch on them. */
export type AdminErrorCode = 'not_found' | 'exists' | 'conflict' | 'invalid' | 'too_many_keys';

/**
 * A refusal of the admin module; its message says what to do and never holds a key. Nothing was changed, except that
 * after `conflict` a change of a plan may have reached some of its accounts: run it again.
 */
export class AdminError extends Error {
  readonly code: AdminErrorCode;

  constructor(code: AdminErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'AdminError';
    this.code = code;
  }
}

const attempts = 30;
const longestPauseMilliseconds = 200;

/**
 * Runs `attempt` until its write meets no other change. Each attempt reads afresh and decides from what it read, so the
 * condition of its write only has to say "nothing changed in between". Gives up with `conflict`.
 */
export async function retryConflicts<T>(attempt: () => Promise<T>): Promise<T> {
  for (let failed = 1; ; failed++) {
    try {
      return await attempt();
    } catch (error) {
      if (!isConflict(error)) throw error;
      if (failed === attempts) {
        throw new AdminError('conflict', 'Others keep changing this at the same time; try again.', { cause: error });
      }
      await sleep(Math.random() * Math.min(longestPauseMilliseconds, 5 * 2 ** failed));
    }
  }
}

function isConflict(error: unknown): boolean {
  if (error instanceof ConditionalCheckFailedException || error instanceof TransactionConflictException) return true;
  const reasons = error instanceof TransactionCanceledException ? (error.CancellationReasons ?? []) : [];
  return reasons.some(({ Code }) => Code === 'ConditionalCheckFailed' || Code === 'TransactionConflict');
}

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

/** Seconds since 1970 as `2026-08-01T12:00:00Z`. */
export function instant(seconds: number): string {
  return new Date(seconds * 1000).toISOString().replace('.000Z', 'Z');
}
