import { largestPlace } from '../../loader/guard/limits.ts';
import type { Objection } from '../../loader/guard/objections.ts';
import type { Benchmark, Figures } from './benchmark.ts';
import { countryOf, sixTowns, smallMunicipality, weesp } from './generator/datasets.ts';
import { GuardedDataset } from './generator/guarded.ts';
import { healthyDatasets } from './generator/healthy.ts';
import {
  isShared,
  isWithinLimits,
  nameOfWrong,
  namesColumn,
  wrongChanges,
  wrongDatasets,
} from './generator/wrong.ts';
import { askedInYear } from './generator/year.ts';

/** What the guard said of the generated datasets onto one right one. */
type Row = {
  dataset: string;
  addresses: number;
  wrong: number;
  refused: number;
  within_limits: number;
  healthy: number;
  asked: number;
};

const days = 365;

/**
 * Datasets in which a column is wrong, and healthy ones, each onto the right one: what the guard
 * says of them. The right ones are towns, and a share of the simulated country.
 */
export const benchmark: Benchmark = {
  // The guard holds a whole dataset to the share of a woonplaats from 500,000 addresses on.
  scale: 0.1,
  async run({ scale }) {
    const right = { weesp, sixTowns, smallMunicipality, country: () => countryOf(scale) };
    const broken: string[] = [];
    const rows = Object.entries(right).map(([name, make]) => judged(name, make, broken));
    const { daily, monthly } = askedInYear(1, 0, days);
    const asked = daily.length + monthly.length;
    if (asked > 0) broken.push(`A simulated year has ${asked} questions: ${textOf(daily[0])}`);
    return {
      scale,
      rows,
      days,
      asked_in_days: daily.length,
      asked_in_months: monthly.length,
      broken,
    };
  },
  table: ({ rows, days: _, asked_in_days, asked_in_months }) => [
    ...(rows as Row[]),
    { dataset: `a year of ${days} days`, asked: Number(asked_in_days) + Number(asked_in_months) },
  ],
  broken: ({ broken }: Figures) => broken as string[],
};

const textOf = (objections: readonly Objection[] = []) => objections[0]?.message ?? '';

function judged(
  name: string,
  make: () => ConstructorParameters<typeof GuardedDataset>[0],
  broken: string[],
): Row {
  const dataset = new GuardedDataset(make());
  const { length } = dataset.rows;
  const row: Row = {
    dataset: name,
    addresses: length,
    wrong: 0,
    refused: 0,
    within_limits: 0,
    healthy: 0,
    asked: 0,
  };
  for (const wrong of wrongDatasets) {
    if (wrong.extent === 'all' && length > largestPlace && !isShared(wrong)) continue;
    const changes = wrongChanges(dataset, wrong);
    if (!changes) continue;
    const result = dataset.guard(changes);
    const { objections } = result;
    const of = `${name} with ${nameOfWrong(wrong)}`;
    console.error(`${of}: ${textOf(objections) || 'no objection'}`);
    row.wrong++;
    if (objections.length === 0) {
      if (isWithinLimits(wrong, dataset, changes)) row.within_limits++;
      else {
        broken.push(`${of} would be published without a question.`);
      }
    } else if (namesColumn(wrong, result)) {
      row.refused++;
    } else {
      broken.push(`${of} is refused for another reason: ${textOf(objections)}`);
    }
  }
  for (const healthy of healthyDatasets) {
    const changes = healthy.changes(dataset);
    if (!changes) continue;
    const { objections } = dataset.guard(changes, healthy.load);
    row.healthy++;
    if (objections.length === 0) continue;
    row.asked++;
    broken.push(`${name} with ${healthy.name} is refused: ${textOf(objections)}`);
  }
  return row;
}
