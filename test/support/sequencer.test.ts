import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, it } from '@jest/globals';
import { longest } from './sequencer.ts';

it('the list of the longest test files names files that exist', () => {
  const root = resolve(import.meta.dirname, '../..');
  for (const file of longest) expect([file, existsSync(join(root, file))]).toEqual([file, true]);
});
