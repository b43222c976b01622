import { cpSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { folderStorage } from '../../loader/storage/files.ts';
import { paths } from '../../loader/storage/storage.ts';
import type { Benchmark, Figures } from './benchmark.ts';
import { generatedDays } from './generator/days.ts';
import { blocksOf, generatedExtract } from './generator/generate.ts';
import { median, rounded } from './measure.ts';
import { type Loaded, Loads } from './mutations-parts/loads.ts';

const days = 20;

/**
 * A country by an extract, then by 20 days of mutations in proportion to 3,000 changed objects a
 * national day, then by the extract of the last of these days, which audits them; and the same days
 * at once, as a deployment catches up with days that it missed. Each load is a process of its own,
 * on all cores, whose table takes every write at once: time and memory are the loader's. The
 * reference is the load of the extract.
 */
export const benchmark: Benchmark = {
  scale: 0.05,
  async run({ scale }) {
    const deliveries = await generatedDays({ seed: 1, blocks: blocksOf(scale), days });
    const first = await generatedExtract({ scale });
    const last = await generatedExtract({ scale, days });
    const folder = mkdtempSync('.data/bench/mutations-');
    const copy = `${folder}-together`;
    try {
      const dataset = new Loads(folder);
      const extract = dataset.load({ source: first.path });
      const stored = await storedMegabytes(folder, extract.report.load ?? '');
      cpSync(folder, copy, { recursive: true });
      const together = new Loads(copy, extract.dataset).load({ mutations: deliveries });
      const each = deliveries.map((file) => dataset.load({ mutations: [file] }));
      const whole = dataset.load({ source: last.path });
      const { audit, addresses } = whole.report;
      if (!audit) throw new Error('The last extract was not held against the days.');
      if (
        together.report.days.length !== days ||
        together.report.addresses !== each.at(-1)?.report.addresses
      ) {
        throw new Error('The days together did not give what they give one by one.');
      }
      const dayCpuSeconds = median(each.map(({ cpu_seconds }) => rounded(cpu_seconds, 3)));
      return {
        scale,
        objects_a_day: Math.round(3_000 * scale),
        extract: figuresOf(extract),
        stored_mb: stored,
        day_seconds: median(each.map(({ seconds }) => rounded(seconds, 3))),
        day_seconds_longest: rounded(Math.max(...each.map(({ seconds }) => seconds)), 3),
        day_cpu_seconds: dayCpuSeconds,
        day_memory_mb: Math.round(Math.max(...each.map(({ memory_mb }) => memory_mb))),
        days_together: figuresOf(together),
        cpu_ratio_days_together_to_one: rounded(together.cpu_seconds / dayCpuSeconds),
        writes_per_changed_key: rounded(
          sum(each.map(({ writes }) => writes)) / sum(each.map(changedKeys)),
        ),
        audit_differences: audit.added + audit.changed + audit.removed,
        keys_missing_in_the_end: last.truth.keys - addresses,
        days: each.map(figuresOf),
      };
    } finally {
      for (const made of [folder, copy]) rmSync(made, { recursive: true, force: true });
    }
  },
  plot: (figures) => {
    type Cpu = { cpu_seconds: number };
    const {
      extract,
      days_together: together,
      days: each,
    } = figures as { [K in 'extract' | 'days_together']: Cpu } & { days: Cpu[] };
    return {
      title: 'CPU of a load: an extract, 20 days of mutations together, and each of them',
      unit: 's',
      bars: [
        { label: 'extract', value: extract.cpu_seconds, isReference: true },
        { label: `${each.length} days`, value: together.cpu_seconds },
        ...each.map(({ cpu_seconds }, day) => ({ label: `day ${day + 1}`, value: cpu_seconds })),
      ],
    };
  },
};

function changedKeys({ report: { added, changed, removed, listsChanged } }: Loaded): number {
  return added + changed + removed + listsChanged;
}

function figuresOf(loaded: Loaded): Figures {
  const { seconds, cpu_seconds, memory_mb, writes } = loaded;
  return {
    seconds: rounded(seconds, 3),
    cpu_seconds: rounded(cpu_seconds, 3),
    memory_mb: Math.round(memory_mb),
    changed_keys: changedKeys(loaded),
    writes,
  };
}

/** Of one snapshot: its lines, the objects behind them, and the streets and places. */
async function storedMegabytes(folder: string, load: string): Promise<Figures> {
  const keys = await folderStorage(folder).list(paths.snapshotOf(load));
  const megabytes = (wanted: (key: string) => boolean) =>
    rounded(sum(keys.filter(wanted).map((key) => statSync(join(folder, key)).size)) / 1e6, 4);
  const isObjects = (key: string) => key.startsWith(paths.records(load, 'nummeraanduidingen', ''));
  const isReference = (key: string) => key === paths.snapshotReference(load);
  return {
    lines: megabytes((key) => !isObjects(key) && !isReference(key)),
    objects: megabytes(isObjects),
    reference: megabytes(isReference),
    all: megabytes(() => true),
  };
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
