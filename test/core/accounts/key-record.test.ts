import { beforeAll, describe, expect, it } from '@jest/globals';
import {
  createKeyStore,
  type KeyRecord,
  keyRecordItem,
  readKeyRecord,
  recordKey,
} from '../../../core/accounts/key-record.ts';
import { type StoreClient, StoreUnavailable } from '../../../core/dynamodb.ts';
import { startAdmin } from '../../packages/admin/accounts/admin-bench.ts';
import { startForTests } from '../../support/start-for-tests.ts';

const bench = startForTests(startAdmin);
let keyId: string;
beforeAll(async () => {
  await bench.admin.plans.put({ code: 'p', limits: { day: null } });
  await bench.admin.accounts.create({ id: 'acme', plan: 'p' });
  ({ keyId } = await bench.admin.keys.create({ account: 'acme', label: 'k' }));
});

const signal = () => AbortSignal.timeout(20_000);

describe('the read of a key', () => {
  const claimOf = (account: string, ofKey: string) => ({
    account,
    keyId: ofKey,
    hash: new Uint8Array(16),
  });

  it('is its label and the access item of its account, in one strongly consistent call', async () => {
    const inputs: unknown[] = [];
    const send = ((...args: Parameters<StoreClient['send']>) => {
      inputs.push(args[0].input);
      return bench.client.send(...args);
    }) as StoreClient['send'];
    const store = createKeyStore({ send } as StoreClient, bench.table);
    const read = await store.read(claimOf('acme', keyId), signal());
    expect(read).toMatchObject({ label: 'k', access: { account: 'acme', plan: 'p' } });
    expect(inputs).toEqual([
      { RequestItems: { [bench.table]: expect.objectContaining({ ConsistentRead: true }) } },
    ]);
  });

  it('has an empty label for a key without a record, and no item for an account that does not exist', async () => {
    const store = createKeyStore(bench.client, bench.table);
    expect(await store.read(claimOf('acme', 'unknown1'), signal())).toMatchObject({
      label: '',
      access: { account: 'acme' },
    });
    expect(await store.read(claimOf('ghost', 'unknown1'), signal())).toEqual({
      label: '',
      access: undefined,
    });
  });

  it('fails when the table is throttled and returned only a part', async () => {
    const send = async () => ({
      Responses: {},
      UnprocessedKeys: { [bench.table]: { Keys: [{}] } },
    });
    const store = createKeyStore({ send } as unknown as StoreClient, bench.table);
    await expect(store.read(claimOf('acme', keyId), signal())).rejects.toThrow(StoreUnavailable);
  });
});

describe('the record of a key', () => {
  it.each<KeyRecord>([
    { keyId: 'abcdefgh', label: 'webshop', created: 1_785_000_000, revoked: 1_785_000_001 },
    { keyId: 'abcdefgh', label: 'webshop', created: 1_785_000_000, revoked: null },
    { keyId: 'abcdefgh', label: null, created: null, revoked: null },
  ])('is read as it was written: %j', (record) => {
    const item = keyRecordItem('acme', record);
    expect(readKeyRecord(item)).toEqual(record);
    // DynamoDB stores a `null` too.
    expect(Object.values(item)).not.toContain(null);
    expect(item).toMatchObject(recordKey({ account: 'acme', keyId: 'abcdefgh' }));
  });
});
