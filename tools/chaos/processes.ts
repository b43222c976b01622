import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { type LocalState, readLocalState } from '../../local/data-folder.ts';
import { readyText, type Start, start } from '../../test/support/start.ts';
import { type Journal, judgeMessage } from './journal.ts';

const root = resolve(import.meta.dirname, '../..');

/** How a command of the command line ended. `killed`: by us, so that it says nothing. */
export type Ended = { ok: boolean; json: unknown; code: string; message: string; killed: boolean };

/** The service and the commands of a run: real processes, as an operator starts them. */
export class Processes {
  /** Commands that run, by their process. */
  readonly commands = new Map<ChildProcess, string>();
  /** Commands that are stopped (SIGSTOP). */
  readonly asleep = new Set<ChildProcess>();
  readonly #journal: Journal;
  readonly #data: string;
  readonly #commandData: string;
  readonly #environment: Record<string, string>;
  readonly #proxied: (state: LocalState) => LocalState;
  #service: Start | undefined;
  #state: LocalState | undefined;

  constructor(options: {
    journal: Journal;
    /** The data folder of the service. */
    data: string;
    /** Where commands find `local.json`, as `proxied` makes it of the service's. */
    commandData: string;
    environment: Record<string, string>;
    proxied: (state: LocalState) => LocalState;
  }) {
    this.#journal = options.journal;
    this.#data = options.data;
    this.#commandData = options.commandData;
    this.#environment = options.environment;
    this.#proxied = options.proxied;
  }

  /** What the running service has published; `undefined` while it does not run. */
  get state(): LocalState | undefined {
    return this.#state;
  }

  /** The process of the service; `undefined` while it does not run. */
  get serviceProcess(): ChildProcess | undefined {
    return this.#service?.child;
  }

  /** Starts the service with an extract; the message with which it ended, if it did not start. */
  async startService(extract: string): Promise<string | undefined> {
    const args = ['--port', '0', '--data', this.#data, '--extract', extract];
    const service = start(args, { env: this.#environment });
    this.#service = service;
    const failed = await service.until(readyText).then(
      () => undefined,
      () => service.output(),
    );
    if (failed !== undefined) {
      this.#service = undefined;
      const isOurs = service.child.signalCode !== null;
      this.#journal.note('service did not start', isOurs ? 'killed' : failed.trim());
      if (!isOurs) judgeMessage(this.#journal, 'npm start', failed);
      return failed;
    }
    this.#state = await readLocalState(this.#data);
    await mkdir(this.#commandData, { recursive: true });
    await writeFile(
      join(this.#commandData, 'local.json'),
      JSON.stringify(this.#proxied(this.#state)),
    );
    this.#journal.note('service started', extract);
    void service.ended.then((code) => this.#serviceEnded(service, code));
    return undefined;
  }

  #serviceEnded(service: Start, code: number | null): void {
    if (this.#service !== service) return;
    this.#service = undefined;
    this.#state = undefined;
    const output = service.output();
    this.#journal.note('service ended', `${code ?? service.child.signalCode}`);
    if (service.child.signalCode === null && code !== 0) {
      judgeMessage(this.#journal, 'npm start', output.split('\n').slice(-4).join('\n'));
    }
    if (/^\s+at .+:\d+:\d+/m.test(output)) {
      this.#journal.finding(`npm start printed a stack:\n${output.slice(-2_000)}`);
    }
  }

  /** Ends the service with a signal, and waits until it has ended. */
  async endService(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    const service = this.#service;
    if (!service) return;
    service.child.kill(signal);
    const ended = await Promise.race([service.ended, sleep(30_000, 'hangs', { ref: false })]);
    if (ended !== 'hangs') return;
    this.#journal.finding(`the service was still running 30 seconds after ${signal}`);
    service.child.kill('SIGKILL');
    await service.ended;
  }

  /** Runs a command on the data of the service, and judges what it says. */
  async run(...args: string[]): Promise<Ended> {
    const name = args.join(' ');
    const words = ['bin/bag-adres.ts', ...args, '--json', '--local', '--data', this.#commandData];
    const child = spawn(process.execPath, words, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
    this.commands.set(child, name);
    const [out, err] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      onceClosed(child),
    ]);
    this.commands.delete(child);
    this.asleep.delete(child);
    const ended = this.#judge(name, child, out, err);
    this.#journal.note(
      ended.killed ? 'command killed' : ended.ok ? 'command ok' : `command ${ended.code}`,
      `${name} ${ended.message}`,
    );
    return ended;
  }

  #judge(name: string, child: ChildProcess, out: string, err: string): Ended {
    if (child.signalCode !== null) {
      const isOurs = child.signalCode === 'SIGKILL';
      if (!isOurs) this.#journal.finding(`${name} crashed with ${child.signalCode}: ${err}`);
      return { ok: false, json: null, code: 'killed', message: '', killed: true };
    }
    if (child.exitCode === 0) {
      return { ok: true, json: JSON.parse(out), code: '', message: '', killed: false };
    }
    const error = errorIn(err);
    if (!error) {
      this.#journal.finding(`${name} ended with ${child.exitCode} and no error as JSON:\n${err}`);
      return { ok: false, json: null, code: 'none', message: err, killed: false };
    }
    if (error.code === 'failed') {
      this.#journal.finding(`${name} has no explanation for: ${error.message}`);
    }
    judgeMessage(this.#journal, name, error.message);
    return { ok: false, json: null, ...error, killed: false };
  }
}

function onceClosed(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    child.once('close', () => resolve());
  });
}

function errorIn(text: string): { code: string; message: string } | undefined {
  try {
    return (JSON.parse(text) as { error: { code: string; message: string } }).error;
  } catch {
    return undefined;
  }
}

/** The process of the embedded engine of a service, which is a child of the service's child. */
export function enginePid(database: string): number | undefined {
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const words = readFileSync(`/proc/${name}/cmdline`, 'utf8').split('\0');
      if (words[0]?.endsWith('/dynoxide') && words.includes(database)) return Number(name);
    } catch {
      // It has ended since it was listed.
    }
  }
  return undefined;
}
