import { parseLine } from '../../../loader/dataset/lines.ts';
import { unpackLines } from '../../../loader/dataset/stored-form.ts';
import { readManifest } from '../../../loader/steps/manifest.ts';
import type { AddressTable, Dataset } from '../../../loader/storage/address-table.ts';
import { folderStorage } from '../../../loader/storage/files.ts';
import { getUnpacked, paths } from '../../../loader/storage/storage.ts';
import { runLoad } from '../../../local/load/run-load.ts';

/**
 * One load in a process of its own, into a table that keeps nothing but the date and answers from the snapshot that it
 * was given: what is measured is the loader. Prints what it took, and what came of it.
 */
const [folder = '', wanted = '{}', live = 'null'] = process.argv.slice(2);
const storage = folderStorage(folder);
let dataset = JSON.parse(live) as Dataset | null;
let writes = 0;
const held = { owner: 'bench', token: 'bench', untilSeconds: Number.MAX_SAFE_INTEGER };
const table: AddressTable = {
  async read(keys) {
    const { pending } = await readManifest(storage);
    const shards = new Set(pending?.snapshot.shards);
    const found: Awaited<ReturnType<AddressTable['read']>> = new Map();
    for (const shard of new Set(keys.map((key) => key.slice(0, 2)))) {
      if (!shards.has(shard)) continue;
      const asked = new Set(keys);
      for (const line of await getUnpacked(storage, paths.snapshot(pending?.snapshot.id ?? '', shard), unpackLines)) {
        if (asked.has(line.slice(0, line.indexOf('\t')))) found.set(line.slice(0, line.indexOf('\t')), parseLine(line));
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
    seconds: (performance.now() - started) / 1_000,
    cpu_seconds: (user + system) / 1e6,
    memory_mb: process.resourceUsage().maxRSS / 1024,
    writes,
    report,
    dataset,
  }),
);
