import { paths } from '../paths.ts';
import { reference } from '../reference.ts';
import { ofLoad } from './inputs.ts';
import { lambdaStep } from './lambda-step.ts';
import { bucketStorage, itemsAt } from './settings.ts';

const storage = bucketStorage();

/** Reads streets and places; `items` are the parts to extract. */
export const handler = lambdaStep('reference', ofLoad, async ({ load }) => {
  const { parts } = await reference(storage, load);
  return { load, parts, items: itemsAt(paths.parts(load)) };
});
