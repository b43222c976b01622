import { lambdaStep } from './lambda-step.ts';

/** Releases the lock: the last step of every execution, however it ended. Does nothing if that never had it. */
export const handler = lambdaStep('release', async ({ owner }, deployment) => {
  await deployment.addresses().lock.release(owner);
  return { owner };
});
