import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { dynamoDbLock } from '../../../loader/storage/lock.ts';
import { createTables, startDynamoDb, type TestDynamoDb } from '../../support/dynamodb.ts';

let db: TestDynamoDb;
let now = Date.parse('2026-01-10T03:00:00Z');

beforeAll(async () => {
  db = await startDynamoDb();
  await createTables(db.client, { addresses: 'addresses', accounts: 'accounts' });
});
afterAll(() => db.stop());

describe('the lock of a table', () => {
  const lock = () => dynamoDbLock(db.client, 'addresses', () => now);

  it('lets one of many in', async () => {
    const owners = Array.from({ length: 20 }, (_, index) => `owner-${index}`);
    const tries = await Promise.allSettled(owners.map((owner) => lock().acquire(owner, 60)));
    const winners = owners.filter((_, index) => tries[index]?.status === 'fulfilled');
    expect(winners).toHaveLength(1);
    const [winner = ''] = winners;
    await expect(lock().check(winner)).resolves.toBeUndefined();
    await expect(lock().check('owner-x')).rejects.toMatchObject({ name: 'LockedError', owner: winner });
    await lock().release('owner-x');
    await expect(lock().acquire('owner-x', 60)).rejects.toThrow(/its lock ends at 2026-01-10T03:01:00/);
    await lock().release(winner);
  });

  it('is taken again by its owner, and by another once it has run out', async () => {
    await lock().acquire('first', 60);
    await lock().acquire('first', 120);
    now += 119_000;
    await expect(lock().acquire('second', 60)).rejects.toMatchObject({ name: 'LockedError', owner: 'first' });
    now += 2_000;
    await lock().acquire('second', 60);
    await expect(lock().check('first')).rejects.toMatchObject({ owner: 'second' });
    await lock().release('second');
    await expect(lock().check('second')).rejects.toThrow(/This load lost its lock/);
  });
});
