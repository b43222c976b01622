import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Line, placeText } from '../../loader/dataset/lines.ts';
import { noProgress } from '../../loader/progress.ts';
import { dynamoDbAddressTable } from '../../loader/storage/address-table.ts';
import { engineBulkImport } from '../../local/engine/bulk-import.ts';
import { localDynamoDb } from '../../local/engine/client.ts';
import { startPausableEngine } from '../../local/engine/database-files.ts';
import { createTables } from '../../test/support/dynamodb.ts';
import { underLock } from '../../test/support/under-lock.ts';
import type { Benchmark } from './benchmark.ts';
import { inTurn, median, pairedRatio, rounded } from './measure.ts';

const rounds = 3;
const writes = 20_000;
const countryLines = 10_200_000;
const names = { addresses: 'addresses', accounts: 'accounts' };

/**
 * Changing a share of the keys of the embedded engine: one by one through the engine, or by an import of every line.
 * CPU of this process and its engines, and seconds. The writes are spread over all keys, as those of a month are.
 */
export const benchmark: Benchmark = {
  scale: 0.1,
  async run({ scale }) {
    const lines = Math.round(countryLines * scale);
    const folder = await mkdtemp(join(tmpdir(), 'bench-bulk-import-'));
    const file = join(folder, 'dynamodb.db');
    const seconds: Record<string, number[]> = { import: [], write: [] };
    let round = 0;
    try {
      await onEngine(file, ({ client }) => createTables(client, names));
      const measured = (name: string, count: number, work: () => Promise<void>) => async () => {
        const [cpu, begin] = [cpuMilliseconds(), performance.now()];
        await work();
        seconds[name]?.push((performance.now() - begin) / 1000 / count);
        return (cpuMilliseconds() - cpu) / count;
      };
      const cpu = await inTurn(rounds, {
        import: measured('import', lines, () =>
          onEngine(file, ({ bulkImport }) => bulkImport.run(groupsOf(lines, ++round), { lines, writes: lines })),
        ),
        write: measured('write', writes, () =>
          onEngine(file, ({ addresses }) =>
            underLock(addresses, async (fence) => {
              const step = Math.floor(lines / writes);
              const changed = Array.from({ length: writes }, (_, index) => lineAt(index * step, round + 0.5));
              await addresses.write(
                changed.map((put) => ({ put })),
                fence,
              );
            }),
          ),
        ),
      });
      const microseconds = (values: number[] = []) => rounded(median(values) * 1000, 3);
      return {
        rounds,
        lines,
        writes,
        import_cpu_us_per_line: microseconds(cpu.import),
        write_cpu_us: microseconds(cpu.write),
        lines_per_write_by_cpu: rounded(pairedRatio(cpu.write, cpu.import), 3),
        import_us_per_line: rounded(median(seconds.import ?? []) * 1e6, 3),
        write_us: rounded(median(seconds.write ?? []) * 1e6, 3),
        lines_per_write_by_time: rounded(pairedRatio(seconds.write ?? [], seconds.import ?? []), 3),
      };
    } finally {
      await rm(folder, { recursive: true });
    }
  },
  plot: (figures) => ({
    title: 'Changing one key of the embedded engine',
    unit: 'microseconds of CPU',
    bars: [
      { label: 'by itself', value: Number(figures.write_cpu_us), isReference: true },
      { label: 'importing ten lines', value: 10 * Number(figures.import_cpu_us_per_line) },
    ],
  }),
};

const linesPerPostcode = 1_200;
const linesPerGroup = 100_000;

/** The line at an index, in the order of their keys; with other ids in every `version`. */
function lineAt(index: number, version: number): Line {
  const postcode = 1000 + Math.floor(index / linesPerPostcode);
  const place = placeText({ straat: `Straat van ${postcode}`, woonplaats: `Woonplaats ${postcode % 97}` });
  const id = String(Math.round(version * 2) * 1e9 + index).padStart(12, '0');
  return `${postcode}AA#${10_000 + (index % linesPerPostcode)}#\t\t${place}0457${id}`;
}

async function* groupsOf(lines: number, version: number) {
  for (let start = 0; start < lines; start += linesPerGroup) {
    const count = Math.min(linesPerGroup, lines - start);
    yield Array.from({ length: count }, (_, index) => lineAt(start + index, version));
  }
}

/** Runs work on an engine that starts for it and stops after it, so that its CPU counts among that of our children. */
async function onEngine(file: string, work: (parts: ReturnType<typeof partsOf>) => Promise<void>): Promise<void> {
  const engine = await startPausableEngine(file);
  const parts = partsOf(file, engine);
  try {
    await work(parts);
  } finally {
    parts.client.destroy();
    await engine.stop();
  }
}

function partsOf(databaseFile: string, engine: Awaited<ReturnType<typeof startPausableEngine>>) {
  const client = localDynamoDb(engine.endpoint);
  const table = names.addresses;
  return {
    client,
    addresses: dynamoDbAddressTable(client, table, { transactions: true }),
    bulkImport: engineBulkImport({ engine, databaseFile, table, progress: noProgress }),
  };
}

/** CPU of this process and of the children that have ended. Linux counts it in hundredths of a second. */
function cpuMilliseconds(): number {
  const stat = readFileSync('/proc/self/stat', 'utf8');
  const counts = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 15);
  return counts.reduce((sum, count) => sum + Number(count) * 10, 0);
}
