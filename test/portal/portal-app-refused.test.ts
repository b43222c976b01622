import { beforeAll, describe, expect } from '@jest/globals';
import type { PortalWork } from '../support/hostile-portal.ts';
import { grownIn, rowsOf } from '../support/hostile-rows.ts';
import { inSweep } from '../support/in-sweep.ts';

/** Blocks of our code and characters in patterns: a page by itself takes some thousands. */
const mostWork = 200_000;
const leastForGrowth = 20_000;

/** A page repeats a form of 16 KB at most, whose characters take up to six bytes in HTML. */
const mostAnswerBytes = 128 * 1024;

describe('a hostile form, or query of a page', () => {
  let rows: PortalWork[];
  beforeAll(() => {
    rows = rowsOf('hostile-portal.ts', '300');
  });

  inSweep('is answered with what is wrong, and never a fault of the service', () => {
    expect(rows.length).toBeGreaterThan(20);
    expect(new Set(rows.map(({ status }) => status)).size).toBeGreaterThan(1);
    expect(rows.filter(({ status }) => status < 200 || status >= 500)).toEqual([]);
  });

  inSweep('costs and returns a bounded amount', () => {
    expect(rows.filter(({ work }) => work < 500)).toEqual([]);
    expect(rows.filter(({ work }) => work > mostWork)).toEqual([]);
    expect(rows.filter(({ answerBytes }) => answerBytes > mostAnswerBytes)).toEqual([]);
  });

  inSweep('at most doubles its cost, and a little, when it is twice as large', () => {
    expect(grownIn(rows, leastForGrowth)).toEqual([]);
  });
});
