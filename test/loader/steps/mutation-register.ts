import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Place } from '../../../core/place-fields.ts';
import { dynamoDbAddressTable } from '../../../loader/storage/address-table.ts';
import { Random } from '../../../tools/bench/generator/random.ts';
import { type MutationGroup, writeMutationDelivery } from '../../support/mutation-delivery.ts';
import { dateAfter, firstState, laterDays, type RegisterDay, withObjecten } from '../../support/register.ts';
import type { Voorkomens } from '../../support/stand-xml.ts';
import { type Packing, writeExtract } from '../../support/write-extract.ts';
import type { LoadBench } from './load-bench.ts';

/** The date of the first state of every `Register`. */
export const start = '2026-01-08';

/** `08012026` of `2026-01-08`, as in the names of deliveries. */
export function digitsOf(date: string): string {
  return `${date.slice(8)}${date.slice(5, 7)}${date.slice(0, 4)}`;
}

/** The name of the delivery between two dates. */
export function deliveryName(vanaf: string, tot: string): string {
  return `BAGNLDM-${digitsOf(vanaf)}-${digitsOf(tot)}.zip`;
}

/** A register, its extract on the first date, and a folder with a delivery for each day after it. */
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
  async write(
    vanaf: string,
    tot: string,
    groups: readonly MutationGroup[],
    { name = deliveryName(vanaf, tot), ...contents }: { name?: string } & Pick<Voorkomens, 'relaties'> = {},
  ): Promise<string> {
    await mkdir(this.mutations, { recursive: true });
    const file = join(this.mutations, name);
    const state = this.days.find(({ date }) => date === tot)?.state;
    await writeFile(file, await writeMutationDelivery(vanaf, tot, groups, { ...state, ...contents }));
    return file;
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

/** A table with its storage, and what it holds. */
export async function newDataset(bench: LoadBench) {
  const { table, bucket } = await bench.newPlace();
  const addresses = dynamoDbAddressTable(bench.client, table);
  const options = { storage: bench.storageIn(bucket), addresses, workers: 0, waiveSize: true };
  const content = async (): Promise<[string, Place[]][]> =>
    [...(await bench.addressesIn(table))].sort(([a], [b]) => (a < b ? -1 : 1));
  return { options, content, addresses };
}
