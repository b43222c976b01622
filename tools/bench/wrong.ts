import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Benchmark } from './benchmark.ts';
import { generatedExtract } from './generator/generate.ts';
import { wrongDatasets } from './generator/wrong.ts';
import { rounded } from './measure.ts';
import { Loads } from './mutations-parts/loads.ts';

type Row = { dataset: string; changes: number; refused: boolean; because: string[]; cpu_seconds: number };

/** Extracts of a country with which something is wrong, each planned onto the right one: what the guard says of them. */
export const benchmark: Benchmark = {
  async run({ scale }) {
    const right = await generatedExtract({ scale });
    const folder = mkdtempSync('.data/bench/wrong-');
    try {
      const dataset = new Loads(folder);
      dataset.load({ source: right.path });
      const rows: Row[] = [];
      for (const wrong of Object.keys(wrongDatasets)) {
        const { path } = await generatedExtract({ scale, wrong }, join(folder, 'wrong'));
        const { report, cpu_seconds } = dataset.load({ source: path, planOnly: true });
        const { objections, added, changed, removed } = report;
        console.error(`${wrong}: ${objections[0]?.message ?? 'no objection'}`);
        rows.push({
          dataset: wrong,
          changes: added + changed + removed,
          refused: objections.length > 0,
          because: objections.map(({ message }) => message),
          cpu_seconds: rounded(cpu_seconds, 3),
        });
        for (const made of ['wrong', 'loads']) rmSync(join(folder, made), { recursive: true });
      }
      return { scale, addresses: right.truth.keys, rows };
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
  table: ({ rows }) =>
    (rows as Row[]).map(({ because, ...row }) => ({ ...row, because: `${because[0] ?? ''}`.slice(0, 100) })),
  broken: ({ rows }) =>
    (rows as Row[]).flatMap(({ dataset, refused }) =>
      refused ? [] : [`An extract ${dataset} would be published without a question.`],
    ),
};
