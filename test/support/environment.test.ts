import { setImmediate as turn } from 'node:timers/promises';
import v8 from 'node:v8';
import vm from 'node:vm';
import { describe, expect, it } from '@jest/globals';

/** Evaluates a module of a test file that then ends, and returns what belongs to that file as long as it is held. */
async function evaluateAndForget(): Promise<WeakRef<object>> {
  const testFile = {};
  const module = new vm.SourceTextModule('export const double = (value) => 2 * value;', {
    identifier: `${import.meta.dirname}/forgotten.ts`,
    initializeImportMeta: (meta) => Object.assign(meta, { testFile }),
  });
  await module.link(() => Promise.reject(new Error('it imports nothing')));
  await module.evaluate();
  return new WeakRef(testFile);
}

describe('a worker of the tests', () => {
  it('frees the modules of a test file that has ended', async () => {
    v8.setFlagsFromString('--expose-gc');
    const collectGarbage: () => void = vm.runInNewContext('gc');
    const testFile = await evaluateAndForget();
    for (let count = 0; count < 10 && testFile.deref(); count++) {
      await turn();
      collectGarbage();
    }
    expect(testFile.deref()).toBeUndefined();
  });
});
