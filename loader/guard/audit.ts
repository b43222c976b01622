import type { ChangeCounts } from '../addresses/lines.ts';
import { hasObjecten, isSameArea, type Load, type ManifestEntry } from '../dataset/load.ts';
import type { LoadCounts } from './load-counts.ts';

/**
 * How an extract differs from the result of mutations of the same date, in objects too if both have
 * them.
 */
export function auditOf(
  { kind, peildatum, extract }: Pick<Load, 'kind' | 'peildatum' | 'extract'>,
  { changes, objecten }: Pick<LoadCounts, 'changes' | 'objecten'>,
  base: Pick<ManifestEntry, 'peildatum' | 'extract' | 'snapshot'> | null,
): ChangeCounts | null {
  if (kind !== 'extract' || !base?.extract || !isSameArea(base.extract, extract)) return null;
  if (base.extract.peildatum === base.peildatum || base.peildatum !== peildatum) return null;
  if (!objecten || !hasObjecten(base.snapshot)) return changes;
  return { ...changes, changed: changes.changed + objecten.changed };
}
