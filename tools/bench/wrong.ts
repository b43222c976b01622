import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Benchmark } from './benchmark.ts';
import { generatedExtract } from './generator/generate.ts';
import { wrongDatasets } from './generator/wrong.ts';
import { rounded } from './measure.ts';
import { Loads } from './mutations-parts/loads.ts';

type Row = {
  dataset: string;
  changes: number;
  refused: boolean;
  because: string[];
  cpu_seconds: number;
};

/**
 * Extracts of a country with which something is wrong, each planned onto the right one: what the
 * guard says of them.
 */
export const benchmark: Benchmark = {
  // The guard holds a whole dataset to the share of a woonplaats from 500,000 addresses on.
  scale: 0.1,
  async run({ scale }) {
    const folder = mkdtempSync('.data/bench/wrong-');
    try {
      const loaded = async (objecten: boolean) => {
        const { path, truth } = await generatedExtract({ scale, objecten });
        const place = join(folder, objecten ? 'objecten' : 'addresses');
        const loads = new Loads(place);
        loads.load({ source: path, objecten });
        return { place, loads, addresses: truth.keys };
      };
      const bare = await loaded(false);
      const withObjects = await loaded(true);
      const rows: Row[] = [];
      for (const { name: wrong, objecten, onto } of wrongDatasets) {
        const country = onto ? withObjects : bare;
        const { path } = await generatedExtract({ scale, wrong, objecten }, join(folder, 'wrong'));
        const { report, cpu_seconds } = country.loads.load({
          source: path,
          objecten,
          planOnly: true,
        });
        const { objections, added, changed, removed } = report;
        console.error(`${wrong}: ${objections[0]?.message ?? 'no objection'}`);
        rows.push({
          dataset: wrong,
          changes: added + changed + removed,
          refused: objections.length > 0,
          because: objections.map(({ message }) => message),
          cpu_seconds: rounded(cpu_seconds, 3),
        });
        for (const made of [join(folder, 'wrong'), join(country.place, 'loads')]) {
          rmSync(made, { recursive: true });
        }
      }
      return { scale, addresses: bare.addresses, rows };
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
  table: ({ rows }) =>
    (rows as Row[]).map(({ because, ...row }) => ({
      ...row,
      because: `${because[0] ?? ''}`.slice(0, 100),
    })),
  broken: ({ rows }) =>
    (rows as Row[]).flatMap(({ dataset, refused }) =>
      refused ? [] : [`An extract ${dataset} would be published without a question.`],
    ),
};
