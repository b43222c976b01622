import { cpSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { refusedLoads } from '../../../loader/run/refused-loads.ts';
import { repairTable } from '../../../loader/run/repair.ts';
import { planLoad, rollbackLoad, runLoad } from '../../../loader/run/run-load.ts';
import { loadHistory, loadStatus } from '../../../loader/steps/manifest.ts';
import { dynamoDbAddressTable, scanAddresses } from '../../../loader/storage/address-table.ts';
import { folderStorage } from '../../../loader/storage/files.ts';
import { Random } from '../../bench/generator/random.ts';
import { type LoadBench, startLoadBench } from './load-bench.ts';
import { february, january, type Month, march, tableOf } from './months.ts';

type Place = { table: string; storage: string };
type Command = 'run' | 'plan' | 'status' | 'history' | 'rollback' | 'repair' | 'check';
type Damage = 'truncated' | 'flipped' | 'empty' | 'deleted' | 'swapped';

let bench: LoadBench;
let source: string;
/** A load of March that was planned on top of February, and one that was killed before it was published. */
const starts: Record<'planned' | 'killed', Place> = {} as never;

const optionsOf = ({ table, storage }: Place) => ({
  storage,
  addresses: dynamoDbAddressTable(bench.client, table),
  workers: 0,
  waiveSize: true,
});

beforeAll(async () => {
  bench = await startLoadBench();
  source = await bench.extractOf(march);
  for (const name of ['planned', 'killed'] as const) {
    const place = { table: await bench.newTable(), storage: bench.newFolder() };
    for (const month of [january, february]) {
      await runLoad({ ...optionsOf(place), source: await bench.extractOf(month) });
    }
    starts[name] = place;
  }
  await planLoad({ ...optionsOf(starts.planned), source });
  const { addresses, ...options } = optionsOf(starts.killed);
  const setDataset = async () => Promise.reject(new Error('killed'));
  await expect(runLoad({ ...options, source, addresses: { ...addresses, setDataset } })).rejects.toThrow('killed');
});
afterAll(() => bench.stop());

async function copyOf(start: Place): Promise<Place> {
  const place = { table: await bench.copyTable(start.table), storage: bench.newFolder() };
  cpSync(start.storage, place.storage, { recursive: true });
  return place;
}

/** `neighbours` are the other objects in its folder, or all others where it is alone. */
const damages: Record<Damage, (file: string, at: number, neighbours: string[]) => void> = {
  truncated: (file, at) => truncateSync(file, Math.floor(readFileSync(file).length * at)),
  flipped: (file, at) => {
    const bytes = readFileSync(file);
    const index = Math.floor(bytes.length * at);
    bytes[index] = (bytes[index] ?? 0) ^ 1;
    writeFileSync(file, bytes);
  },
  empty: (file) => truncateSync(file, 0),
  deleted: (file) => rmSync(file),
  swapped: (file, at, neighbours) =>
    writeFileSync(file, readFileSync(neighbours[Math.floor(neighbours.length * at)] ?? '')),
};

function perform(place: Place, command: Command, { again = false } = {}): Promise<unknown> {
  const options = optionsOf(place);
  const context = { storage: folderStorage(place.storage), addresses: options.addresses };
  const scan = () => scanAddresses(bench.client, place.table);
  const commands: Record<Command, () => Promise<unknown>> = {
    run: () => runLoad({ ...options, source, again }),
    plan: () => planLoad({ ...options, source }),
    status: async () => [await loadStatus(context), await refusedLoads(context.storage)],
    history: () => loadHistory(context),
    rollback: () => rollbackLoad({ ...options, snapshot: january.peildatum }),
    repair: () => repairTable({ ...options, scan }),
    check: () => repairTable({ ...options, scan, planOnly: true }),
  };
  return commands[command]();
}

/** The commands that a message tells to run, in its order. */
function advised(message: string): { command: Command; again: boolean }[] {
  const named = [...message.matchAll(/"load (run|repair)( --again)?"|run the load again/g)];
  return named.map(([, name = 'run', again]) => ({ command: name as Command, again: again !== undefined }));
}

/** Performs the command and what its errors advise, until it succeeds; what it said on the way. */
async function performAsAdvised(place: Place, command: Command): Promise<string[]> {
  const said: string[] = [];
  for (let attempt = 0; attempt < 4; attempt++) {
    try {
      await perform(place, command);
      return said;
    } catch (error) {
      const { name, message } = error as Error;
      said.push(`${name}: ${message}`);
      if (command === 'rollback' && /No snapshot of|you can't roll back to another one/.test(message)) return said;
      const advice = advised(message);
      if (advice.length === 0) throw new Error(`no advice: ${said.at(-1)}`, { cause: error });
      for (const { command: next, again } of advice) {
        await perform(place, next, { again }).catch((later: Error) =>
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

const every = process.env.SWEEP === 'full';
const seed = Number(process.env.SEED ?? 20_260_308);

describe('a stored object that is damaged or missing', () => {
  it.each(['planned', 'killed'] as const)(
    `costs no address: every command succeeds, or names the object and a command that helps (seed ${seed}; a load %s)`,
    async (start) => {
      const random = new Random(seed);
      const keys = (await folderStorage(starts[start].storage).list('')).map(({ key }) => key);
      const commands: Command[] = ['run', 'plan', 'status', 'history', 'rollback', 'repair', 'check'];
      const cases = keys.flatMap((key) =>
        commands.flatMap((command) =>
          (Object.keys(damages) as Damage[]).map((damage) => ({ key, command, damage, at: random.int(1000) / 1000 })),
        ),
      );
      expect(cases.length).toBeGreaterThan(500);
      const chosen = every ? cases : cases.filter(() => random.chance(25 / cases.length));
      for (const { key, command, damage, at } of chosen) {
        const name = `${key} ${damage} at ${at.toFixed(2)}, ${command}`;
        const place = await copyOf(starts[start]);
        const others = keys.filter((other) => other !== key);
        const beside = others.filter((other) => dirname(other) === dirname(key));
        const neighbours = (beside.length > 0 ? beside : others).map((other) => join(place.storage, other));
        damages[damage](join(place.storage, key), at, neighbours);
        const said = await performAsAdvised(place, command).catch((error: Error) => {
          throw new Error(`${name}: ${error.message}`, { cause: error });
        });
        const table = await bench.addressesIn(place.table);
        const months = expectedAfter(start, command, said);
        const found = months.find((month) => textOf(tableOf(month)) === textOf(table));
        expect([name, said, found?.peildatum]).toEqual([name, said, expect.any(String)]);
        await performAsAdvised(place, 'run');
        // What no load reads is found by a check at the latest; the table is as it has to be either way.
        const report = await perform(place, 'repair');
        expect([name, report]).toEqual([name, expect.objectContaining({ added: 0, changed: 0, removed: 0 })]);
        expect(await perform(place, 'check')).toMatchObject({ rebuilt: [] });
      }
    },
    every ? 3_600_000 : 120_000,
  );
});

function textOf(table: ReturnType<typeof tableOf>): string {
  const lines = [...table].map(
    ([key, places]) => `${key} ${places.map(({ straat, woonplaats }) => `${straat}, ${woonplaats}`)}`,
  );
  return lines.sort().join('\n');
}
