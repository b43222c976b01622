import { stage } from '../stage.ts';
import { ofLoad } from './inputs.ts';
import { lambdaStep } from './lambda-step.ts';
import { bucketStorage } from './settings.ts';

const storage = bucketStorage();

/** Copies the members into the bucket. */
export const handler = lambdaStep('stage', ofLoad, async ({ load }) => {
  await stage(storage, load);
  return { load };
});
