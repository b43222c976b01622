import { beforeAll, describe, expect } from '@jest/globals';
import type { GatewayWork } from '../../support/hostile-gateway.ts';
import { grownIn, rowsOf } from '../../support/hostile-rows.ts';
import { inSweep } from '../../support/in-sweep.ts';

/** Blocks of our code and characters in patterns, for each byte that arrives. */
const mostWorkPerByte = 10;
const leastForGrowth = 5_000;

describe('the event of a hostile request', () => {
  let rows: GatewayWork[];
  beforeAll(() => {
    rows = rowsOf('hostile-gateway.ts', '400');
  });

  inSweep('costs work that is bounded by the bytes that arrive', () => {
    expect(rows.length).toBeGreaterThan(100);
    expect(rows.filter(({ work }) => work > leastForGrowth).length).toBeGreaterThan(50);
    expect(rows.filter(({ work, bytes }) => work > bytes * mostWorkPerByte)).toEqual([]);
  });

  inSweep('costs at most twice as much, and a little, for twice the size', () => {
    expect(grownIn(rows, leastForGrowth)).toEqual([]);
  });
});
