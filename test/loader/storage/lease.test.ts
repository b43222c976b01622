import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { Lease, type LeaseTiming } from '../../../loader/storage/lease.ts';
import { type Held, type LoadLock, LockedError } from '../../../loader/storage/lock.ts';

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
});
