import { describe, expect, it } from '@jest/globals';
import { shareWork } from '../../../../core/accounts/charge/access-store.ts';

/** Work that ends when it is told to; its results count the runs. */
function controlled() {
  const runs: { key: string; end: (error?: Error) => void }[] = [];
  const work = (key: string) =>
    new Promise<number>((resolve, reject) => {
      const run = runs.length + 1;
      runs.push({ key, end: (error) => (error ? reject(error) : resolve(run)) });
    });
  return { runs, shared: shareWork(work) };
}

const settle = () => new Promise((resolve) => setImmediate(resolve));

describe('shared work', () => {
  it('gives each caller a run that started after its call, and concurrent callers the same run', async () => {
    const { runs, shared } = controlled();
    const first = shared('a');
    const crowd = [shared('a'), shared('a'), shared('a')];
    expect(runs).toHaveLength(1);
    runs[0]?.end();
    expect(await first).toBe(1);
    await settle();
    expect(runs).toHaveLength(2);
    const later = shared('a');
    runs[1]?.end();
    expect(await Promise.all(crowd)).toEqual([2, 2, 2]);
    await settle();
    runs[2]?.end();
    expect(await later).toBe(3);
    await settle();
    shared('a');
    expect(runs).toHaveLength(4);
  });

  it('is not shared between keys', async () => {
    const { runs, shared } = controlled();
    const both = [shared('a'), shared('b')];
    for (const { end } of runs) end();
    expect(await Promise.all(both)).toEqual([1, 2]);
  });

  it('that fails, fails for its callers and is started again for later ones', async () => {
    const { runs, shared } = controlled();
    const first = shared('a');
    const second = shared('a');
    runs[0]?.end(new Error('injected'));
    await expect(first).rejects.toThrow('injected');
    await settle();
    runs[1]?.end();
    expect(await second).toBe(2);
  });
});
