import * as z from 'zod';
import { approve, guard } from '../guard.ts';
import {
  addressTable,
  bucketStorage,
  itemsAt,
  lambdaStep,
  ofLoad,
  ofOwner,
  thresholdSettings,
} from '../lambda-step.ts';
import { reportOf } from '../load-report.ts';
import { paths } from '../paths.ts';

const places = { storage: bucketStorage(), addresses: addressTable() };
const thresholds = thresholdSettings();

const input = z.object({
  ...ofLoad.shape,
  ...ofOwner.shape,
  planOnly: z.boolean().optional(),
  /** The id of a load that may go on in spite of objections. */
  approve: z.string().optional(),
});

/** Says whether the load may go on (`go`), and what it would change; `items` are the files of changes to apply. */
export const handler = lambdaStep('guard', input, async ({ load, owner, planOnly = false, approve: approved }) => {
  if (approved === load) await approve(places.storage, load);
  const plan = await guard(places, { load, owner, planOnly }, thresholds);
  const outcome = planOnly ? 'planned' : 'refused';
  return {
    load,
    go: plan.go && !planOnly,
    report: reportOf(plan, plan.go && !planOnly ? 'published' : outcome),
    items: itemsAt(paths.changeFiles(load)),
  };
});
