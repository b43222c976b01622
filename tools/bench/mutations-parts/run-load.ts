import { LineSegmentReader } from '../../../loader/addresses/line-segment.ts';
import { keyOf, parseLine } from '../../../loader/addresses/lines.ts';
import { segmentOf } from '../../../loader/register/stored-form.ts';
import type { AddressTable, Dataset } from '../../../loader/storage/address-table.ts';
import { folderStorage } from '../../../loader/storage/files.ts';
import { getUnpacked, paths } from '../../../loader/storage/storage.ts';
import { readManifest } from '../../../loader/storage/stored-loads.ts';
import { runLoad } from '../../../local/load/run-load.ts';
import { peakMemoryMegabytes } from '../measure.ts';

/**
 * One load in a process of its own, into a table that keeps nothing but the date and answers from
 * the snapshot that it was given: what is measured is the loader. Prints what it took, and what
 * came of it.
 */
const [folder = '', wanted = '{}', live = 'null'] = process.argv.slice(2);
const storage = folderStorage(folder);
let dataset = JSON.parse(live) as Dataset | null;
let writes = 0;
const held = { owner: 'bench', token: 'bench', untilSeconds: Number.MAX_SAFE_INTEGER };
const table: AddressTable = {
  async read(keys) {
    const { pending } = await readManifest(storage);
    const { id = '', segments = [] } = pending?.snapshot ?? {};
    const found: Awaited<ReturnType<AddressTable['read']>> = new Map();
    for (const [segment, ofSegment] of Map.groupBy(keys, segmentOf)) {
      if (!segments.includes(segment)) continue;
      const stored = await getUnpacked(
        storage,
        paths.snapshot(id, segment),
        (bytes) => new LineSegmentReader(bytes),
      );
      for (const key of ofSegment) {
        const line = stored.lines(key.slice(0, 3)).find((row) => keyOf(row) === key);
        if (line !== undefined) found.set(key, parseLine(line));
      }
    }
    return found;
  },
  async write(batch, _fence, onWritten) {
    writes += batch.length;
    onWritten?.(batch.length);
  },
  dataset: async () => dataset,
  hasAddresses: async () => dataset !== null,
  setDataset: async (next) => {
    dataset = next;
  },
  lock: {
    acquire: async () => held,
    renew: async () => held,
    check: async () => held,
    holder: async () => held,
    release: async () => undefined,
  },
};
const started = performance.now();
const report = await runLoad({ ...JSON.parse(wanted), storage: folder, addresses: table });
const { user, system } = process.cpuUsage();
console.log(
  JSON.stringify({
    seconds_with_start: performance.now() / 1_000,
    seconds: (performance.now() - started) / 1_000,
    cpu_seconds: (user + system) / 1e6,
    memory_mb: peakMemoryMegabytes(),
    writes,
    report,
    dataset,
  }),
);
