import * as z from 'zod';
import { loaderEnvironment } from '../../names.ts';
import { applyChanges } from '../apply.ts';
import { addressTable, batchOf, bucketStorage, lambdaStep, numberSetting, ofLoad, ofOwner } from '../lambda-step.ts';

const writesPerSecond = numberSetting(loaderEnvironment.writesPerSecond, Number.MAX_SAFE_INTEGER);
const places = { storage: bucketStorage(), addresses: addressTable({ writesPerSecond }) };
const changeFileItem = z.object({ changes: z.string(), writes: z.number() });
const common = z.object({ ...ofLoad.shape, ...ofOwner.shape });

/** Writes a batch of files of changes into the table. */
export const handler = lambdaStep('apply', batchOf(changeFileItem, common), async ({ Items, BatchInput }) => {
  let written = 0;
  for (const { changes } of Items) written += (await applyChanges(places, { ...BatchInput, changes })).written;
  return { written };
});
