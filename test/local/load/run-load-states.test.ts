import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { PutItemCommand } from '@aws-sdk/client-dynamodb';
import { describe, expect, it } from '@jest/globals';
import { addressesTable } from '../../../core/tables.ts';
import type { ChangeFile } from '../../../loader/dataset/load.ts';
import { noProgress } from '../../../loader/steps/step.ts';
import { s3Client } from '../../../loader/storage/s3.ts';
import { findJson, paths } from '../../../loader/storage/storage.ts';
import { loadHistory, loadStatus, readManifest } from '../../../loader/storage/stored-loads.ts';
import { loadExtract } from '../../../local/dataset.ts';
import { type Dataset, startLoadBench } from '../../loader/steps/load-bench.ts';
import type { LoadProcess } from '../../loader/steps/load-process.ts';
import { february, january, type Month, march, tableOf } from '../../loader/steps/months.ts';
import { watched } from '../../loader/steps/watched.ts';
import { inSweep } from '../../support/in-sweep.ts';
import { startForTests } from '../../support/start-for-tests.ts';
import { isFullSweep } from '../../support/sweep.ts';

/**
 * The state of a storage and its table between two writes. `L` is February, which is live at first;
 * `P` is March, which a load writes, and `K` is January, which a rollback returns to.
 */
type State = {
  published: Name;
  pending: Name | null;
  /** Whether the pending entry undoes a load, and which. */
  undoes: Name | null;
  /** The entry that the item `#dataset` names. */
  label: 'published' | 'pending' | 'undone' | 'unknown';
  /** Whether a repair has already done the changes of the pending entry. */
  isRepaired: boolean;
  /** What the table holds: all of a month, or something between two. */
  table: Name | 'between';
};
type Name = 'K' | 'L' | 'P';

const months: Record<Name, Month> = { K: january, L: february, P: march };
const names = Object.keys(months) as Name[];
const nameOf = (peildatum: string) =>
  names.find((name) => months[name].peildatum === peildatum) as Name;
const tables = names.map((name) => [name, contentOf(tableOf(months[name]))] as const);

function contentOf(table: ReadonlyMap<string, unknown>): string {
  return JSON.stringify([...table].sort(([a], [b]) => (a < b ? -1 : 1)));
}

const bench = startForTests(async () => {
  const started = await startLoadBench();
  // `npm start` opens the storage of a dataset by its location.
  started.answer(s3Client());
  return started;
});

/** One owner, whose lock does not stand in the way of the next command. */
const small = { owner: 'npm start', changesPerFile: 2, waiveSize: true, keep: 9 };

async function stateOf({ storage, addresses }: Dataset, served: string): Promise<State> {
  const { published, pending } = await readManifest(storage);
  const { load } = (await addresses.dataset()) ?? {};
  const entries = {
    published: published?.load,
    pending: pending?.load,
    undone: pending?.undoes,
  };
  const [label = 'unknown'] = Object.entries(entries).flatMap(([name, one]) =>
    one === load ? [name as State['label']] : [],
  );
  const files = pending && (await findJson<ChangeFile[]>(storage, paths.changeFiles(pending.load)));
  const undone = pending?.undoes?.slice(0, '2026-01-08'.length);
  return {
    published: nameOf(published?.peildatum ?? ''),
    pending: pending && nameOf(pending.peildatum),
    undoes: undone === undefined ? null : nameOf(undone),
    label,
    isRepaired: files?.length === 0,
    table: tables.find(([, content]) => content === served)?.[0] ?? 'between',
  };
}

const textOf = ({ published, pending, undoes, label, isRepaired, table }: State) =>
  `${published} is published, ${pending ?? 'nothing'} pending${undoes ? `, which undoes ${undoes}` : ''}${isRepaired ? ' and repaired' : ''}; the label is ${label}, the table ${table}`;

/** Each command, as a person or the daily check gives it. */
const commands = {
  run: (left, ports) => left.load({ ...ports, month: march }),
  'run --again': (left, ports) => left.load({ ...ports, month: march, again: true }),
  'run --finish': async (left, ports) => {
    const { pending } = await loadStatus(left.options);
    return pending ? left.load({ ...ports, approve: pending.load }) : 'nothing to finish';
  },
  'rollback to published': async (left, ports) => {
    const { published } = await readManifest(left.storage);
    return left.load({ ...ports, rollback: published?.load });
  },
  'another rollback': (left, ports) => left.load({ ...ports, rollback: january.peildatum }),
  repair: (left, ports) => left.repair(ports),
  status: (left) => loadStatus(left.options),
  history: (left) => loadHistory(left.options),
  'npm start': (left) =>
    loadExtract({
      client: bench.client,
      table: left.table,
      storageFolder: `s3://${left.bucket}`,
      demoFile: '/nowhere/demo.zip',
      progress: noProgress,
      announce: () => undefined,
    }),
  // Its label is a load of the history, which is not live any more.
  'a backup of the table is restored': async (left) => {
    const { history } = await readManifest(left.storage);
    const { load = '', peildatum = '' } =
      history.find((one) => one.peildatum === january.peildatum) ?? {};
    const { partitionKey, datasetKey, datasetDate } = addressesTable;
    const label = { [partitionKey]: { S: datasetKey }, [datasetDate]: { S: peildatum } };
    const Item = { ...label, load: { S: load } };
    await bench.client.send(new PutItemCommand({ TableName: left.table, Item }));
  },
} satisfies Record<string, (left: Dataset, ports: Ports) => Promise<unknown>>;
type Ports = Pick<Dataset, 'storage' | 'addresses'>;
type Command = keyof typeof commands;

/** The state that a command leads to, or the error that refuses it. */
function expected(state: State, command: Command): Partial<State> | string {
  const { published, pending, undoes, label } = state;
  const settled = (name: Name) =>
    ({ published: name, pending: null, label: 'published', table: name }) as const;
  const target = pending ?? published;
  if (command === 'a backup of the table is restored') return { ...state, label: 'unknown' };
  if (command === 'repair') {
    return pending
      ? { ...state, label: 'pending', isRepaired: true, table: pending }
      : settled(published);
  }
  if (command === 'npm start') return settled(target);
  if (label === 'unknown') return 'ForeignStorageError';
  switch (command) {
    case 'run':
      // What was undone is not loaded again unless a person asks for it.
      return settled(undoes === 'P' ? target : 'P');
    case 'run --again':
      return settled('P');
    case 'run --finish':
      return settled(target);
    case 'rollback to published':
      return settled(published);
    case 'another rollback':
      if (!pending) return settled('K');
      return pending === 'K' ? settled('K') : 'PendingLoadError';
    default:
      return state;
  }
}

/**
 * A dataset whose writes are followed by a look at it, if they can have led to another state: of
 * the manifest, of the changes of a load, or of the table.
 */
function lookedAt({ storage, addresses }: Dataset, look: () => Promise<void>): Ports {
  let isOther = false;
  const other = <T>(work: Promise<T>): Promise<T> => {
    isOther = true;
    return work;
  };
  const isState = (key: string) => key === paths.manifest || key.endsWith('/changes.json');
  return watched(
    {
      ...storage,
      put: (key, ...given) => {
        const put = storage.put(key, ...given);
        return isState(key) ? other(put) : put;
      },
    },
    {
      ...addresses,
      write: (...given) => other(addresses.write(...given)),
      setDataset: (...given) => other(addresses.setDataset(...given)),
    },
    async () => {
      if (isOther) await look();
      isOther = false;
    },
  );
}

/** The commands to give in a state: all in a full sweep, else those that no other stands for. */
const commandsOf = ({ pending, label, table }: State) =>
  (Object.keys(commands) as Command[]).filter((command) => {
    if (isFullSweep || pending === null) return true;
    // They finish the load as `run --finish` does, and go on as from there.
    if (command.startsWith('run') && command !== 'run --finish') return label === 'unknown';
    return command !== 'a backup of the table is restored' || table === 'between';
  });

/** A contributor's run tries the first of the states: those after one death, and some after two. */
const mostStates = isFullSweep ? Number.POSITIVE_INFINITY : 8;

type Found = { states: number; commands: number; deaths: number };

/**
 * Gives each command in each state that a death of a command leaves, beginning with February live,
 * until no other state is found.
 */
async function giveAll(): Promise<Found> {
  const seen = new Set<string>();
  const open: [State, Dataset][] = [];
  const found: Found = { states: 0, commands: 0, deaths: 0 };
  const meet = async (dataset: Dataset) => {
    const served = contentOf(await dataset.served());
    const state = await stateOf(dataset, served);
    const key = textOf(state);
    // Once another load is published, all is as from there on as it was from the first one.
    const isFollowed =
      state.published === 'L' && (isFullSweep || ![state.pending, state.undoes].includes('K'));
    if (seen.has(key) || !isFollowed) return;
    seen.add(key);
    open.push([state, await dataset.copy()]);
  };
  await meet(await bench.after([january, february], small));
  for (let next = open.shift(); next && found.states < mostStates; next = open.shift()) {
    const [state, dataset] = next;
    found.states++;
    let left = await dataset.copy();
    for (const command of commandsOf(state)) {
      found.commands++;
      const at = left;
      const ports = lookedAt(at, async () => {
        found.deaths++;
        await meet(at);
      });
      const error = await commands[command](at, ports).then(
        () => null,
        (thrown: Error) => thrown,
      );
      const end = expected(state, command);
      const now = await stateOf(at, contentOf(await at.served()));
      const title = `${command}: ${textOf(state)}`;
      expect([title, error?.name ?? null]).toEqual([title, typeof end === 'string' ? end : null]);
      expect([title, now]).toEqual([title, typeof end === 'string' ? state : { ...now, ...end }]);
      if (typeof end === 'string' || end === state) continue;
      await meet(at);
      left = await dataset.copy();
    }
  }
  return found;
}

describe('a storage and its table in any state that a death leaves', () => {
  it('lets each command end as the state says, and lead back to what was live or on to the next', async () => {
    const { states, commands: given, deaths } = await giveAll();
    expect(states).toBeGreaterThanOrEqual(isFullSweep ? 44 : mostStates);
    expect([given > 7 * states, deaths > 10 * states]).toEqual([true, true]);
  });
});

/** Eight files of changes from one to the other, so that a process is killed between two. */
const [before, after] = ['Buitenveer', 'Binnenveer'].map(
  (straat, index): Month => ({
    peildatum: `2026-0${index + 1}-08`,
    addresses: Array.from({ length: 400 }, (_, number) => [
      `13${number % 8}1AA ${number + 1}`,
      straat,
      'Weesp',
    ]),
  }),
) as [Month, Month];

/** Runs a load in a process of its own, and kills it when it has applied so many of its files. */
async function killed(work: LoadProcess, files: number): Promise<void> {
  const script = join(import.meta.dirname, '../../loader/steps/load-process.ts');
  const child = spawn(process.execPath, [script, JSON.stringify(work)], { stdio: 'inherit' });
  const applied = () => globSync(join(work.storage, 'loads/*/applied/*')).length;
  const enough = applied() + files;
  while (applied() < enough && child.exitCode === null) await sleep(10);
  child.kill('SIGKILL');
  if (child.signalCode === null) await once(child, 'exit');
  expect(child.signalCode).toBe('SIGKILL');
}

describe('a load whose process is killed, and is undone by one that is killed too', () => {
  inSweep.each([
    { files: 1, isRepaired: true, ofUndo: 1 },
    { files: 7, isRepaired: true, ofUndo: 6 },
    { files: 3, isRepaired: false, ofUndo: 2 },
  ])('ends as if nothing had happened: %o', async ({ files, isRepaired, ofUndo }) => {
    const storage = bench.newFolder();
    const dataset = await bench.newDataset({ storage, transactions: true });
    await dataset.load({ month: before });
    const { published } = await readManifest(dataset.storage);
    const place = { endpoint: bench.endpoint, table: dataset.table, storage, transactions: true };
    await killed({ ...place, source: await bench.extractOf(after), waiveSize: true }, files);
    if (isRepaired) await dataset.repair();
    await killed({ ...place, rollback: published?.load ?? '' }, ofUndo);
    expect((await readManifest(dataset.storage)).pending).toMatchObject({
      undoes: expect.stringContaining(after.peildatum),
    });
    expect(await dataset.load({ rollback: published?.load })).toMatchObject({
      outcome: 'published',
      peildatum: before.peildatum,
    });
    expect(await dataset.served()).toEqual(tableOf(before));
    await dataset.load({ month: after, again: true, waiveSize: true });
    expect(await dataset.served()).toEqual(tableOf(after));
  });
});
