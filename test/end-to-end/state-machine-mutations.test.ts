import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Random } from '../../tools/bench/generator/random.ts';
import { startStateMachineBench } from '../loader/state-machine-bench.ts';
import { states, ways } from '../loader/what-happened.ts';
import {
  deliveryName,
  type MutationGroup,
  writeMutationDelivery,
} from '../support/mutation-delivery.ts';
import { dateAfter, firstState, laterDays, type RegisterDay } from '../support/register.ts';
import type { Voorkomens } from '../support/stand-xml.ts';
import { startForTests } from '../support/start-for-tests.ts';
import { writeExtract } from '../support/write-extract.ts';

/** The first state is loaded and the list is empty. Gives the source of the extract. */
let loaded: () => Promise<string>;

const start = '2026-01-08';
const first = firstState(new Random(31), start);
const days = [...laterDays(new Random(32), first, start, 5)];
const [one, two, three, four] = days as [RegisterDay, RegisterDay, RegisterDay, RegisterDay];

const loader = startForTests(() =>
  startStateMachineBench({
    mutations: 's3://snapshots/sources/bestanden.json',
    // A day may change a fifth of what a load may, and days of this small register change much of
    // it.
    guard: { minimumAddresses: 1, maximumShare: 1 },
  }),
);
beforeAll(() => {
  loaded = loader.startingPoint(async () => {
    await list([]);
    const source = await serve(start, first);
    await loader.run({ source });
    return source;
  });
});
beforeEach(() => loader.reset());

const { begin, toGuard, apply, release } = ways;
const ofMutations = toGuard.slice(toGuard.indexOf('Mutate'));
const subjects = () => loader.messages.map(({ subject }) => subject.replace(/^.*: /, ''));
const nameOf = ({ date }: RegisterDay) => deliveryName(dateAfter(date, -1), date);

/** Makes these the deliveries of the configured list, each as it is or with other contents. */
async function list(
  delivered: readonly RegisterDay[],
  contents: ReadonlyMap<RegisterDay, MutationGroup[]> = new Map(),
) {
  const members = [];
  for (const day of delivered) {
    const groups = contents.get(day) ?? day.groups;
    const bytes = await writeMutationDelivery(dateAfter(day.date, -1), day.date, groups, day.state);
    await loader.storage.put(`sources/${nameOf(day)}`, bytes);
    members.push({ naam: nameOf(day), url: nameOf(day), grootte: bytes.length });
  }
  await loader.storage.put('sources/bestanden.json', Buffer.from(JSON.stringify(members)));
}

async function serve(date: string, state: Voorkomens): Promise<string> {
  return loader.server.serve('lvbag-extract-nl.zip', await writeExtract(date, state));
}

/** What the table holds after the extract of a day alone. */
async function tableOfDay({ date, state }: RegisterDay) {
  await list([]);
  await loader.run({ source: await serve(date, state) });
  const table = await loader.addresses();
  await loader.reset();
  return table;
}

describe('the daily execution with mutations configured', () => {
  it('applies the days after an extract in the same execution', async () => {
    const expected = await tableOfDay(two);
    await list([one, two]);
    const execution = await loader.run({ source: await serve(start, first) });
    expect(execution).toMatchObject({
      status: 'SUCCEEDED',
      output: { kind: 'mutations', peildatum: two.date },
    });
    expect(states(execution)).toEqual([
      ...begin,
      ...toGuard,
      ...apply,
      'Discover',
      'ChooseAction',
      ...ofMutations,
      ...apply,
      ...release,
      'NotifyPublished',
      'Done',
    ]);
    expect(await loader.addresses()).toEqual(expected);
  });

  it('applies a day, and then nothing', async () => {
    const expected = await tableOfDay(one);
    const source = await loaded();
    await list([one]);
    const day = await loader.run({ source });
    expect(states(day)).toEqual([
      ...begin,
      ...ofMutations,
      ...apply,
      ...release,
      'NotifyPublished',
      'Done',
    ]);
    expect(day).toMatchObject({
      output: { kind: 'mutations', peildatum: one.date, extract: { peildatum: start } },
    });
    expect(await loader.addresses()).toEqual(expected);

    loader.takeOperations();
    const told = subjects().length;
    expect(states(await loader.run({ source }))).toEqual([...begin, ...release, 'Done']);
    expect(loader.takeOperations()).toEqual({
      GetItem: expect.any(Number),
      BatchGetItem: 1,
      PutItem: 1,
      DeleteItem: 1,
    });
    expect(subjects()).toHaveLength(told);
  });
});

describe("an execution that can't apply a day", () => {
  it('reports a gap in the list to the operator, and changes nothing', async () => {
    const source = await loaded();
    const before = await loader.addresses();
    await list([two, three]);
    expect(await loader.run({ source })).toMatchObject({
      status: 'FAILED',
      error: 'MutationGapError',
    });
    expect(subjects().at(-1)).toBe('a load failed');
    expect(loader.messages.at(-1)?.text).toContain(`No mutations follow ${start}`);
    expect(await loader.addresses()).toEqual(before);
  });

  it('applies the days before one that does not match, refuses that one, and goes on once it is approved', async () => {
    const other = [...laterDays(new Random(99), firstState(new Random(98), start), start, 8)]
      .flatMap(({ groups }) => groups)
      .filter(({ changes }) => changes.some(({ was }) => was));
    const expected = await tableOfDay(two);
    const source = await loaded();
    await list([one, two, three, four], new Map([[three, other]]));
    const execution = await loader.run({ source });
    expect(execution).toMatchObject({ status: 'FAILED', error: 'LoadRefused' });
    expect(subjects().at(-1)).toContain('is refused; nothing was written');
    expect(loader.messages.at(-1)?.text).toContain(
      `objects that ${nameOf(three)} changes do not match it`,
    );
    expect(await loader.addresses()).toEqual(expected);

    const [, load] = /"load": "(.+)"/.exec(loader.messages.at(-1)?.text ?? '') ?? [];
    const approved = await loader.run({ approve: load });
    expect(approved).toMatchObject({
      status: 'SUCCEEDED',
      output: { kind: 'mutations', peildatum: four.date },
    });
  });
});
