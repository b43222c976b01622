import type { ChildProcess } from 'node:child_process';
import { closeSync, openSync, rmSync, statfsSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '../bench/generator/random.ts';
import { type EngineProxy, engineFaults } from './engine-proxy.ts';
import type { ExtractServer } from './extract-server.ts';
import type { Journal } from './journal.ts';
import type { LoadActor } from './loads.ts';
import type { Hammer } from './lookups.ts';
import { enginePid, type Processes } from './processes.ts';

export type DisasterOptions = {
  journal: Journal;
  random: Random;
  processes: Processes;
  loads: LoadActor;
  hammer: Hammer;
  server: ExtractServer;
  proxy: EngineProxy;
  /** A small file system of the data folder; `undefined` where none can be made. */
  disk: string | undefined;
  database: string;
  /** Starts the engine again after it was killed, where the service does not do that itself. */
  reviveEngine: (() => Promise<void>) | undefined;
  /** Whether the run is long enough for a command to sleep longer than its lock lasts. */
  isLong: boolean;
};

const longerThanLockMilliseconds = 65_000;

/** Kills, stops and disturbs what runs, one after the other, until `stop`. */
export class Disasters {
  readonly #options: DisasterOptions;
  readonly #sleepers: Promise<void>[] = [];
  #mayOversleep: boolean;
  #stopped = false;

  constructor(options: DisasterOptions) {
    this.#options = options;
    this.#mayOversleep = options.isLong;
  }

  async run(): Promise<void> {
    const { random, disk } = this.#options;
    const kinds = [
      ...Array.from({ length: 5 }, () => () => this.#killCommand()),
      ...Array.from({ length: 6 }, () => () => this.#stopCommand()),
      ...Array.from({ length: 3 }, () => () => this.#spoilEngine()),
      ...Array.from({ length: 3 }, () => () => this.#spoilServer()),
      ...Array.from({ length: disk === undefined ? 0 : 3 }, () => () => this.#fillDisk()),
      () => this.#endService('SIGKILL'),
      () => this.#endService('SIGTERM'),
      () => this.#stopService(),
      () => this.#killEngine(),
      () => this.#stopEngine(),
    ];
    while (!this.#stopped) {
      await sleep(random.int(2_500));
      await random.pick(kinds)();
      await this.restartService();
    }
  }

  /** Ends what still goes on; everything is well afterwards. */
  async stop(running: Promise<void>): Promise<void> {
    this.#stopped = true;
    await running;
    await Promise.all(this.#sleepers);
    await this.restartService();
  }

  #command(): ChildProcess | undefined {
    const awake = [...this.#options.processes.commands.keys()].filter(
      (child) => !this.#options.processes.asleep.has(child),
    );
    return awake.length > 0 ? this.#options.random.pick(awake) : undefined;
  }

  async #killCommand(): Promise<void> {
    const { journal, processes, random } = this.#options;
    await sleep(random.int(1_500));
    const child = this.#command();
    if (!child) return;
    journal.note('kill a command', processes.commands.get(child));
    child.kill('SIGKILL');
  }

  /** The others go on meanwhile, and take its lock if an operator lets them. */
  async #stopCommand(): Promise<void> {
    const { journal, processes, random } = this.#options;
    await sleep(random.int(1_500));
    const child = this.#command();
    if (!child) return;
    const name = processes.commands.get(child) ?? '';
    const oversleeps = this.#mayOversleep && name.startsWith('load run');
    if (oversleeps) this.#mayOversleep = false;
    const milliseconds = oversleeps ? longerThanLockMilliseconds : 1_000 + random.int(12_000);
    journal.note('stop a command', `${name} for ${milliseconds} ms`);
    processes.asleep.add(child);
    child.kill('SIGSTOP');
    this.#sleepers.push(
      sleep(milliseconds).then(() => {
        processes.asleep.delete(child);
        child.kill('SIGCONT');
        journal.note('wake a command', name);
      }),
    );
  }

  async #spoilEngine(): Promise<void> {
    const { journal, proxy, random } = this.#options;
    const mode = random.pick(engineFaults.filter((fault) => fault !== 'none'));
    journal.note('spoil the engine', mode);
    proxy.misbehave(mode);
    await sleep(2_000 + random.int(5_000));
    proxy.misbehave('none');
  }

  async #spoilServer(): Promise<void> {
    const { journal, server, random } = this.#options;
    const perMille = random.pick([50, 200, 600]);
    journal.note('spoil the server', `${perMille} of 1000 answers`);
    server.misbehave(perMille);
    await sleep(3_000 + random.int(6_000));
    server.misbehave(0);
  }

  /** Leaves a few kilobytes, which go soon, or none at all. */
  async #fillDisk(): Promise<void> {
    const { journal, random, disk = '' } = this.#options;
    const ballast = join(disk, 'ballast');
    const left = random.pick([0, 20_000, 300_000]);
    journal.note('fill the disk', `but for ${left} bytes`);
    fill(ballast, disk, left);
    await sleep(2_000 + random.int(5_000));
    rmSync(ballast, { force: true });
    journal.note('empty the disk');
  }

  async #endService(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    const { journal, processes } = this.#options;
    if (!processes.state) return;
    this.#interrupted();
    journal.note('end the service', signal);
    await processes.endService(signal);
    this.#interrupted();
  }

  async #stopService(): Promise<void> {
    const { processes, journal, random } = this.#options;
    const child = processes.serviceProcess;
    if (!child) return;
    journal.note('stop the service');
    this.#interrupted();
    child.kill('SIGSTOP');
    await sleep(1_000 + random.int(4_000));
    child.kill('SIGCONT');
    this.#interrupted();
  }

  async #killEngine(): Promise<void> {
    const { journal, database, reviveEngine } = this.#options;
    const pid = enginePid(database);
    if (pid === undefined) return;
    journal.note('kill the engine');
    this.#interrupted();
    process.kill(pid, 'SIGKILL');
    await sleep(1_000);
    await reviveEngine?.();
    this.#interrupted();
  }

  async #stopEngine(): Promise<void> {
    const { journal, database, random } = this.#options;
    const pid = enginePid(database);
    if (pid === undefined) return;
    journal.note('stop the engine');
    process.kill(pid, 'SIGSTOP');
    await sleep(1_000 + random.int(6_000));
    process.kill(pid, 'SIGCONT');
  }

  #interrupted(): void {
    this.#options.hammer.interruptions.push(Date.now());
  }

  /**
   * Starts the service if it has ended: with what was live, and where that is too old by now, with
   * the newest.
   */
  async restartService(): Promise<void> {
    const { processes, loads, journal, random } = this.#options;
    // A command that is stopped keeps its lock until it is woken, and no start may take it: such an
    // attempt counts by time.
    const giveUp = Date.now() + longerThanLockMilliseconds + 60_000;
    for (
      let attempt = 0, failed = 0;
      failed < 8 && Date.now() < giveUp && !processes.state;
      attempt++
    ) {
      const target = attempt === 0 ? loads.live : loads.newest;
      const killed = attempt === 0 && random.chance(0.2);
      await loads.towards([target], async () => {
        const starting = processes.startService(target.extract);
        if (killed) {
          await sleep(random.int(3_000)).then(() => processes.serviceProcess?.kill('SIGKILL'));
        }
        if (!(await starting)?.includes('Another load')) failed++;
      });
      if (!processes.state) await sleep(1_000);
    }
    if (!processes.state) {
      journal.finding('the service did not start again in eight attempts that no lock refused');
    }
  }
}

function fill(ballast: string, disk: string, left: number): void {
  const file = openSync(ballast, 'w');
  try {
    for (const bytes of [1_000_000, 50_000, 4_096]) {
      const chunk = Buffer.alloc(bytes);
      for (;;) {
        const { bavail, bsize } = statfsSync(disk);
        if (bavail * bsize < left + bytes) break;
        writeSync(file, chunk);
      }
    }
  } catch {
    // Something else has taken the rest.
  } finally {
    closeSync(file);
  }
}
