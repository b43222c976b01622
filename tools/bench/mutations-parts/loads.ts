import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { LoadReport } from '../../../loader/guard/load-report.ts';
import type { Dataset } from '../../../loader/storage/address-table.ts';

const script = fileURLToPath(new URL('./run-load.ts', import.meta.url));

/** What a load took, and what came of it. */
export type Loaded = {
  seconds: number;
  cpu_seconds: number;
  memory_mb: number;
  writes: number;
  report: LoadReport;
  dataset: Dataset | null;
};

/** Loads into one storage, one after the other, each in a process of its own on all cores. */
export class Loads {
  readonly #folder: string;
  #dataset: Dataset | null = null;

  /** @param dataset what the table says of itself, where a storage has a snapshot already */
  constructor(folder: string, dataset: Dataset | null = null) {
    this.#folder = folder;
    this.#dataset = dataset;
  }

  load(
    wanted: ({ source: string } | { mutations: string[] }) & {
      objecten?: boolean;
      planOnly?: boolean;
    },
  ): Loaded {
    const options = JSON.stringify(wanted);
    const printed = execFileSync(
      process.execPath,
      [script, this.#folder, options, JSON.stringify(this.#dataset)],
      {
        encoding: 'utf8',
      },
    );
    const loaded = JSON.parse(printed) as Loaded;
    if (loaded.report.outcome !== (wanted.planOnly ? 'planned' : 'published')) {
      throw new Error(`${options} was not published: ${printed}`);
    }
    this.#dataset = loaded.dataset;
    return loaded;
  }
}
