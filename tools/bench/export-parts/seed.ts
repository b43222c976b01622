import { execFile } from 'node:child_process';
import { mkdir, open, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { DescribeTableCommand } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, ScanCommand } from '@aws-sdk/lib-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import { usageRecord } from '../../../core/accounts/usage-record.ts';
import { dateOf, daySeconds, secondsOf } from '../../../core/calendar.ts';
import type { Item } from '../../../core/dynamodb.ts';
import { accountsTable } from '../../../core/names.ts';
import { localDynamoDb } from '../../../local/engine/client.ts';
import { engineBinary, startEngine } from '../../../local/engine/engine.ts';
import { createAdmin } from '../../../packages/admin/admin.ts';
import { createAccountsTable } from '../../../test/support/dynamodb.ts';

/** Accounts that all used the service on every day from `from` to `to`. */
type Seed = { accounts: number; from: string; to: string };

/** The id of account `i`, in the order of the ids. */
export const idOf = (i: number) => `account-${String(i).padStart(6, '0')}`;

/** The lookups of account `i` on a day. */
export function lookupsOn(i: number, date: string): number {
  return 1 + ((i * 31 + Number(date.slice(8)) * 7) % 5_000);
}

const keys = ['aaaa', 'bbbb'];

/** A database of the embedded engine with a table of such accounts, by the engine's own import. */
export async function seedDatabase(folder: string, table: string, { accounts, from, to }: Seed): Promise<string> {
  const { items: template, ofService, description } = await makeTemplate(table, secondsOf(from));
  const source = join(folder, 'export');
  const data = join(source, table, 'data');
  await mkdir(data, { recursive: true });
  const file = await open(join(data, '000000.json'), 'w');
  const write = (items: Item[]) =>
    file.write(items.map((item) => `${JSON.stringify({ Item: marshall(item) }, bytesAsText)}\n`).join(''));
  try {
    await write(ofService);
    for (let i = 0; i < accounts; i++)
      await write([...template.map((item) => ofAccount(item, idOf(i))), ...recordsOf(i, { from, to })]);
  } finally {
    await file.close();
  }
  const schema = join(folder, 'tables.json');
  await writeFile(schema, JSON.stringify([description]));
  const output = join(folder, 'dynamodb.db');
  const args = ['import', '--source', source, '--schema', schema, '--output', output];
  await promisify(execFile)(engineBinary(), args, { env: { ...process.env, TMPDIR: folder, SQLITE_TMPDIR: folder } });
  return output;
}

/** What the admin module writes for an account with a key, and the description of its table. */
async function makeTemplate(table: string, createdSeconds: number) {
  const engine = await startEngine();
  const client = localDynamoDb(engine.endpoint);
  try {
    await createAccountsTable(client, table);
    const documents = DynamoDBDocumentClient.from(client);
    const now = () => createdSeconds * 1000;
    const admin = createAdmin({ client: documents, table, checksumSecret: 'of the benchmark', now });
    await admin.plans.put({ code: 'standard', limits: { minute: 600, day: 100_000, month: null } });
    await admin.accounts.create({ id: templateId, plan: 'standard' });
    await admin.keys.create({ account: templateId, label: 'webshop' });
    const { Items = [] } = await documents.send(new ScanCommand({ TableName: table }));
    const { Table } = await client.send(new DescribeTableCommand({ TableName: table }));
    const items = Items.filter((item) => Object.values(item).includes(templateId));
    // The month of the first account.
    const ofService = Items.filter((item) => item[accountsTable.partitionKey] === 'usage#');
    return { items, ofService, description: { Table } };
  } finally {
    client.destroy();
    await engine.stop();
  }
}

const templateId = 'template';

function ofAccount(item: Item, id: string): Item {
  return Object.fromEntries(Object.entries(item).map(([name, value]) => [name, value === templateId ? id : value]));
}

function recordsOf(i: number, { from, to }: Omit<Seed, 'accounts'>): Item[] {
  const records: Item[] = [];
  for (let at = secondsOf(from); at <= secondsOf(to); at += daySeconds) {
    const date = dateOf(at);
    const lookups = lookupsOn(i, date);
    const first = Math.floor(lookups / 3);
    records.push({
      [accountsTable.partitionKey]: idOf(i),
      [accountsTable.sortKey]: usageRecord.sortKey(date),
      [usageRecord.lookups]: lookups,
      [usageRecord.byKey(keys[0] as string)]: first,
      [usageRecord.byKey(keys[1] as string)]: lookups - first,
      [accountsTable.expires]: at + 800 * daySeconds,
    });
  }
  return records;
}

const bytesAsText = (_name: string, value: unknown) =>
  value instanceof Uint8Array ? Buffer.from(value).toString('base64') : value;
