import { mkdtempSync, rmSync } from 'node:fs';
import type { Benchmark } from './benchmark.ts';
import { generatedDays } from './generator/days.ts';
import { blocksOf, generatedExtract } from './generator/generate.ts';
import { rounded } from './measure.ts';
import { Loads } from './mutations-parts/loads.ts';
import { zipToSnapshot } from './read.ts';

/**
 * A load of an extract with the adresseerbare objecten of its addresses, and a day of mutations
 * after it; the reference is the load without them.
 */
export const benchmark: Benchmark = {
  async run({ scale }) {
    const { path, truth } = await generatedExtract({ scale, objecten: true });
    const [day = ''] = await generatedDays({
      seed: 1,
      blocks: blocksOf(scale),
      days: 1,
      objecten: true,
    });
    const without = zipToSnapshot(path);
    const withObjects = zipToSnapshot(path, true);
    const folder = mkdtempSync('.data/bench/objecten-');
    try {
      const dataset = new Loads(folder);
      const { live } = dataset.load({ source: path, objecten: true }).report.objecten ?? {
        live: 0,
      };
      if (live !== truth.objecten) {
        throw new Error(`${live} objects are live, but the extract has ${truth.objecten}.`);
      }
      const { seconds, cpu_seconds, memory_mb, writes } = dataset.load({
        mutations: [day],
        objecten: true,
      });
      const after = {
        seconds: rounded(seconds),
        cpu_seconds: rounded(cpu_seconds),
        memory_mb: Math.round(memory_mb),
      };
      return {
        scale,
        addresses: truth.addresses,
        objecten: truth.objecten,
        without,
        with: withObjects,
        day_with: { ...after, writes },
      };
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
};
