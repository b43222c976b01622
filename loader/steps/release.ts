import { lambdaStep } from './lambda-step.ts';
import type { Step } from './step.ts';

/**
 * Releases the lock: the last step of every execution, however it ended. Does nothing if that never
 * had it.
 */
export const step: Step = {
  async run({ addresses }, { owner }) {
    await addresses.lock.release(owner);
    return { owner };
  },
};

export const handler = lambdaStep('release', step);
