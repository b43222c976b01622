import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { ManifestEntry } from '../../loader/dataset/load.ts';
import { readManifest } from '../../loader/steps/manifest.ts';
import { type MutationGroup, writeExtract, writeMutationDelivery } from '../../local/demo/write-extract.ts';
import { Random } from '../bench/generator/random.ts';
import { type StateMachineBench, startStateMachineBench } from '../loader/state-machine-bench.ts';
import { dateAfter, firstState, laterDays, type RegisterDay } from '../support/register.ts';
import { StoppedError } from '../support/state-machine/errors.ts';

let loader: StateMachineBench;

beforeAll(async () => {
  loader = await startStateMachineBench({
    mutations: 's3://snapshots/uploads/bestanden.json',
    // So that some days are refused.
    guard: { minimumAddresses: 1, alwaysAllowed: 7, maximumChangedShare: 0.1, maximumProblemShare: 1 },
  });
}, 60_000);
afterAll(() => loader.stop());

const start = '2026-01-08';
const count = 40;
const digits = (date: string) => `${date.slice(8)}${date.slice(5, 7)}${date.slice(0, 4)}`;

/** A walk: the list as it is published so far, and executions that are killed, refused, approved and rejected. */
class Walk {
  readonly #random: Random;
  readonly #members = new Map<string, { naam: string; url: string; grootte: number }>();
  readonly happened = { killed: 0, approved: 0, rejected: 0, corrected: 0, extracts: 0 };

  constructor(random: Random) {
    this.#random = random;
  }

  async publish({ date, groups }: RegisterDay, contents: readonly MutationGroup[] = groups): Promise<void> {
    const naam = `BAGNLDM-${digits(dateAfter(date, -1))}-${digits(date)}.zip`;
    const bytes = await writeMutationDelivery(dateAfter(date, -1), date, contents);
    const url = `${bytes.length}-${naam}`;
    await loader.storage.put(`uploads/${url}`, bytes);
    this.#members.set(date, { naam, url, grootte: bytes.length });
    await loader.storage.put('uploads/bestanden.json', Buffer.from(JSON.stringify([...this.#members.values()])));
  }

  /** Runs the daily check until it ends by itself; what is refused is decided at random. */
  async check(source: string): Promise<void> {
    if (this.#random.chance(0.25)) await this.#kill(source);
    for (;;) {
      const { status, error } = (await loader.run({ source })) as { status: string; error?: string };
      if (status === 'SUCCEEDED') return;
      expect(error).toBe('LoadRefused');
      const [, load] = /"load": "(.+)"/.exec(loader.messages.at(-1)?.text ?? '') ?? [];
      if (this.#random.chance(0.7)) {
        this.happened.approved++;
        expect(await loader.run({ approve: load })).toMatchObject({ status: 'SUCCEEDED' });
        continue;
      }
      this.happened.rejected++;
      expect(await loader.run({ reject: load })).toMatchObject({ status: 'SUCCEEDED' });
    }
  }

  async #kill(source: string): Promise<void> {
    this.happened.killed++;
    const step = this.#random.pick(['discover', 'mutate', 'merge', 'guard', 'apply', 'publish']);
    loader.replace(step, async (event, real) => {
      if (this.#random.chance(0.5)) await real(event);
      throw new StoppedError();
    });
    await loader.run({ source });
    loader.replace(step);
    loader.executions.pass(20);
  }
}

const live = async () => (await readManifest(loader.storage)).published as ManifestEntry;

describe('forty days with kills, corrections, rejections and extracts', () => {
  it.each([41, 42])(
    'end with exactly the table of the last extract (seed %i)',
    async (seed) => {
      await loader.reset();
      const random = new Random(seed);
      const first = firstState(random, start);
      const days = [...laterDays(random, first, start, count)];
      const stateOf = (date: string) => days.find((day) => day.date === date)?.state ?? first;
      const extractOf = async (date: string) =>
        loader.server.serve('lvbag-extract-nl.zip', await writeExtract(date, stateOf(date)));
      const walk = new Walk(random);
      await loader.storage.put('uploads/bestanden.json', Buffer.from('[]'));
      let source = await extractOf(start);
      await walk.check(source);
      for (const [index, day] of days.entries()) {
        const isCorrected = random.chance(0.15) && day.groups.length > 1;
        if (isCorrected) await walk.publish(day, day.groups.slice(1));
        else await walk.publish(day);
        if (random.chance(0.3)) continue; // the days come together
        await walk.check(source);
        if (isCorrected) {
          walk.happened.corrected++;
          await walk.publish(day);
          await walk.check(source);
        }
        if (random.chance(0.1) || index === count - 1) {
          walk.happened.extracts++;
          source = await extractOf(day.date);
          await walk.check(source);
        }
      }
      const last = days.at(-1) as RegisterDay;
      expect(await live()).toMatchObject({ peildatum: last.date });
      const found = await loader.addresses();
      await loader.reset();
      await loader.storage.put('uploads/bestanden.json', Buffer.from('[]'));
      await loader.run({ source: await extractOf(last.date) });
      expect(found).toEqual(await loader.addresses());
      expect(Object.values(walk.happened).every((times) => times > 0)).toBe(true);
    },
    120_000,
  );
});
