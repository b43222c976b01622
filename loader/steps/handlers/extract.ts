import type { ReferenceMemory } from '../../dataset/reference-file.ts';
import { extractPart } from '../extract.ts';
import { batchOf, bucketStorage, lambdaStep, ofLoad, partItem } from '../lambda-step.ts';
import { readReference } from '../reference.ts';

const storage = bucketStorage();

/** The streets and places of the load that this worker is at: 18 MB, read once a worker. */
let held: { load: string; reference: ReferenceMemory } | undefined;

/** Reads a batch of parts. */
export const handler = lambdaStep('extract', batchOf(partItem, ofLoad), async ({ Items, BatchInput: { load } }) => {
  if (held?.load !== load) held = { load, reference: await readReference(storage, load) };
  for (const part of Items) await extractPart(storage, load, part, held.reference);
  return { parts: Items.map(({ part }) => part) };
});
