import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Random } from '../../../tools/bench/generator/random.ts';
import { type MutationGroup, putDelivery } from '../../support/mutation-delivery.ts';
import {
  dateAfter,
  firstState,
  laterDays,
  type RegisterDay,
  withObjecten,
} from '../../support/register.ts';
import type { Voorkomens } from '../../support/stand-xml.ts';
import { type Packing, writeExtract } from '../../support/write-extract.ts';
import type { LoadBench } from './load-bench.ts';

/** The date of the first state of every `Register`. */
export const start = '2026-01-08';

/**
 * A register, its extract on the first date, and a folder with a delivery for each day after it.
 */
export class Register {
  readonly days: RegisterDay[];
  readonly first: Voorkomens;
  readonly #folder: string;
  readonly mutations: string;

  constructor(bench: LoadBench, seed: number, count: number, objects = 40, objecten = false) {
    const random = new Random(seed);
    const first = firstState(random, start, objects);
    this.first = objecten ? withObjecten(random, first, start) : first;
    this.days = [...laterDays(random, this.first, start, count)];
    this.#folder = bench.newFolder();
    this.mutations = join(this.#folder, 'mutations');
  }

  async deliver(days: readonly RegisterDay[] = this.days): Promise<void> {
    for (const { date, groups } of days) await this.write(dateAfter(date, -1), date, groups);
  }

  /** Writes a delivery of any contents, under its own name or another one. Returns its path. */
  write(
    vanaf: string,
    tot: string,
    groups: readonly MutationGroup[] = [],
    contents: Parameters<typeof putDelivery>[4] = {},
  ): Promise<string> {
    const state = this.days.find(({ date }) => date === tot)?.state;
    return putDelivery(this.mutations, vanaf, tot, groups, { ...state, ...contents });
  }

  /** The path of the extract of a date. */
  extract(date = start, packing: Packing = {}): Promise<string> {
    const state = date === start ? this.first : this.days.find((day) => day.date === date)?.state;
    return this.extractOf(date, state as Voorkomens, packing);
  }

  /** The path of an extract of any contents. */
  async extractOf(date: string, state: Voorkomens, packing: Packing = {}): Promise<string> {
    const file = join(this.#folder, `extract-${date}.zip`);
    await writeFile(file, await writeExtract(date, state, packing));
    return file;
  }
}
