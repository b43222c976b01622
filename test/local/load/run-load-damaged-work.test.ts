import { dirname } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { beforeAll, describe, expect, it } from '@jest/globals';
import type { Storage } from '../../../loader/storage/storage.ts';
import { loadHistory, loadStatus, refusedProposals } from '../../../loader/storage/stored-loads.ts';
import { Random } from '../../../tools/bench/generator/random.ts';
import { type Dataset, startLoadBench } from '../../loader/steps/load-bench.ts';
import { february, january, type Month, march, tableOf } from '../../loader/steps/months.ts';
import { startForTests } from '../../support/start-for-tests.ts';
import { isFullSweep, sweep } from '../../support/sweep.ts';

const damages = ['truncated', 'flipped', 'empty', 'deleted', 'swapped'] as const;
type Damage = (typeof damages)[number];

const bench = startForTests(startLoadBench);
/**
 * A load of March that was planned on top of February, and one that was killed before it was
 * published.
 */
const starts: Record<'planned' | 'killed', Dataset> = {} as never;

beforeAll(async () => {
  for (const name of ['planned', 'killed'] as const) {
    starts[name] = await bench.after([january, february], { waiveSize: true });
  }
  await starts.planned.load({ planOnly: true, month: march });
  const setDataset = async () => Promise.reject(new Error('killed'));
  const addresses = { ...starts.killed.addresses, setDataset };
  await expect(starts.killed.load({ month: march, addresses })).rejects.toThrow('killed');
});

/** `neighbours` are the other objects in its folder, or all others where it is alone. */
async function damage(
  storage: Storage,
  key: string,
  how: Damage,
  at: number,
  neighbours: string[],
): Promise<void> {
  if (how === 'deleted') return storage.delete([key]);
  const from = how === 'swapped' ? (neighbours[Math.floor(neighbours.length * at)] ?? '') : key;
  const bytes = Buffer.from((await storage.get(from)) as Buffer);
  const index = Math.floor(bytes.length * at);
  if (how === 'flipped') bytes[index] = (bytes[index] ?? 0) ^ 1;
  const ends: Partial<Record<Damage, number>> = { truncated: index, empty: 0 };
  await storage.put(key, bytes.subarray(0, ends[how]));
}

type Perform = (place: Dataset, again?: boolean) => Promise<unknown>;
const commands: Record<
  'run' | 'plan' | 'status' | 'history' | 'rollback' | 'repair' | 'check',
  Perform
> = {
  run: (place, again = false) => place.load({ month: march, again }),
  plan: (place) => place.load({ planOnly: true, month: march }),
  status: async (place) => [await loadStatus(place), await refusedProposals(place.storage)],
  history: loadHistory,
  rollback: (place) => place.load({ rollback: january.peildatum }),
  repair: (place) => place.repair(),
  check: (place) => place.repair({ planOnly: true }),
};
type Command = keyof typeof commands;

/** The commands that a message tells to run, in its order. */
function advised(message: string): { command: Command; again: boolean }[] {
  const named = [...message.matchAll(/"load (run|repair)( --again)?"|run the load again/g)];
  return named.map(([, name = 'run', again]) => ({
    command: name as Command,
    again: again !== undefined,
  }));
}

/** Performs the command and what its errors advise, until it succeeds; what it said on the way. */
async function performAsAdvised(place: Dataset, command: Command): Promise<string[]> {
  const said: string[] = [];
  for (let attempt = 0; attempt < 4; attempt++) {
    try {
      await commands[command](place);
      return said;
    } catch (error) {
      const { name, message } = error as Error;
      said.push(`${name}: ${message}`);
      if (
        command === 'rollback' &&
        /No snapshot of|you can't roll back to another one|is half written/.test(message)
      ) {
        return said;
      }
      const advice = advised(message);
      if (advice.length === 0) throw new Error(`no advice: ${said.at(-1)}`, { cause: error });
      for (const { command: next, again } of advice) {
        await commands[next](place, again).catch((later) =>
          said.push(`${next}: ${later.name}: ${later.message}`),
        );
      }
    }
  }
  throw new Error(`the advice does not help: ${said.join(' / ')}`);
}

/** What the table may hold after a command, and what its errors had to be fixed by. */
function expectedAfter(start: keyof typeof starts, command: Command, said: string[]): Month[] {
  if (said.length > 0) return [january, february, march];
  if (command === 'run' || start === 'killed') return [command === 'rollback' ? january : march];
  return [command === 'rollback' ? january : february];
}

/** Takes an hour, so `.ci/run` does without it. */
const every = process.env.SWEEP === 'hours';
const seed = Number(process.env.SEED ?? 20_260_308);

describe('a stored object that is damaged or missing', () => {
  it.each(sweep(['planned', 'killed'] as const, 1))(
    `costs no address: every command succeeds, or names the object and a command that helps (seed ${seed}; a load %s)`,
    async (start) => {
      const random = new Random(seed);
      const keys = await starts[start].storage.list('');
      const cases = keys.flatMap((key) =>
        (Object.keys(commands) as Command[]).flatMap((command) =>
          damages.map((how) => ({ key, command, how, at: random.int(1000) / 1000 })),
        ),
      );
      expect(cases.length).toBeGreaterThan(500);
      const chosen = every
        ? cases
        : cases.filter(() => random.chance((isFullSweep ? 25 : 10) / cases.length));
      for (const { key, command, how, at } of chosen) {
        const name = `${key} ${how} at ${at.toFixed(2)}, ${command}`;
        const place = await starts[start].copy();
        const others = keys.filter((other) => other !== key);
        const beside = others.filter((other) => dirname(other) === dirname(key));
        await damage(place.storage, key, how, at, beside.length > 0 ? beside : others);
        const said = await performAsAdvised(place, command).catch((error: Error) => {
          throw new Error(`${name}: ${error.message}`, { cause: error });
        });
        const table = await place.served();
        const months = expectedAfter(start, command, said);
        const found = months.find((month) => isDeepStrictEqual(tableOf(month), table));
        expect([name, said, found?.peildatum]).toEqual([name, said, expect.any(String)]);
        await performAsAdvised(place, 'run');
        // What no load reads is found by a check at the latest; the table is as it has to be either
        // way.
        const report = await commands.repair(place);
        expect([name, report]).toEqual([
          name,
          expect.objectContaining({ added: 0, changed: 0, removed: 0 }),
        ]);
        expect(await commands.check(place)).toMatchObject({ rebuilt: [] });
      }
    },
    every ? 3_600_000 : 120_000,
  );
});
