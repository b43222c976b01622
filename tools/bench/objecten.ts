import type { Benchmark } from './benchmark.ts';
import { generatedExtract } from './generator/generate.ts';
import { zipToSnapshot } from './read.ts';

type Loaded = ReturnType<typeof zipToSnapshot>;

/** A load of an extract with the adresseerbare objecten of its addresses; the reference is the load without them. */
export const benchmark: Benchmark = {
  async run({ scale }) {
    const { path, truth } = await generatedExtract({ scale, objecten: true });
    const [without, withObjects] = [zipToSnapshot(path), zipToSnapshot(path, true)];
    return { scale, addresses: truth.addresses, objecten: truth.objecten, without, with: withObjects };
  },
  plot: (figures) => {
    const { without, with: withObjects } = figures as { without: Loaded; with: Loaded };
    return {
      title: 'CPU from zip to snapshot, without and with the objects of addresses',
      unit: 's',
      bars: [
        { label: 'without', value: without.cpu_seconds_zip_to_snapshot, isReference: true },
        { label: 'with', value: withObjects.cpu_seconds_zip_to_snapshot },
      ],
    };
  },
};
