import { crc32 } from 'node:zlib';
import { storagePrefixes } from '../names.ts';

const { loads, snapshots, approvals, mutations } = storagePrefixes;

/** The keys of the storage. Everything under `loads/` is work that can be removed when the load is published. */
export const paths = {
  manifest: 'manifest.json',
  /** Written just before the manifest, and read only where that is damaged or missing. */
  manifestCopy: 'manifest.copy.json',
  ...storagePrefixes,
  approval: (load: string) => `${approvals}${load}.json`,
  snapshotOf: (snapshot: string) => `${snapshots}${snapshot}/`,
  /** The lines of one shard of a snapshot. */
  snapshot: (snapshot: string, shard: string) => `${snapshots}${snapshot}/${shard}`,
  /** The occurrences of nummeraanduidingen behind those lines. */
  snapshotObjects: (snapshot: string, shard: string) => `${snapshots}${snapshot}/objects/${shard}`,
  /** The streets and places behind them. */
  snapshotReference: (snapshot: string) => `${snapshots}${snapshot}/reference`,
  /** A whole extract from a server without Range support, or a municipality's inner zip that was deflated. */
  incoming: (name: string) => `${loads}incoming/${name}`,
  workOf: (load: string) => `${loads}${load}/`,
  load: (load: string) => `${loads}${load}/load.json`,
  member: (load: string, index: number, name: string) => `${loads}${load}/members/${index}-${name}`,
  reference: (load: string) => `${loads}${load}/reference`,
  /** A JSON array of `Part`: the items of the map over the extract. */
  parts: (load: string) => `${loads}${load}/parts.json`,
  rows: (load: string, part: string) => `${loads}${load}/rows/${part}`,
  extracted: (load: string, part: string) => `${loads}${load}/extracted/${part}.json`,
  /** What to change in the objects of one shard before it is merged. */
  edits: (load: string, shard: string) => `${loads}${load}/edits/${shard}.json`,
  /** What `mutate` found, what it changes in the objects of a shard, and the streets and places afterwards. */
  mutated: (load: string) => `${loads}${load}/mutated.json`,
  dayEdits: (load: string, shard: string) => `${loads}${load}/day-edits/${shard}.json`,
  mutatedReference: (load: string) => `${loads}${load}/mutated-reference`,
  /** A delivery of mutations; its CRC-32 tells a corrected one from the first, and a damaged copy. */
  mutationFile: (name: string, crc: number) => `${mutations}${name}-${hex(crc)}`,
  collected: (load: string) => `${loads}${load}/collected.json`,
  /** A JSON array of `{"shard": "13"}`: the items of the map that merges. */
  shards: (load: string) => `${loads}${load}/shards.json`,
  changes: (load: string, name: string) => `${loads}${load}/changes/${name}`,
  changesAll: (load: string) => `${loads}${load}/changes/`,
  merged: (load: string, shard: string) => `${loads}${load}/merged/${shard}.json`,
  plan: (load: string) => `${loads}${load}/plan.json`,
  /** A JSON array of `{"changes": "13-000"}`: the items of the map that applies. */
  changeFiles: (load: string) => `${loads}${load}/changes.json`,
  applied: (load: string, changes: string) => `${loads}${load}/applied/${changes}`,
  appliedAll: (load: string) => `${loads}${load}/applied/`,
} as const;

function hex(crc: number): string {
  return crc.toString(16).padStart(8, '0');
}

/** Whether these bytes have the CRC-32 in a name that `mutationFile` made. */
export function isDelivery(key: string, bytes: Uint8Array): boolean {
  return key.endsWith(`-${hex(crc32(bytes))}`);
}
