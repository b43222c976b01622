import { describe, expect, it } from '@jest/globals';
import { placedMutants } from '../../tools/mutants/invariants.ts';

describe('the lines that hold the invariants', () => {
  it('are each in the code, once', () => {
    expect(placedMutants('.').placed.length).toBeGreaterThan(40);
  });
});
