import { unpackSegment } from '../addresses/line-segment.ts';
import { diff } from '../addresses/lines.ts';
import { type Load, resultOf } from '../dataset/load.ts';
import { type ChangeExample, changeExample } from '../verdict/load-counts.ts';
import type { LoadProposal } from '../verdict/load-report.ts';
import { findJson, getJson, getUnpacked, paths, type Storage } from './storage.ts';
import type { Merged, SegmentItem } from './work.ts';

/** Every refused load onto the live dataset, by date. Publishing a load removes the work of all other loads. */
export async function refusedProposals(storage: Storage): Promise<LoadProposal[]> {
  const keys = await storage.list(paths.loads);
  const ids = keys.flatMap((key) => {
    const id = key.slice(paths.loads.length).split('/')[0] ?? '';
    return key === paths.proposal(id) ? [id] : [];
  });
  const proposals = await Promise.all(ids.map((id) => findRefusedProposal(storage, id)));
  return proposals.filter((proposal) => proposal !== null).toSorted((a, b) => (a.load < b.load ? -1 : 1));
}

/** The proposal of one refused load; `null` if it is not refused, or its work is gone. */
export async function findRefusedProposal(storage: Storage, load: string): Promise<LoadProposal | null> {
  const proposal = await findJson<LoadProposal>(storage, paths.proposal(load));
  return proposal && !proposal.go && !proposal.divided ? proposal : null;
}

/** Every change of an address by a merged load, by key, until the next load is published. @throws MissingObjectError */
export async function* differences(storage: Storage, loadId: string): AsyncGenerator<ChangeExample> {
  const load = await getJson<Load>(storage, paths.load(loadId));
  const { base } = load;
  const segments = await getJson<SegmentItem[]>(storage, paths.segments(loadId));
  const linesOf = async (snapshot: string, segment: string) =>
    getUnpacked(storage, paths.snapshot(snapshot, segment), unpackSegment);
  for (const { segment } of segments.toSorted((a, b) => (a.segment < b.segment ? -1 : 1))) {
    const { addresses, changes, objecten } = await getJson<Merged>(storage, paths.merged(loadId, segment));
    if (changes.added + changes.changed + changes.removed + (objecten?.changed ?? 0) === 0) continue;
    const before = base?.snapshot.segments.includes(segment) ? await linesOf(base.snapshot.id, segment) : [];
    const after = addresses > 0 ? await linesOf(resultOf(load), segment) : [];
    for (const change of diff(before, after)) {
      if (change.kind !== 'list') yield changeExample(change);
    }
  }
}
