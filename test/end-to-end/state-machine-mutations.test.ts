import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Random } from '../../tools/bench/generator/random.ts';
import { type StateMachineBench, startStateMachineBench } from '../loader/state-machine-bench.ts';
import { ofKind, states, ways } from '../loader/what-happened.ts';
import { inSweep } from '../support/in-sweep.ts';
import { type MutationGroup, writeMutationDelivery } from '../support/mutation-delivery.ts';
import { dateAfter, firstState, laterDays, type RegisterDay } from '../support/register.ts';
import type { Voorkomens } from '../support/stand-xml.ts';
import { writeExtract } from '../support/write-extract.ts';

let loader: StateMachineBench;
/** The first state is loaded and the list is empty. Gives the source of the extract. */
let loaded: () => Promise<string>;

const start = '2026-01-08';
const first = firstState(new Random(31), start);
const days = [...laterDays(new Random(32), first, start, 5)];
const [one, two, three, four] = days as [RegisterDay, RegisterDay, RegisterDay, RegisterDay];

beforeAll(async () => {
  loader = await startStateMachineBench({
    mutations: 's3://snapshots/uploads/bestanden.json',
    // A day may change a fifth of what a load may, and days of this small register change much of it.
    guard: { minimumAddresses: 1, maximumShare: 1 },
  });
  loaded = loader.startingPoint(async () => {
    await list([]);
    const source = await serve(start, first);
    await loader.run({ source });
    return source;
  });
});
beforeEach(() => loader.reset());
afterAll(() => loader.stop());

const { begin, toGuard, apply, release } = ways;
const ofMutations = toGuard.slice(toGuard.indexOf('Mutate'));
const subjects = () => loader.messages.map(({ subject }) => subject.replace(/^.*: /, ''));
const digits = (date: string) => `${date.slice(8)}${date.slice(5, 7)}${date.slice(0, 4)}`;

function nameOf({ date }: RegisterDay): string {
  return `BAGNLDM-${digits(dateAfter(date, -1))}-${digits(date)}.zip`;
}

/** Makes these the deliveries of the configured list, each as it is or with other contents. */
async function list(
  delivered: readonly RegisterDay[],
  contents: ReadonlyMap<RegisterDay, MutationGroup[]> = new Map(),
) {
  const members = [];
  for (const day of delivered) {
    const groups = contents.get(day) ?? day.groups;
    const bytes = await writeMutationDelivery(dateAfter(day.date, -1), day.date, groups, day.state);
    await loader.storage.put(`uploads/${nameOf(day)}`, bytes);
    members.push({ naam: nameOf(day), url: nameOf(day), grootte: bytes.length });
  }
  await loader.storage.put('uploads/bestanden.json', Buffer.from(JSON.stringify(members)));
}

async function serve(date: string, state: Voorkomens): Promise<string> {
  return loader.server.serve('lvbag-extract-nl.zip', await writeExtract(date, state));
}

const tables = new Map<string, Awaited<ReturnType<StateMachineBench['addresses']>>>();

/** What the table holds after the extract of a day alone. */
async function tableOfDay({ date, state }: RegisterDay) {
  const known = tables.get(date);
  if (known) return known;
  await list([]);
  await loader.run({ source: await serve(date, state) });
  const table = await loader.addresses();
  await loader.reset();
  tables.set(date, table);
  return table;
}

describe('the daily execution with mutations configured', () => {
  it('loads an extract, looks for later mutations, and sends a message that the extract is live', async () => {
    await list([]);
    const execution = await loader.run({ source: await serve(start, first), again: true });
    expect(execution).toMatchObject({ status: 'SUCCEEDED', output: { kind: 'extract', peildatum: start } });
    expect(states(execution)).toEqual([
      ...begin,
      ...toGuard,
      ...apply,
      'Discover',
      'ChooseAction',
      ...release,
      'NotifyPublished',
      'Done',
    ]);
    expect(subjects()).toEqual([`the snapshot of ${start} is live`]);
  });

  it('applies the days after an extract in the same execution', async () => {
    const expected = await tableOfDay(two);
    await list([one, two]);
    const execution = await loader.run({ source: await serve(start, first) });
    expect(execution).toMatchObject({ status: 'SUCCEEDED', output: { kind: 'mutations', peildatum: two.date } });
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

  it('applies a day, then three missed days at once, then nothing', async () => {
    const [afterOne, afterFour] = [await tableOfDay(one), await tableOfDay(four)];
    const source = await loaded();
    await list([one]);
    const day = await loader.run({ source });
    expect(states(day)).toEqual([...begin, ...ofMutations, ...apply, ...release, 'NotifyPublished', 'Done']);
    expect(day).toMatchObject({ output: { kind: 'mutations', peildatum: one.date, extract: { peildatum: start } } });
    expect(await loader.addresses()).toEqual(afterOne);

    await list([one, two, three, four]);
    const missed = await loader.run({ source });
    expect(missed).toMatchObject({ status: 'SUCCEEDED', output: { peildatum: four.date } });
    expect(await loader.addresses()).toEqual(afterFour);

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

  it('brings an older extract forward to the live date with the stored days, and compares the two', async () => {
    await list([one, two, three]);
    await loader.run({ source: await serve(start, first) });
    const before = await loader.addresses();
    const execution = await loader.run({ source: await serve(one.date, one.state) });
    expect(execution).toMatchObject({
      status: 'SUCCEEDED',
      output: {
        kind: 'extract',
        peildatum: three.date,
        extract: { peildatum: one.date },
        audit: { added: 0, changed: 0, removed: 0 },
      },
    });
    expect(states(execution)).toEqual([
      ...begin,
      ...toGuard,
      ...apply,
      'Discover',
      'ChooseAction',
      ...release,
      'NotifyPublished',
      'Done',
    ]);
    expect(await loader.addresses()).toEqual(before);
  });

  it('plans a day without a write', async () => {
    const source = await loaded();
    const before = await loader.addresses();
    await list([one]);
    const execution = await loader.run({ source, planOnly: true });
    expect(execution).toMatchObject({ output: { outcome: 'planned', peildatum: one.date, days: [nameOf(one)] } });
    expect(await loader.addresses()).toEqual(before);
  });
});

describe("an execution that can't apply a day", () => {
  const isNot = (kind: string) => (group: MutationGroup) => group.kind !== kind;
  const other = [...laterDays(new Random(99), firstState(new Random(98), start), start, 8)]
    .flatMap(({ groups }) => groups)
    .filter(({ changes }) => changes.some(({ was }) => was));

  it.each([
    ['a gap in the list', 'MutationGapError', `No mutations follow ${start}`, () => list([two, three])],
    [
      'an HTML page instead of the list',
      'SourceError',
      'returned a web page instead of a list of mutations',
      () => loader.storage.put('uploads/bestanden.json', Buffer.from('<!DOCTYPE html>')),
    ],
    [
      'a list that names another size',
      'SourceError',
      'it is cut off, or was just replaced',
      async () => {
        await list([one]);
        await loader.storage.put(`uploads/${nameOf(one)}`, Buffer.from('cut off'));
      },
    ],
  ])('%s: reports the file and what to do to the operator, and changes nothing', async (_, error, message, damage) => {
    const source = await loaded();
    const before = await loader.addresses();
    await damage();
    const execution = await loader.run({ source });
    expect(execution).toMatchObject({ status: 'FAILED', error });
    expect(subjects().at(-1)).toBe('a load failed');
    expect(loader.messages.at(-1)?.text).toContain(message);
    expect(await loader.addresses()).toEqual(before);
  });

  it('applies the days before one that does not match, and refuses that one', async () => {
    const expected = await tableOfDay(two);
    const source = await loaded();
    await list([one, two, three, four], new Map([[three, other]]));
    const execution = await loader.run({ source });
    expect(execution).toMatchObject({ status: 'FAILED', error: 'LoadRefused' });
    expect(subjects().at(-1)).toContain('is refused; nothing was written');
    expect(loader.messages.at(-1)?.text).toContain(`objects that ${nameOf(three)} changes do not match it`);
    expect(await loader.addresses()).toEqual(expected);
  });

  inSweep('goes on to the days after one that was approved, in the same execution', async () => {
    const source = await loaded();
    await list([one, two, three, four], new Map([[three, other]]));
    await loader.run({ source });
    const [, load] = /"load": "(.+)"/.exec(loader.messages.at(-1)?.text ?? '') ?? [];
    const execution = await loader.run({ approve: load });
    expect(execution).toMatchObject({ status: 'SUCCEEDED', output: { kind: 'mutations', peildatum: four.date } });
    expect(await loader.run({ approve: load })).toMatchObject({ error: 'UnknownLoadError' });
  });

  inSweep('is corrected by the next extract automatically', async () => {
    const expected = await tableOfDay(three);
    await list([two, three]);
    expect(await loader.run({ source: await serve(start, first) })).toMatchObject({ error: 'MutationGapError' });
    const execution = await loader.run({ source: await serve(two.date, two.state) });
    expect(execution).toMatchObject({ status: 'SUCCEEDED', output: { kind: 'mutations', peildatum: three.date } });
    expect(await loader.addresses()).toEqual(expected);
  });

  inSweep('counts in the audit what a day had missed, and corrects it', async () => {
    const expected = await tableOfDay(two);
    const partial = days.map((day) => [day, day.groups.filter(isNot('NUM'))] as const).slice(0, 2);
    await list([one, two], new Map(partial));
    await loader.run({ source: await serve(start, first) });
    expect(await loader.addresses()).not.toEqual(expected);
    const execution = await loader.run({ source: await serve(two.date, two.state) });
    expect(execution).toMatchObject({ status: 'SUCCEEDED', output: { audit: { added: expect.any(Number) } } });
    expect(execution).not.toMatchObject({ output: { audit: { added: 0, changed: 0, removed: 0 } } });
    expect(await loader.addresses()).toEqual(expected);
  });

  inSweep('continues with mutations if an extract is older and the days in between are unavailable', async () => {
    await list([one, two, three]);
    await loader.run({ source: await serve(start, first) });
    const kept = await loader.storage.list('mutations/BAG');
    expect(kept).toHaveLength(3);
    await loader.storage.delete(kept);
    await list([four]);
    const execution = await loader.run({ source: await serve(one.date, one.state) });
    expect(execution).toMatchObject({ status: 'SUCCEEDED', output: { kind: 'mutations', peildatum: four.date } });
    expect(ofKind(execution, 'mapped').map(({ state }) => state)).toEqual(['Objecten', 'Join', 'Merge', 'Apply']);
  });
});
