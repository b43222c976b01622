import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { apportion } from '../../../../core/accounts/admin/window-changes.ts';

const sum = (numbers: number[]) => numbers.reduce((a, b) => a + b, 0);
const amount = fc.oneof(
  fc.nat({ max: 20 }),
  fc.nat({ max: 1e6 }),
  fc.maxSafeNat().map((n) => n % (1e12 + 1)),
);
const uses = fc.array(amount, { minLength: 1, maxLength: 20 });

describe('the shares of a limit', () => {
  it('add up to it exactly, and none is negative', () => {
    fc.assert(
      fc.property(amount, uses, (total, used) => {
        const shares = apportion(total, used);
        expect(shares).toHaveLength(used.length);
        expect(sum(shares)).toBe(total);
        for (const share of shares) expect(share >= 0 && Number.isInteger(share)).toBe(true);
      }),
    );
  });

  it('distribute the remaining quota evenly, and nothing when none is left', () => {
    fc.assert(
      fc.property(amount, uses, (total, used) => {
        const shares = apportion(total, used);
        const left = shares.map((share, i) => share - (used[i] as number));
        if (sum(used) > total) for (const units of left) expect(units).toBeLessThanOrEqual(0);
        else expect(Math.max(...left) - Math.min(...left)).toBeLessThanOrEqual(1);
        if (sum(used) <= total) expect(Math.min(...left)).toBeGreaterThanOrEqual(0);
      }),
    );
  });

  it.each([
    [10, [5, 5, 10], [2, 3, 5]],
    [7, [0, 0], [4, 3]],
    [0, [3, 0], [0, 0]],
    [12, [9, 0, 0], [10, 1, 1]],
  ])('of %i over usages of %j are about proportional: %j', (total, used, expected) => {
    const shares = apportion(total, used);
    for (const [i, share] of shares.entries()) expect(Math.abs(share - (expected[i] as number))).toBeLessThanOrEqual(1);
  });

  it.each([
    [5, [2, 2, 2], [2, 2, 1]],
    [7, [3, 3, 3], [3, 2, 2]],
    [1, [0, 1, 1], [0, 1, 0]],
  ])('of %i over usages of %j give none more than it has used: %j', (total, used, expected) => {
    expect(apportion(total, used)).toEqual(expected);
  });
});
