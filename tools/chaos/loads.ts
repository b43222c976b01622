import { setTimeout as sleep } from 'node:timers/promises';
import { parseLine } from '../../loader/addresses/lines.ts';
import { scanAddresses } from '../../loader/storage/address-table.ts';
import { localDynamoDb } from '../../local/engine/client.ts';
import type { Random } from '../bench/generator/random.ts';
import type { ExtractServer } from './extract-server.ts';
import type { Journal } from './journal.ts';
import { type Possible, rowText, sameRow } from './lookups.ts';
import type { Ended, Processes } from './processes.ts';
import type { Row, State } from './register.ts';

type Entry = { peildatum: string; load: string };
type Status = { published: Entry | null; pending: Entry | null; refused: Entry[] };

const operations = [
  ...Array.from({ length: 6 }, () => 'extract' as const),
  ...Array.from({ length: 4 }, () => 'mutations' as const),
  ...Array.from({ length: 6 }, () => 'approve' as const),
  'rollback',
  'rollback',
  'plan',
  'discard',
  'repair',
  'check',
  'status',
  'history',
  'unlock',
  'force',
];

type LoadActorOptions = {
  journal: Journal;
  processes: Processes;
  possible: Possible;
  /** The last one is left for the end. */
  states: readonly State[];
  server: ExtractServer;
  random: Random;
};

/** Loads of all kinds, as an operator who does not wait for the last one would do them. */
export class LoadActor {
  readonly #options: LoadActorOptions;
  /** What may write to the table at the moment. */
  #writing = 0;
  #isQuiet = false;
  /** The last state that was seen live, and the newest that was tried. */
  live: State;
  #newest = 0;
  #stopped = false;

  constructor(options: LoadActorOptions) {
    this.#options = options;
    this.live = options.states[0] as State;
  }

  stop(): void {
    this.#stopped = true;
  }

  /** The newest state that a load has tried to reach. */
  get newest(): State {
    return this.#options.states[this.#newest] as State;
  }

  async run(): Promise<void> {
    const { processes, random } = this.#options;
    while (!this.#stopped) {
      await sleep(random.int(1_500));
      if (!processes.state) continue;
      await this.#perform(random.pick(operations));
      await this.checkIfQuiet();
    }
  }

  /** Does what may change the table, from the live state to one of `targets`. */
  async towards<T>(targets: readonly State[], work: () => Promise<T>): Promise<T> {
    while (this.#isQuiet) await sleep(20);
    const { possible, states } = this.#options;
    this.#writing++;
    possible.become([...possible.now, ...targets]);
    this.#newest = Math.max(this.#newest, ...targets.map((target) => states.indexOf(target)));
    try {
      return await work();
    } finally {
      this.#writing--;
    }
  }

  async #perform(operation: (typeof operations)[number]): Promise<void> {
    const { processes, random, states } = this.#options;
    const last = states.length - 2;
    const at = states.indexOf(this.live);
    switch (operation) {
      case 'extract': {
        const next = random.chance(0.7) ? at + 1 : this.#newest + 1;
        const target = states[
          random.chance(0.8) ? Math.min(last, next) : random.int(last + 1)
        ] as State;
        const again = random.chance(0.3) ? ['--again'] : [];
        await this.towards([target], () =>
          processes.run('load', 'run', '--extract', this.#where(target.extract), ...again),
        );
        return;
      }
      case 'mutations': {
        const targets = states.slice(at + 1, Math.min(last + 1, at + 1 + 1 + random.int(2)));
        const files = targets.flatMap(({ mutations }) =>
          mutations === null ? [] : [this.#where(mutations)],
        );
        if (files.length > 0) {
          await this.towards(targets, () => processes.run('load', 'run', '--mutations', ...files));
        }
        return;
      }
      case 'approve': {
        const refused = (await this.#status())?.refused ?? [];
        if (refused.length === 0) return;
        const { load, peildatum } = random.pick(refused);
        await this.towards([this.#stateOf(peildatum)], () =>
          processes.run('load', 'approve', load),
        );
        return;
      }
      case 'discard': {
        const refused = (await this.#status())?.refused ?? [];
        if (refused.length > 0) {
          await this.towards([], () => processes.run('load', 'discard', random.pick(refused).load));
        }
        return;
      }
      case 'rollback': {
        const { ok, json } = await processes.run('load', 'history');
        const kept = ok
          ? (json as (Entry & { kept: boolean })[]).filter((entry) => entry.kept)
          : [];
        if (kept.length === 0) return;
        const { load, peildatum } = random.pick(kept);
        await this.towards([this.#stateOf(peildatum)], () =>
          processes.run('load', 'rollback', load),
        );
        return;
      }
      case 'plan': {
        const target = random.pick(states.slice(0, -1));
        await this.towards([], () =>
          processes.run('load', 'plan', '--extract', this.#where(target.extract)),
        );
        return;
      }
      case 'force':
        await this.towards([], () => processes.run('load', 'unlock', '--force'));
        return;
      default:
        await this.towards([], () => processes.run('load', operation));
    }
  }

  #where(file: string): string {
    return this.#options.random.chance(0.7) ? this.#options.server.url(file) : file;
  }

  #stateOf(peildatum: string): State {
    const found = this.#options.states.find((state) => state.peildatum === peildatum);
    if (!found) throw new Error(`No state has the date ${peildatum}`);
    return found;
  }

  async #status(): Promise<Status | undefined> {
    const { ok, json } = await this.#options.processes.run('load', 'status');
    return ok ? (json as Status) : undefined;
  }

  /**
   * Compares the whole table with what the storage says is live, if nothing writes to it just now.
   */
  async checkIfQuiet(): Promise<void> {
    if (this.#writing > 0 || this.#isQuiet) return;
    this.#isQuiet = true;
    try {
      const { journal, possible } = this.#options;
      const status = await this.#status();
      if (!status?.published) return;
      this.live = this.#stateOf(status.published.peildatum);
      if (status.pending) possible.become([this.live, this.#stateOf(status.pending.peildatum)]);
      else {
        possible.become([this.live]);
        await this.compare(this.live);
        journal.note('table compared', this.live.peildatum);
      }
    } finally {
      this.#isQuiet = false;
    }
  }

  /** Compares the whole table with a state. */
  async compare(state: State): Promise<void> {
    const { journal } = this.#options;
    const table = await this.#readTable().catch((error: Error) =>
      journal.note('table not read', error.message),
    );
    if (!table) return;
    const keys = new Set([...state.table.keys(), ...table.keys()]);
    const wrong = [...keys].filter((key) => !sameRow(state.table.get(key), table.get(key)));
    if (wrong.length === 0) return;
    const some = wrong
      .slice(0, 5)
      .map((key) => `${key}: ${rowText(table.get(key))}, not ${rowText(state.table.get(key))}`);
    journal.finding(
      `${wrong.length} keys of the table are not those of ${state.peildatum}:\n${some.join('\n')}`,
    );
  }

  async #readTable(): Promise<Map<string, Row>> {
    const state = this.#options.processes.state;
    if (!state) throw new Error('the service has ended');
    const client = localDynamoDb(state.endpoint, state.accessKeyId);
    const table = new Map<string, Row>();
    try {
      for await (const lines of scanAddresses(client, state.addressesTable)) {
        for (const { key, ...row } of lines.map(parseLine)) table.set(key, row);
      }
    } finally {
      client.destroy();
    }
    return table;
  }

  /** Loads the last state, doing what each error advises; whether that helped. */
  async finish(): Promise<boolean> {
    const { processes, states, journal } = this.#options;
    const target = states.at(-1) as State;
    for (let attempt = 0; attempt < 10; attempt++) {
      const ended = await this.towards([target], () =>
        processes.run('load', 'run', '--extract', target.extract),
      );
      if (ended.ok) {
        const { outcome, peildatum } = ended.json as { outcome: string; peildatum: string | null };
        // A load that was begun before comes first.
        if (outcome === 'unchanged' || peildatum === target.peildatum) return true;
      } else {
        await this.#follow(ended);
      }
    }
    journal.finding(
      'ten attempts, with what their errors advise, did not get the last extract live',
    );
    return false;
  }

  async #follow({ code, message }: Ended): Promise<void> {
    const { processes } = this.#options;
    const [, load] = /\bload approve (\S+)/.exec(message) ?? [];
    if (load) await processes.run('load', 'approve', load);
    else if (code === 'locked') await processes.run('load', 'unlock');
    else if (message.includes('load repair')) await processes.run('load', 'repair');
    else {
      await sleep(500);
    }
  }
}
