import { lambdaStep } from './lambda-step.ts';

/** Gives the lock back: the last step of every execution, however it ended. Harmless for one that never had it. */
export const handler = lambdaStep('release', async ({ owner }, deployment) => {
  await deployment.addresses().lock.release(owner);
  return { owner };
});
