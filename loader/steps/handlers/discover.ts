import { Metrics, MetricUnit } from '@aws-lambda-powertools/metrics';
import { SFNClient } from '@aws-sdk/client-sfn';
import * as z from 'zod';
import { metricNames, metricNamespace } from '../../../lambdas/shared/metric-names.ts';
import { loaderEnvironment } from '../../names.ts';
import { executionIsGone, takeLock } from '../../storage/lock.ts';
import { pdokExtract } from '../../storage/open.ts';
import { discover } from '../discover.ts';
import { addressTable, bucketStorage, itemsAt, lambdaStep, numberSetting, ofOwner } from '../lambda-step.ts';
import { currentManifest, type Found } from '../manifest.ts';
import { paths } from '../paths.ts';
import { rollback } from '../rollback.ts';

const storage = bucketStorage();
const addresses = addressTable();
const source = process.env[loaderEnvironment.source] ?? pdokExtract;
const seconds = numberSetting(loaderEnvironment.lockSeconds, 6 * 3600);
const isGone = executionIsGone(new SFNClient({}), numberSetting(loaderEnvironment.settleSeconds, 20 * 60));
const metrics = new Metrics({ namespace: metricNamespace, serviceName: 'loader' });

const input = ofOwner.extend({
  /** Another extract than the configured one. */
  source: z.string().optional(),
  /** A date or a load to go back to, instead of loading an extract. */
  rollback: z.string().optional(),
  again: z.boolean().optional(),
  planOnly: z.boolean().optional(),
});

/**
 * Takes the lock on the table and says what there is to do. A lock that another holds is a `LockedError`; that of an
 * execution which has ended is taken over, or is a `LockSettlingError` as long as that must wait. What `finish` is to
 * apply, and `rollback` to merge, is in `items`.
 */
export const handler = lambdaStep('discover', input, async ({ owner, ...wanted }) => {
  await reportAge();
  await takeLock(addresses.lock, { owner, seconds, isGone });
  const found = await find(wanted);
  if (found.action === 'finish') return { ...found, items: itemsAt(paths.changeFiles(found.load)) };
  if (found.action === 'rollback') return { ...found, items: itemsAt(paths.shards(found.load)) };
  return found;
});

function find(wanted: Omit<z.infer<typeof input>, 'owner'>): Promise<Found> {
  const places = { storage, addresses };
  if (wanted.rollback !== undefined) return rollback(places, wanted.rollback);
  return discover(places, {
    source: wanted.source ?? source,
    again: wanted.again ?? false,
    planOnly: wanted.planOnly ?? false,
  });
}

/** Even when nothing is new: that is how an operator hears that a source has gone quiet. */
async function reportAge(): Promise<void> {
  const { published } = await currentManifest(storage, addresses);
  if (!published) return;
  const days = Math.floor((Date.now() - Date.parse(published.peildatum)) / 86_400_000);
  metrics.addMetric(metricNames.datasetAge, MetricUnit.Count, days);
  metrics.publishStoredMetrics();
}
