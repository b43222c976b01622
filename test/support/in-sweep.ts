import { it } from '@jest/globals';
import { isFullSweep } from './sweep.ts';

/**
 * A test that only a full sweep runs: it takes long, and a shorter one beside it shows the same of
 * fewer cases.
 */
export const inSweep: typeof it.skip = isFullSweep ? it : it.skip;
