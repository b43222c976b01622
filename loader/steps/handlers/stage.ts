import { bucketStorage, lambdaStep, ofLoad } from '../lambda-step.ts';
import { stage } from '../stage.ts';

const storage = bucketStorage();

/** Copies the members into the bucket. */
export const handler = lambdaStep('stage', ofLoad, async ({ load }) => {
  await stage(storage, load);
  return { load };
});
