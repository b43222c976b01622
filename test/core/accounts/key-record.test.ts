import { beforeAll, describe, expect, it } from '@jest/globals';
import type { Caller } from '../../../core/accounts/account.ts';
import { keyCode } from '../../../core/accounts/account.ts';
import {
  createKeyStore,
  createKeyUse,
  type KeyRecord,
  keyRecordItem,
  readKeyRecord,
  recordKey,
} from '../../../core/accounts/key-record.ts';
import { type StoreClient, StoreUnavailable } from '../../../core/dynamodb.ts';
import { startAdmin } from '../../packages/admin/accounts/admin-bench.ts';
import { inSweep } from '../../support/in-sweep.ts';
import { startForTests } from '../../support/start-for-tests.ts';

const bench = startForTests(startAdmin);
let caller: Caller;
beforeAll(async () => {
  await bench.admin.plans.put({ code: 'p', limits: { day: null } });
  await bench.admin.accounts.create({ id: 'acme', plan: 'p' });
  const { keyId } = await bench.admin.keys.create({ account: 'acme', label: 'k' });
  caller = callerWith(keyId, {});
});

/**
 * Who looks up one address, after the key has counted so many lookups on `date`, that one included.
 */
function callerWith(
  keyId: string,
  { date = '2026-08-03', counted = 1 }: { date?: string; counted?: number },
): Caller {
  const usage = { date, byKey: { [keyCode(keyId)]: counted } };
  return { account: 'acme', keyId, access: { usage }, charged: { units: 1 } } as unknown as Caller;
}

const noon = Date.UTC(2026, 7, 1, 12) / 1000;
const signal = () => AbortSignal.timeout(20_000);

function countingClient(fails = false) {
  const made = { writes: 0 };
  const send = (async (...args: Parameters<StoreClient['send']>) => {
    made.writes++;
    if (fails) throw new Error('no store');
    return bench.client.send(...args);
  }) as StoreClient['send'];
  return { made, client: { send } as StoreClient };
}

async function lastUsed(): Promise<string | null | undefined> {
  return (await bench.admin.keys.list('acme'))[0]?.lastUsed;
}

describe('the day of the last use of a key', () => {
  it('is written once per key and day, however many lookups there are', async () => {
    const { made, client } = countingClient();
    const use = createKeyUse(client, bench.table);
    await Promise.all(Array.from({ length: 20 }, () => use.note(caller, noon, signal())));
    expect([made.writes, await lastUsed()]).toEqual([1, '2026-08-01']);
    await use.note(caller, noon + 86_400, signal());
    expect([made.writes, await lastUsed()]).toEqual([2, '2026-08-02']);
  });

  it('never moves to an earlier day because of a clock that is behind', async () => {
    await createKeyUse(bench.client, bench.table).note(caller, noon - 86_400, signal());
    expect(await lastUsed()).toBe('2026-08-02');
  });

  it("fails no lookup when it can't be written, and is not retried", async () => {
    const { made, client } = countingClient(true);
    const use = createKeyUse(client, bench.table);
    await use.note(caller, noon, signal());
    await use.note(caller, noon, signal());
    expect(made.writes).toBe(1);
  });

  it('is left to the requests that counted more than a hundred lookups before, on the same day', async () => {
    const { made, client } = countingClient(true);
    const writes = async (counted: number, date: string) => {
      const before = made.writes;
      await createKeyUse(client, bench.table).note(
        callerWith(caller.keyId, { date, counted }),
        noon,
        signal(),
      );
      return made.writes - before;
    };
    expect(await writes(102, '2026-08-01')).toBe(0);
    // A single request may have counted a hundred, and its instance may have died before it wrote
    // the day.
    expect(await writes(101, '2026-08-01')).toBe(1);
    expect(await writes(102, '2026-07-31')).toBe(1);
  });

  it('creates no record for a key without one', async () => {
    await createKeyUse(bench.client, bench.table).note(callerWith('unknown1', {}), noon, signal());
    expect(await bench.admin.keys.list('acme')).toHaveLength(1);
  });

  inSweep(
    'is remembered for ten thousand keys, and then for none of them, so that memory stays bounded',
    async () => {
      const { made, client } = countingClient(true);
      const use = createKeyUse(client, bench.table);
      const until = signal();
      const noteOf = (key: number) => use.note(callerWith(`key-${key}`, {}), noon, until);
      for (let key = 0; key < 10_000; key++) await noteOf(key);
      await noteOf(0);
      expect(made.writes).toBe(10_000);
      await noteOf(10_000);
      await noteOf(0);
      expect(made.writes).toBe(10_002);
    },
  );
});

describe('the read of a key', () => {
  const claimOf = (account: string, keyId: string) => ({
    account,
    keyId,
    hash: new Uint8Array(16),
  });

  it('is its label and the access item of its account, in one strongly consistent call', async () => {
    const inputs: unknown[] = [];
    const send = ((...args: Parameters<StoreClient['send']>) => {
      inputs.push(args[0].input);
      return bench.client.send(...args);
    }) as StoreClient['send'];
    const store = createKeyStore({ send } as StoreClient, bench.table);
    const read = await store.read(claimOf('acme', caller.keyId), signal());
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
    await expect(store.read(claimOf('acme', caller.keyId), signal())).rejects.toThrow(
      StoreUnavailable,
    );
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
