import { extractPart } from '../extract.ts';
import { batchOf, ofLoad, partItem } from './inputs.ts';
import { lambdaStep } from './lambda-step.ts';
import { bucketStorage } from './settings.ts';

const storage = bucketStorage();

/** Reads a batch of parts. */
export const handler = lambdaStep('extract', batchOf(partItem, ofLoad), async ({ Items, BatchInput: { load } }) => {
  for (const part of Items) await extractPart(storage, load, part);
  return { parts: Items.map(({ part }) => part) };
});
