import { Random } from '../../tools/bench/generator/random.ts';
import type { StateMachineBench } from '../loader/state-machine-bench.ts';
import { deliveryName, type MutationGroup, writeMutationDelivery } from '../support/mutation-delivery.ts';
import { dateAfter, firstState, laterDays, type RegisterDay } from '../support/register.ts';
import { StoppedError } from '../support/state-machine/state-error.ts';
import { writeExtract } from '../support/write-extract.ts';

/** The configuration of a bench for a walk: some days are refused. */
export const walkConfiguration = {
  mutations: 's3://snapshots/uploads/bestanden.json',
  thresholds: { alwaysAllowed: 7, maximumChangedShare: 0.1, maximumProblemShare: 1 },
};

/** A walk: the list as it is published so far, and executions that are killed, refused, approved and rejected. */
class Walk {
  readonly #loader: StateMachineBench;
  readonly #random: Random;
  readonly #members = new Map<string, { naam: string; url: string; grootte: number }>();
  readonly happened = { killed: 0, approved: 0, rejected: 0, corrected: 0, extracts: 0 };

  constructor(loader: StateMachineBench, random: Random) {
    this.#loader = loader;
    this.#random = random;
  }

  async publish({ date, groups, state }: RegisterDay, contents: readonly MutationGroup[] = groups): Promise<void> {
    const naam = deliveryName(dateAfter(date, -1), date);
    const bytes = await writeMutationDelivery(dateAfter(date, -1), date, contents, state);
    const url = `${bytes.length}-${naam}`;
    await this.#loader.storage.put(`uploads/${url}`, bytes);
    this.#members.set(date, { naam, url, grootte: bytes.length });
    await this.#loader.storage.put('uploads/bestanden.json', Buffer.from(JSON.stringify([...this.#members.values()])));
  }

  /** Runs the daily check until it ends by itself; what is refused is decided at random, or `approved`. */
  async check(source: string, { approved = false } = {}): Promise<void> {
    if (this.#random.chance(0.25)) await this.#kill(source);
    for (;;) {
      const { status, error } = (await this.#loader.run({ source })) as { status: string; error?: string };
      if (status === 'SUCCEEDED') return;
      if (error !== 'LoadRefused') throw new Error(`An execution ended with ${error}.`);
      const [, load] = /"load": "(.+)"/.exec(this.#loader.messages.at(-1)?.text ?? '') ?? [];
      if (approved || this.#random.chance(0.7)) {
        this.happened.approved++;
        await this.#decide({ approve: load });
        continue;
      }
      this.happened.rejected++;
      await this.#decide({ reject: load });
    }
  }

  async #decide(input: Record<string, unknown>): Promise<void> {
    const { status, error, cause } = (await this.#loader.run(input)) as Record<string, unknown>;
    // The days after an approved one may be refused as well.
    if (status !== 'SUCCEEDED' && error !== 'LoadRefused')
      throw new Error(`${JSON.stringify(input)} ended as ${status}: ${error} ${cause}`);
  }

  async #kill(source: string): Promise<void> {
    this.happened.killed++;
    const step = this.#random.pick(['discover', 'mutate', 'merge', 'guard', 'apply', 'publish']);
    this.#loader.replace(step, async (event, real) => {
      if (this.#random.chance(0.5)) await real(event);
      throw new StoppedError();
    });
    await this.#loader.run({ source });
    this.#loader.replace(step);
    this.#loader.executions.pass(20);
  }
}

/** A walk over `days` days of a register of `objects` nummeraanduidingen; the first is the one after `start`. */
export type WalkPlan = { seed: number; start: string; days: number; objects: number };

/**
 * Days of mutations by the state machine, with kills, corrections, rejections, approvals and extracts. Returns how
 * often each of these was, the table that they led to, and that of the last extract alone.
 */
export async function walkDays(loader: StateMachineBench, { seed, start, days: count, objects }: WalkPlan) {
  await loader.reset();
  const random = new Random(seed);
  const first = firstState(random, start, objects);
  const days = [...laterDays(random, first, start, count)];
  const stateOf = (date: string) => days.find((day) => day.date === date)?.state ?? first;
  const extractOf = async (date: string) =>
    loader.server.serve('lvbag-extract-nl.zip', await writeExtract(date, stateOf(date)));
  const walk = new Walk(loader, random);
  const noDays = () => loader.storage.put('uploads/bestanden.json', Buffer.from('[]'));
  await noDays();
  let source = await extractOf(start);
  await walk.check(source);
  for (const [index, day] of days.entries()) {
    const isCorrected = random.chance(0.15) && day.groups.length > 1;
    if (isCorrected) await walk.publish(day, day.groups.slice(1));
    else await walk.publish(day);
    if (index < count - 1 && random.chance(0.3)) continue; // the days come together
    await walk.check(source);
    if (isCorrected) {
      walk.happened.corrected++;
      await walk.publish(day);
      await walk.check(source);
    }
    if (random.chance(0.1) || index === count - 1) {
      walk.happened.extracts++;
      source = await extractOf(day.date);
      await walk.check(source, { approved: index === count - 1 });
    }
  }
  const found = await loader.addresses();
  await loader.reset();
  await noDays();
  await loader.run({ source: await extractOf(dateAfter(start, count)) });
  return { happened: walk.happened, found, expected: await loader.addresses() };
}
