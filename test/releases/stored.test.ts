import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type AttributeValue, PutItemCommand, ScanCommand } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { type KeyClaim, readApiKey } from '../../core/accounts/api-key.ts';
import { createAccessStore } from '../../core/accounts/charge/access-store.ts';
import { charge } from '../../core/accounts/charge/charge.ts';
import { storedLayout } from '../../core/tables.ts';
import { dynamoDbAddressTable } from '../../loader/storage/address-table.ts';
import { runLoad } from '../../local/load/run-load.ts';
import { createAdmin } from '../../packages/admin/admin.ts';
import { startLoadBench } from '../loader/steps/load-bench.ts';
import { february, january, listsOf, tableOf } from '../loader/steps/months.ts';
import { createAccountsTable, testChecksumSecret } from '../support/dynamodb.ts';
import { startForTests } from '../support/start-for-tests.ts';
import { fixtureOfLastRelease } from './last-release.ts';

/** An item of DynamoDB, whose bytes are text in base64 in the file. */
type RawItem = Record<string, AttributeValue>;

/** What a release left in the tables and the bucket, and how it showed that. */
type Stored = {
  /** Its `storedLayout`. */
  layout: number;
  addresses: RawItem[];
  accounts: RawItem[];
  /** By path, in base64. */
  files: Record<string, string>;
  /** A key of `acme` that works, as a request presents it: the key itself is a secret. */
  claim: KeyClaim;
  views: Awaited<ReturnType<typeof viewsOf>>;
};

const { version } = JSON.parse(
  readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
);
/**
 * The last release, as in `compatible.test.ts`; `UPDATE_RELEASE=1` writes what the present version
 * stores.
 */
const fixture = (name: string) => join(import.meta.dirname, name, 'stored.json');

const bench = startForTests(startLoadBench, 120_000);
const stored: Stored = JSON.parse(
  readFileSync(fixtureOfLastRelease('stored.json') ?? '', 'utf8'),
  textAsBytes,
);
let now = Date.UTC(2026, 2, 14, 12);

beforeAll(async () => {
  if (process.env.UPDATE_RELEASE) {
    mkdirSync(dirname(fixture(version)), { recursive: true });
    writeFileSync(fixture(version), `${JSON.stringify(await store(), bytesAsText, 1)}\n`);
  }
});

const adminOf = (table: string) =>
  createAdmin({ client: DynamoDBDocumentClient.from(bench.client), table, now: () => now });

const claimOf = (key: string) => readApiKey(key, [testChecksumSecret]) as KeyClaim;

async function use(table: string, claim: KeyClaim, units: number): Promise<void> {
  await charge(
    createAccessStore(bench.client, table),
    claim,
    () => now / 1000,
    AbortSignal.timeout(60_000),
    units,
  );
}

async function viewsOf(table: string) {
  const { accounts, keys, plans, members } = adminOf(table);
  return {
    acme: await accounts.show('acme'),
    many: await accounts.show('many'),
    usage: await accounts.usage('acme', { from: '2026-03-14', to: '2026-03-15' }),
    keys: await keys.list('acme'),
    plans: (await plans.list()).plans,
    members: await members.list('acme'),
    audit: (await accounts.audit('acme')).entries,
  };
}

/** Stores one of each kind of item and file, and returns all that is stored. */
async function store(): Promise<Stored> {
  const accounts = 'stored-accounts';
  await createAccountsTable(bench.client, accounts);
  const admin = adminOf(accounts);
  await admin.plans.put({ code: 'standard', limits: { minute: 60, day: 5000, month: null } });
  for (const id of ['acme', 'many']) await admin.accounts.create({ id, plan: 'standard' });
  await admin.accounts.set({ id: 'acme', limits: { day: 300 } });
  await admin.members.add({ account: 'acme', person: 'ann@example.nl', role: 'admin' });
  const revoked = await admin.keys.create({ account: 'acme', label: 'old' });
  const { key } = await admin.keys.create({
    account: 'acme',
    label: 'webshop',
    expires: '2030-01-01T00:00:00Z',
  });
  const other = await admin.keys.create({ account: 'many', label: 'many' });
  await use(accounts, claimOf(revoked.key), 2);
  await admin.keys.revoke({ account: 'acme', keyId: revoked.keyId });
  await use(accounts, claimOf(key), 5);
  now += 86_400_000;
  for (const units of [1, 7]) await use(accounts, claimOf(key), units);
  await use(accounts, claimOf(other.key), 9);

  const addresses = await bench.newTable();
  const folder = bench.newFolder();
  const table = dynamoDbAddressTable(bench.client, addresses);
  await runLoad({
    source: await bench.extractOf(january),
    storage: folder,
    addresses: table,
    workers: 0,
  });
  const files = globSync('**/*', { cwd: folder, withFileTypes: true }).filter((file) =>
    file.isFile(),
  );
  const paths = files.map((file) => join(file.parentPath, file.name));
  return {
    layout: storedLayout,
    addresses: await scan(addresses),
    accounts: await scan(accounts),
    files: Object.fromEntries(
      paths.map((path) => [path.slice(folder.length + 1), readFileSync(path, 'base64')]),
    ),
    claim: claimOf(key),
    views: await viewsOf(accounts),
  };
}

async function scan(TableName: string): Promise<RawItem[]> {
  return (
    (await bench.client.send(new ScanCommand({ TableName, ConsistentRead: true }))).Items ?? []
  );
}

async function put(TableName: string, items: readonly RawItem[]): Promise<void> {
  for (const Item of items) await bench.client.send(new PutItemCommand({ TableName, Item }));
}

function bytesAsText(this: Record<string, unknown>, name: string, value: unknown): unknown {
  const bytes = this[name];
  return bytes instanceof Uint8Array ? `bytes ${Buffer.from(bytes).toString('base64')}` : value;
}

function textAsBytes(_: string, value: unknown): unknown {
  const isBytes = typeof value === 'string' && value.startsWith('bytes ');
  return isBytes ? new Uint8Array(Buffer.from(value.slice(6), 'base64')) : value;
}

/** Another layout is refused instead of read. */
const ofSameLayout = stored.layout === storedLayout ? it : it.skip;

/** An identification instead of a name: of a key and its beginning, a load, a day or an entry. */
function withoutIds({ accounts }: Stored): (name: string) => string {
  const keys = accounts.flatMap(({ item }) => /^key#(.*)$/.exec(item?.S ?? '')?.[1] ?? []);
  const ids = keys.flatMap((key) => [key, key.slice(0, 4)]);
  return (name) =>
    ids
      .reduce((text, id) => text.replaceAll(id, 'KEY'), name)
      .replaceAll(/\d{4}-\d\d-\d\d-[0-9a-f]{10}/g, 'LOAD')
      .replaceAll(/\d{4}-\d\d-\d\d(T[\d:.]+Z#[0-9a-f]+)?/g, 'TIME')
      .replaceAll(/\d+/g, '0');
}

/** The types in a value of JSON or DynamoDB, each with the path of its names. */
function typesIn(value: unknown, path: string): string[] {
  if (Array.isArray(value)) return value.flatMap((each) => typesIn(each, `${path}[]`));
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) {
    return [`${path}: ${value === null ? 'null' : typeof value}`];
  }
  return Object.entries(value).flatMap(([name, each]) => typesIn(each, `${path}.${name}`));
}

/**
 * The forms that a reader of the tables and files relies on: the attributes of each kind of item
 * and their types, the files, and the form that each names itself.
 */
function formsOf(all: Stored): Set<string> {
  const named = withoutIds(all);
  const kind = (key = '') => (key.startsWith('#') || key.includes('#') ? key : 'ACCOUNT');
  const items = all.accounts.flatMap(({ account, item, ...attributes }) =>
    typesIn(attributes, `${kind(account?.S)} ${item?.S}`),
  );
  const addresses = all.addresses.flatMap(({ address, ...attributes }) =>
    typesIn(attributes, address?.S?.startsWith('#') ? `${address.S}` : 'ADDRESS'),
  );
  const files = Object.entries(all.files).flatMap(([path, base64]) => {
    const text = Buffer.from(base64, 'base64').toString('latin1');
    if (path.endsWith('.json')) return typesIn(JSON.parse(text), path);
    const [, inHeader, first] = /"form":"([^"]+)"|^([a-z]+ \d+)\n/.exec(text) ?? [];
    return [`${path}: ${inHeader ?? first}`];
  });
  // The form of a file has a number of its own.
  const ofFiles = files.map((form) => {
    const [path = '', ...rest] = form.split(': ');
    return [named(path), ...rest].join(': ');
  });
  return new Set([...[...items, ...addresses].map(named), ...ofFiles]);
}

describe('the layout number', () => {
  it('never falls', () => {
    expect(storedLayout).toBeGreaterThanOrEqual(stored.layout);
  });

  /**
   * What fails here is a change that the last release can't read: raise `storedLayout`, say in the
   * changelog how to move what is stored, or keep the form. Before the first publication, write
   * the specimens anew.
   */
  ofSameLayout(
    'stays only if all that the last release stored is stored in the same form',
    async () => {
      const before = formsOf(stored);
      expect(before.size).toBeGreaterThan(100);
      const now = formsOf(await store());
      expect([...before].filter((form) => !now.has(form))).toEqual([]);
    },
  );
});

describe('what the last release stored', () => {
  ofSameLayout(
    'shows the same accounts, usage, keys, plans, members and audit, and its keys still work',
    async () => {
      const table = 'read-accounts';
      await createAccountsTable(bench.client, table);
      await put(table, stored.accounts);
      now = Date.UTC(2026, 2, 15, 12);
      // 1.0.0 noted the use of a key apart, as its charge alone does not; now the counts say it.
      const views = JSON.parse(JSON.stringify(stored.views), (_, value) =>
        value?.state === 'active' && value.keyId ? { ...value, lastUsed: '2026-03-15' } : value,
      );
      expect(await viewsOf(table)).toMatchObject(views);
      expect(stored.views.usage.days.map(({ lookups }) => lookups)).toEqual([7, 8]);
      await use(table, stored.claim, 3);
      const { windows } = await adminOf(table).accounts.show('acme');
      expect(windows.day).toMatchObject({ limit: 300, used: 11 });
    },
  );

  ofSameLayout(
    'is served as it was, goes on with the next extract, and can be gone back to',
    async () => {
      const table = await bench.newTable();
      await put(table, stored.addresses);
      const folder = bench.newFolder();
      for (const [path, content] of Object.entries(stored.files)) {
        mkdirSync(dirname(join(folder, path)), { recursive: true });
        writeFileSync(join(folder, path), Buffer.from(content, 'base64'));
      }
      const options = {
        storage: folder,
        addresses: dynamoDbAddressTable(bench.client, table),
        workers: 0,
      };
      expect(await bench.addressesIn(table)).toEqual(tableOf(january));

      const report = await runLoad({
        ...options,
        source: await bench.extractOf(february),
        waiveSize: true,
      });
      expect(report).toMatchObject({ outcome: 'published' });
      expect([await bench.addressesIn(table), await bench.listsIn(table)]).toEqual([
        tableOf(february),
        listsOf(february),
      ]);
      await runLoad({ ...options, rollback: january.peildatum, waiveSize: true });
      expect([await bench.addressesIn(table), await bench.listsIn(table)]).toEqual([
        tableOf(january),
        listsOf(january),
      ]);
    },
  );
});
