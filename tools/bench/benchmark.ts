/** What a benchmark may be told on the command line. */
export type BenchmarkOptions = {
  /** Another extract than the generated one. */
  extract?: string;
  /** Share of the country to generate, where the benchmark reads an extract. */
  scale: number;
  /** A checkout of somebody else's program, for the benchmark that compares with it. */
  peer?: string;
};

/** Bars of a plot, all in one unit; the reference of the same run stands among them. */
export type Plot = {
  title: string;
  unit: string;
  bars: { label: string; value: number; isReference?: boolean }[];
};

/** What one run measured: plain JSON, names with their unit last, ratios named `..._ratio_...`. */
export type Figures = Record<string, unknown>;

/** A benchmark: one file `tools/bench/<name>.ts` that exports `benchmark`. */
export type Benchmark = {
  /** The share of the country to generate where none is given; 0.01 by default. */
  scale?: number;
  run(options: BenchmarkOptions): Promise<Figures>;
  /** Of those whose picture the docs show. */
  plot?(figures: Figures): Plot;
  /** Rows to print instead of the figures, where there are many alike. */
  table?(figures: Figures): object[];
  /** The promises of the docs that the figures break; with one, the command fails. */
  broken?(figures: Figures): string[];
};

/** Why a benchmark can't measure here, with what to do: its message is all that is printed. */
export class CannotMeasure extends Error {
  override name = 'CannotMeasure';
}
