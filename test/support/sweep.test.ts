import { describe, expect, it } from '@jest/globals';
import { isFullSweep, sweep } from './sweep.ts';

describe('a sweep', () => {
  it('takes cases from the first to the last quarter, and all of a short list', () => {
    const cases = [0, 1, 2, 3, 4, 5, 6, 7];
    expect(sweep(cases, 4)).toEqual(isFullSweep ? cases : [0, 2, 4, 6]);
    expect(sweep(cases, 8)).toEqual(cases);
    expect(sweep([], 3)).toEqual([]);
  });
});
