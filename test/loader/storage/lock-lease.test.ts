import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { type Held, Lease, type LeaseTiming, type LoadLock, LockedError } from '../../../loader/storage/lock.ts';

afterEach(() => void jest.restoreAllMocks());

const timing: LeaseTiming = { seconds: 60, renewSeconds: 15, marginSeconds: 20 };
const held: Held = { owner: 'test', token: 'token', untilSeconds: 0 };

/** A lease of a lock that can't be renewed any more: only its own clocks tell whether it is held. */
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
