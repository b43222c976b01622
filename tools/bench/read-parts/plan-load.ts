import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AddressTable } from '../../../loader/storage/address-table.ts';
import { runLoad } from '../../../local/load/run-load.ts';
import { peakMemoryMegabytes } from '../measure.ts';

/** Takes an extract from zip to snapshot on all cores, in a process of its own, and prints what that came to. */
const held = { owner: 'bench', token: 'bench', untilSeconds: Number.MAX_SAFE_INTEGER };
const emptyTable: AddressTable = {
  read: async () => new Map(),
  write: async () => undefined,
  dataset: async () => null,
  hasAddresses: async () => false,
  setDataset: async () => undefined,
  lock: {
    acquire: async () => held,
    renew: async () => held,
    check: async () => held,
    holder: async () => held,
    release: async () => undefined,
  },
};
const folder = mkdtempSync(join(tmpdir(), 'bag-adres-plan-'));
try {
  await runLoad({ planOnly: true, source: process.argv[2] as string, storage: folder, addresses: emptyTable });
  const { user, system } = process.cpuUsage();
  const [seconds, cpu_seconds] = [performance.now() / 1_000, (user + system) / 1e6];
  console.log(JSON.stringify({ seconds, cpu_seconds, memory_mb: peakMemoryMegabytes() }));
} finally {
  rmSync(folder, { recursive: true });
}
