import type { Figures } from '../benchmark.ts';

/** Ratios by benchmark and path: `cold-start.address.cpu_ratio_to_bare`. Each is a cost, so lower is better. */
export type Ratios = Record<string, number>;

/** The ratios of some benchmarks on a day. Absolute figures differ from machine to machine, so they are not kept. */
export type HistoryEntry = { date: string; ratios: Ratios };

/** A ratio that is worse than when it was last recorded. */
export type RatioLoss = { name: string; recorded: number; date: string; measured: number };

/** The share by which a ratio may get worse unnoticed; single runs differ by about as much. */
export const toleratedLoss = 0.1;

/** The ratios among the figures of a benchmark, at any depth, without those of its references. */
export function ratiosOf(name: string, figures: Figures): Ratios {
  const found = Object.entries(figures).map(([key, value]): Ratios => {
    const path = `${name}.${key}`;
    if (key === 'bare' || key.startsWith('bare_')) return {};
    if (typeof value === 'object' && value !== null) return ratiosOf(path, value as Figures);
    return typeof value === 'number' && key.includes('_ratio_') ? { [path]: value } : {};
  });
  return Object.assign({}, ...found);
}

/** The measured ratios that are more than the tolerated share above their last record. */
export function ratioLosses(history: readonly HistoryEntry[], measured: Ratios): RatioLoss[] {
  return Object.entries(measured).flatMap(([name, value]) => {
    const last = history.findLast(({ ratios }) => ratios[name] !== undefined);
    const recorded = last?.ratios[name];
    if (last === undefined || recorded === undefined || value <= recorded * (1 + toleratedLoss)) return [];
    return [{ name, recorded, date: last.date, measured: value }];
  });
}

/** The lower of each ratio of two runs: what disturbs a run makes a ratio worse as often as better, a loss stays. */
export function lowerRatios(a: Ratios, b: Ratios): Ratios {
  const names = new Set([...Object.keys(a), ...Object.keys(b)]);
  const infinite = Number.POSITIVE_INFINITY;
  return Object.fromEntries([...names].map((name) => [name, Math.min(a[name] ?? infinite, b[name] ?? infinite)]));
}
