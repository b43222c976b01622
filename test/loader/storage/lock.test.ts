import { spawnSync } from 'node:child_process';
import { hostname } from 'node:os';
import { afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { processStart } from '../../../loader/is-running.ts';
import {
  dynamoDbLock,
  type Held,
  isProcessGone,
  Lease,
  type LeaseTiming,
  type LoadLock,
  LockedError,
  processOwner,
  takeLock,
  withLock,
} from '../../../loader/storage/lock.ts';
import { createAddressesTable, startDynamoDb } from '../../support/dynamodb.ts';
import { startForTests } from '../../support/start-for-tests.ts';

const db = startForTests(startDynamoDb);
let now = Date.parse('2026-01-10T03:00:00Z');

beforeAll(() => createAddressesTable(db.client, 'addresses'));

describe('the lock of a table', () => {
  const lock = () => dynamoDbLock(db.client, 'addresses', () => now);

  it('is acquired by only one of many', async () => {
    const owners = Array.from({ length: 20 }, (_, index) => `owner-${index}`);
    const tries = await Promise.allSettled(owners.map((owner) => lock().acquire(owner, 60)));
    const winners = owners.filter((_, index) => tries[index]?.status === 'fulfilled');
    expect(winners).toHaveLength(1);
    const [winner = ''] = winners;
    await expect(lock().check(winner)).resolves.toMatchObject({ owner: winner });
    await expect(lock().check('owner-x')).rejects.toMatchObject({
      name: 'LockedError',
      owner: winner,
    });
    await lock().release('owner-x');
    await expect(lock().acquire('owner-x', 60)).rejects.toThrow(
      /its lock expires at 2026-01-10T03:01:00/,
    );
    await lock().release(winner);
  });

  const take = (owner: string, isGone: boolean | null) =>
    takeLock(lock(), { owner, seconds: 60, isGone: () => isGone, clock: () => now });

  it('can be acquired again by its owner, with a new token that invalidates the first one', async () => {
    const first = await lock().acquire('first', 60);
    const second = await lock().acquire('first', 120);
    await expect(lock().check('first', second.token)).resolves.toEqual(second);
    await expect(lock().check('first', first.token)).rejects.toMatchObject({ name: 'LockedError' });
    await expect(lock().renew(first, 60)).rejects.toMatchObject({ name: 'LockedError' });
    await lock().release('first', first.token);
    await expect(lock().check('first')).resolves.toEqual(second);
    await lock().release('first', second.token);
  });

  it('is taken over when it has expired, if it is unknown whether its owner is alive', async () => {
    await lock().acquire('first', 120);
    now += 119_000;
    await expect(take('second', null)).rejects.toMatchObject({
      name: 'LockedError',
      owner: 'first',
    });
    now += 2_000;
    await take('second', null);
    await expect(lock().check('first')).rejects.toMatchObject({ owner: 'second' });
    await lock().release('second');
    await expect(lock().check('second')).rejects.toThrow(/This load lost its lock/);
  });

  it('is taken over at once from an owner that no longer exists, and never from a running one', async () => {
    await lock().acquire('first', 60);
    await take('second', true);
    await expect(lock().check('second')).resolves.toMatchObject({ owner: 'second' });
    now += 3600_000;
    await expect(take('third', false)).rejects.toThrow(
      /it should have renewed before .*is stopped or was suspended/,
    );
    await lock().release('second');
  });

  it('is taken over by only one of many that find its owner gone', async () => {
    await lock().acquire('gone', 60);
    const owners = Array.from({ length: 10 }, (_, index) => `heir-${index}`);
    const tries = await Promise.allSettled(owners.map((owner) => take(owner, true)));
    // Each takes it from the one that it saw, and nobody a lock that changed hands meanwhile.
    const held = await lock().holder();
    expect(owners).toContain(held?.owner);
    expect(tries.filter(({ status }) => status === 'fulfilled').length).toBeGreaterThan(0);
    await lock().release(held?.owner ?? '');
  });

  describe('of a process of this machine', () => {
    const owner = (pid: number, start: string) => `${hostname()}:${pid}:${start}:x`;
    const works = () =>
      withLock(
        lock(),
        'next',
        { seconds: 60, renewSeconds: 60, marginSeconds: 20 },
        async () => 'works',
      );

    it.each([
      ['no longer exists', owner(999_999_999, '1')],
      ['has reused the id of one that no longer exists', owner(process.pid, '1')],
    ])('is taken over at once when it %s', async (_, gone) => {
      await lock().acquire(gone, 60);
      expect(await works()).toBe('works');
    });

    it('is never taken over while the process runs, however long it has not renewed the lock', async () => {
      const alive = owner(process.pid, processStart(process.pid));
      now = Date.now() - 3600_000;
      await lock().acquire(alive, 60);
      await expect(works()).rejects.toThrow(
        new RegExp(`process ${process.pid} is stopped or was suspended.*kill -CONT ${process.pid}`),
      );
      await lock().release(alive);
    });
  });
});

describe('the owner of a lock', () => {
  const gone = (owner: string) => isProcessGone({ owner, token: 't', untilSeconds: 0 });
  const [host = '', pid = '', start = ''] = processOwner('x').split(':');
  const ended = String(spawnSync(process.execPath, ['--version']).pid);

  it.each([
    ['that is running here holds it', [host, pid, start], false],
    ['that has ended here is gone', [host, ended, start], true],
    ['whose process id another process has now is gone', [host, pid, `${start}1`], true],
    [
      'on another machine is unknown, whatever its process id is here',
      ['another-machine', pid, start],
      null,
    ],
    [
      'on another machine is unknown, also if its process has ended here',
      ['another-machine', ended, start],
      null,
    ],
    ['without a process id is unknown', [host, 'execution', start], null],
  ])('%s', (_, parts, expected) => {
    expect(gone([...parts, 'x'].join(':'))).toBe(expected);
  });
});

afterEach(() => void jest.restoreAllMocks());

const timing: LeaseTiming = { seconds: 60, renewSeconds: 15, marginSeconds: 20 };
const held: Held = { owner: 'test', token: 'token', untilSeconds: 0 };

/**
 * A lease of a lock that can't be renewed any more: only its own clocks tell whether it is held.
 */
async function lease(): Promise<Lease> {
  const lock = { renew: async () => Promise.reject(new LockedError(null)) } as unknown as LoadLock;
  return Lease.taken(lock, timing, async () => held);
}

describe('a lease', () => {
  it('is held for the seconds of the lock without the margin', async () => {
    const clock = jest.spyOn(performance, 'now').mockReturnValue(1_000_000);
    const taken = await lease();
    clock.mockReturnValue(1_000_000 + 39_999);
    expect(() => taken.assertHeld()).not.toThrow();
    clock.mockReturnValue(1_000_000 + 40_000);
    expect(() => taken.assertHeld()).toThrow(LockedError);
  });

  it('ends by the wall clock while the machine sleeps, which stops the other one', async () => {
    const clock = jest.spyOn(performance, 'now').mockReturnValue(1_000_000);
    const wall = jest.spyOn(Date, 'now').mockReturnValue(Date.UTC(2026, 0, 1));
    const taken = await lease();
    wall.mockReturnValue(Date.UTC(2026, 0, 1, 1));
    expect(() => taken.assertHeld()).toThrow(LockedError);
    await expect(taken.confirm()).rejects.toThrow(LockedError);
    expect(clock).toHaveBeenCalled();
  });

  it('ends by the monotonic clock when the wall clock is set back', async () => {
    const clock = jest.spyOn(performance, 'now').mockReturnValue(1_000_000);
    const wall = jest.spyOn(Date, 'now').mockReturnValue(Date.UTC(2026, 0, 1));
    const taken = await lease();
    wall.mockReturnValue(Date.UTC(2025, 0, 1));
    clock.mockReturnValue(1_000_000 + 40_000);
    expect(() => taken.assertHeld()).toThrow(LockedError);
  });

  it('of an execution is confirmed by its lock in the table, by its own token, until the invocation ends', async () => {
    const clock = jest.spyOn(performance, 'now').mockReturnValue(1_000_000);
    jest.spyOn(Date, 'now').mockReturnValue(Date.UTC(2026, 0, 1));
    let isLost = false;
    const checked: unknown[][] = [];
    const lock = {
      check: async (...args: unknown[]) => {
        checked.push(args);
        if (isLost) throw new LockedError(null);
        return held;
      },
    } as unknown as LoadLock;
    const taken = await Lease.ofOwner(lock, 'test', 30_000);
    await taken.confirm(0);
    expect(checked).toEqual([['test'], ['test', 'token']]);
    clock.mockReturnValue(1_000_000 + 29_999);
    expect(() => taken.assertHeld()).not.toThrow();
    isLost = true;
    await expect(taken.confirm(0)).rejects.toThrow(LockedError);
    expect(taken.signal.aborted).toBe(true);
    isLost = false;
    await expect(taken.confirm(0)).rejects.toThrow(LockedError);
  });
});
