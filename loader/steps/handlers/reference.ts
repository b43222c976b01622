import { bucketStorage, itemsAt, lambdaStep, ofLoad } from '../lambda-step.ts';
import { paths } from '../paths.ts';
import { reference } from '../reference.ts';

const storage = bucketStorage();

/** Reads streets and places; `items` are the parts to extract. */
export const handler = lambdaStep('reference', ofLoad, async ({ load }) => {
  const { parts } = await reference(storage, load);
  return { load, parts, items: itemsAt(paths.parts(load)) };
});
