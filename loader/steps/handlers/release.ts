import { addressTable, lambdaStep, ofOwner } from '../lambda-step.ts';

const addresses = addressTable();

/** Gives the lock back: the last step of every execution, however it went. Harmless for one that never had it. */
export const handler = lambdaStep('release', ofOwner, async ({ owner }) => {
  await addresses.lock.release(owner);
  return { owner };
});
