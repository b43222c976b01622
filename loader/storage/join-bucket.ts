/** Joining the records of a bucket, of nummeraanduidingen and of adresseerbare objecten alike. */

import { addProblem, emptyReport, type Problem } from '../bag/problem-report.ts';
import { extractName, type Load } from '../dataset/load.ts';
import { joinRecords, type RecordVisit } from '../register/join-records.ts';
import { packRecords, RowsByNumber } from '../register/rows.ts';
import { releaseMemory } from '../release-memory.ts';
import { getJson, paths, putJson, putPacked, type RecordKinds, type Storage } from './storage.ts';
import { changedRecords, type RecordSource, recordsBefore } from './stored-records.ts';
import { type BucketItem, extractedParts, type Joined } from './work.ts';

/** The input for joining buckets, read once. */
export type JoinInput = RecordSource & { buckets: number };

/** The load, and the source of its extract's records: nummeraanduidingen or adresseerbare objecten. */
export async function joinInput(storage: Storage, loadId: string, kinds: RecordKinds): Promise<JoinInput> {
  const load = await getJson<Load>(storage, paths.load(loadId));
  const { length: buckets } = await getJson<BucketItem[]>(storage, paths.buckets(loadId));
  const parts = (await extractedParts(storage, load)).filter(
    ({ member }) => (load.members[member]?.kind === 'NUM') === (kinds === 'nummeraanduidingen'),
  );
  return { load, buckets, rows: parts.map(({ part, ranges }) => ({ key: paths.rows(loadId, part), ranges })) };
}

/** The visitor of a bucket's records; `end` is called after the last. */
export type Sending = Omit<RecordVisit, 'several'> & { end?(): Problem[]; reach?: Set<string> };

/** Makes the records of a bucket, and sends rows of the records that count. Skips a bucket that is already joined. */
export async function joinBucket(
  storage: Storage,
  { load, ...source }: RecordSource,
  kinds: RecordKinds,
  bucket: string,
  send: (rows: RowsByNumber) => Sending | Promise<Sending>,
): Promise<void> {
  if (await storage.open(paths.joined(load.id, kinds, bucket))) return;
  const lines = await recordsBefore(storage, { load, ...source }, kinds, bucket);
  const changed = await changedRecords(storage, load.id, kinds, bucket);
  const [rows, problems, file] = [new RowsByNumber(), emptyReport(), extractName(load)];
  const { end, reach = new Set(), ...visit } = await send(rows);
  const { records, count, repeated } = joinRecords(lines, changed, load.peildatum, {
    ...visit,
    several: (identificatie) => addProblem(problems, { kind: 'several_current', file, identificatie }),
  });
  for (const problem of end?.() ?? []) addProblem(problems, problem);
  await putPacked(storage, paths.records(load.id, kinds, bucket), packRecords(records));
  releaseMemory(lines);
  const { packed, ranges } = rows.pack();
  await putPacked(storage, paths.joinedRows(load.id, kinds, bucket), packed);
  const joined: Joined = { problems, records: count, repeated, ranges, reach: [...reach].sort() };
  await putJson(storage, paths.joined(load.id, kinds, bucket), joined);
}
