import { describe, expect, it, jest } from '@jest/globals';
import { type Backoff, retryWithBackoff } from '../../core/retry.ts';

/** Runs an attempt that fails `failures` times, and then returns how often it ran. */
function failing(failures: number, onFailure: (backoff: Backoff) => void = () => undefined) {
  let runs = 0;
  return {
    runs: () => runs,
    attempt: async (backoff: Backoff) => {
      if (++runs <= failures) {
        onFailure(backoff);
        throw new Error(`failure ${runs}`);
      }
      return runs;
    },
  };
}

const options = { attempts: 3, firstPauseMilliseconds: 0, retryIf: () => true };

describe('retryWithBackoff', () => {
  it('returns the result of the first attempt that succeeds, or throws the error of the last one', async () => {
    await expect(retryWithBackoff(failing(2).attempt, options)).resolves.toBe(3);
    await expect(retryWithBackoff(failing(3).attempt, options)).rejects.toThrow('failure 3');
  });

  it('throws an error that should not be retried at once', async () => {
    const work = failing(1);
    await expect(
      retryWithBackoff(work.attempt, { ...options, retryIf: async () => false }),
    ).rejects.toThrow('failure 1');
    expect(work.runs()).toBe(1);
  });

  it('does not ask whether to retry after the last attempt', async () => {
    const asked: string[] = [];
    const retryIf = (error: unknown) => asked.push((error as Error).message) > 0;
    await expect(retryWithBackoff(failing(3).attempt, { ...options, retryIf })).rejects.toThrow();
    expect(asked).toEqual(['failure 1', 'failure 2']);
  });

  it('counts only the failures since the last progress', async () => {
    const work = failing(10, (backoff) => backoff.reset());
    await expect(retryWithBackoff(work.attempt, options)).resolves.toBe(11);
  });

  it('doubles the pause after each failure, up to the longest', async () => {
    const started = performance.now();
    await retryWithBackoff(failing(3).attempt, {
      attempts: 4,
      firstPauseMilliseconds: 10,
      longestPauseMilliseconds: 20,
      jitter: 0,
      retryIf: () => true,
    });
    expect(performance.now() - started).toBeGreaterThanOrEqual(48); // 10 + 20 + 20, less what timers round
  });

  it('with full jitter draws a pause from nothing up, so that competing writers part', async () => {
    const random = jest.spyOn(Math, 'random').mockReturnValue(1);
    const tenMinutes = 600_000;
    await retryWithBackoff(failing(1).attempt, {
      ...options,
      firstPauseMilliseconds: tenMinutes,
      jitter: 1,
    });
    expect(random).toHaveBeenCalled();
  });
});
