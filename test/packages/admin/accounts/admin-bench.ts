import { DynamoDBDocumentClient, GetCommand } from '@aws-sdk/lib-dynamodb';
import { readApiKey } from '../../../../core/accounts/api-key.ts';
import { createAccessStore } from '../../../../core/accounts/charge/access-store.ts';
import { charge } from '../../../../core/accounts/charge/charge.ts';
import { type Admin, createAdmin } from '../../../../packages/admin/admin.ts';
import { createTables, startDynamoDb, testChecksumSecret } from '../../../support/dynamodb.ts';
import { sendPlainly } from '../../../support/plain-client.ts';
import { restoreItems, storedItems, writeItems } from '../../../support/stored-items.ts';

const table = 'accounts';

/** When the clock of each bench starts. */
export const benchStart = Date.UTC(2026, 7, 1, 12, 30, 15);

/**
 * A real engine with an empty accounts table, the admin module on it, and the very charge that a
 * request makes. `clock` holds the milliseconds that both go by.
 */
export async function startAdmin() {
  const engine = await startDynamoDb();
  sendPlainly(engine.client, engine.endpoint);
  await createTables(engine.client, { addresses: 'addresses', accounts: table });
  const client = DynamoDBDocumentClient.from(engine.client);
  const clock = { now: benchStart };
  const admin = createAdmin({ client, table, now: () => clock.now });
  const access = createAccessStore(client, table);

  /** Charges one request: `'charged'`, or the code of the refusal. */
  async function request(key: string): Promise<string> {
    const claim = readApiKey(key, [testChecksumSecret]);
    if (!claim) throw new Error('not a key of this deployment');
    try {
      await charge(access, claim, () => clock.now / 1000, AbortSignal.timeout(20_000));
      return 'charged';
    } catch (error) {
      const reason = (error as { reason?: { code: string } }).reason;
      if (!reason) throw error;
      return reason.code;
    }
  }

  async function item(
    account: string,
    name = 'access',
  ): Promise<Record<string, unknown> | undefined> {
    const get = new GetCommand({
      TableName: table,
      Key: { account, item: name },
      ConsistentRead: true,
    });
    return (await client.send(get)).Item;
  }

  /**
   * Returns what brings the table, or an account with its keys and its audit, back to what it is
   * now.
   */
  async function saved(account?: string): Promise<() => Promise<void>> {
    const before = await storedItems(client, table, account);
    return () => restoreItems(client, table, before, account);
  }

  /** Adds accounts that are like this one, which has no key and no usage. */
  async function addCopies(
    account: string,
    ids: readonly string[],
    attributes: object = {},
  ): Promise<void> {
    const access = await item(account);
    const plans = await item(account, 'plans');
    const items = ids.flatMap((id) => [
      { ...access, ...attributes, account: id },
      { ...plans, account: id },
      { account: 'account#', item: id },
    ]);
    await writeItems(client, table, items);
  }

  const { endpoint, stop } = engine;
  return { admin, client, table, clock, request, item, saved, addCopies, endpoint, stop };
}

/** The admin module of a process whose every command is `around`, which is given what sends it. */
export function adminWith(
  { client, table, clock }: AdminBench,
  around: (command: object, send: () => Promise<unknown>) => Promise<unknown>,
): Admin {
  const watched = new Proxy(client, {
    get(target, name) {
      const value = Reflect.get(target, name) as unknown;
      if (name !== 'send' || typeof value !== 'function') return value;
      return (...sent: [object]) => around(sent[0], () => value.apply(target, sent));
    },
  });
  return createAdmin({ client: watched, table, now: () => clock.now });
}

export type AdminBench = Awaited<ReturnType<typeof startAdmin>>;
