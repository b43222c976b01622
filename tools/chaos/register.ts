import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Toevoeging } from '../../core/addresses/address-item.ts';
import { comparePlaces, type Place } from '../../core/place-fields.ts';
import { type MutationGroup, writeMutationDelivery } from '../../test/support/mutation-delivery.ts';
import type { Voorkomens } from '../../test/support/stand-xml.ts';
import { dateInName, writeExtract } from '../../test/support/write-extract.ts';
import { block, peildatumAfter, relatiesOf } from '../bench/generator/country.ts';
import { passDay } from '../bench/generator/pass-day.ts';
import { Random } from '../bench/generator/random.ts';
import { truthOf } from '../bench/generator/truth.ts';

/** What the table holds under one key, in the form of its items. */
export type Row = { places: Place[]; toevoegingen?: Toevoeging[] };

/**
 * The register on one date: as an extract, as the mutations since the day before, and what a table
 * of it has to hold.
 */
export type State = {
  peildatum: string;
  extract: string;
  mutations: string | null;
  table: Map<string, Row>;
};

const occurrences = 3_000;

/**
 * How many times the changes of one day in the real register are made: from a quiet day to one that
 * the guard refuses. A day of the real register changes 2 of so few addresses.
 */
const sizes = [1, 10, 40, 150, 400];

/**
 * `count` successive days of one register, written into `folder`. The same seed gives the same
 * files.
 */
export async function writeRegister(folder: string, seed: number, count: number): Promise<State[]> {
  const random = new Random(seed, 1);
  const voorkomens = block({ seed, blocks: 1 }, 0);
  voorkomens.NUM.length = occurrences;
  voorkomens.relaties = relatiesOf(voorkomens.WPL);
  const states: State[] = [];
  for (let day = 0; day < count; day++) {
    const peildatum = peildatumAfter(day);
    const groups = day === 0 ? [] : passDays(voorkomens, random, peildatum, random.pick(sizes));
    const extract = join(folder, `extract-${peildatum}.zip`);
    await writeFile(extract, await writeExtract(peildatum, voorkomens, { perFile: 1_000 }));
    let mutations: string | null = null;
    if (day > 0) {
      const vanaf = peildatumAfter(day - 1);
      mutations = join(folder, `BAGNLDM-${dateInName(vanaf)}-${dateInName(peildatum)}.zip`);
      await writeFile(mutations, await writeMutationDelivery(vanaf, peildatum, groups, voorkomens));
    }
    states.push({ peildatum, extract, mutations, table: tableOf(voorkomens, peildatum) });
  }
  return states;
}

function passDays(
  voorkomens: Voorkomens,
  random: Random,
  date: string,
  times: number,
): MutationGroup[] {
  const groups: MutationGroup[] = [];
  for (let time = 0; time < times; time++) groups.push(...passDay(voorkomens, random, date));
  return withoutStepsBetween(groups);
}

/** An object that was changed twice on a day has only the last of the two changes in a delivery. */
function withoutStepsBetween(groups: MutationGroup[]): MutationGroup[] {
  const made = new Map<unknown, MutationGroup['changes'][number]>();
  return groups.flatMap(({ kind, changes }) => {
    const left = changes.filter((change) => {
      const earlier = change.was && made.get(change.was);
      if (earlier) earlier.wordt = change.wordt;
      made.set(change.wordt, earlier ?? change);
      return !earlier;
    });
    return left.length > 0 ? [{ kind, changes: left }] : [];
  });
}

function tableOf(voorkomens: Voorkomens, peildatum: string): Map<string, Row> {
  const table = new Map<string, Row>();
  const groups = new Map<string, string[]>();
  for (const [key, places] of truthOf(voorkomens, peildatum).addresses) {
    table.set(key, { places: places.map(placeOf).sort(comparePlaces) });
    const bare = key.slice(0, key.lastIndexOf('#') + 1);
    groups.set(bare, [...(groups.get(bare) ?? []), key]);
  }
  for (const [bare, keys] of groups) {
    if (keys.every((key) => key === bare)) continue;
    const toevoegingen = keys.sort().map((key) => key.slice(bare.length) || null);
    table.set(bare, { places: [], ...table.get(bare), toevoegingen });
  }
  return table;
}

function placeOf(text: string): Place {
  const [straat = '', woonplaats = '', gemeente = '', ids = ''] = text.split('\t');
  return { straat, woonplaats, gemeente, nummeraanduidingen: ids.split(',') };
}
