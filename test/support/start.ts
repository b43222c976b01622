import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

const root = resolve(import.meta.dirname, '../..');
const startModule = new URL('../../local/start.ts', import.meta.url).pathname;

/** A start in its own process, as a user sees it. */
export type Start = {
  readonly child: ChildProcess;
  /** Everything it has printed so far. */
  readonly output: () => string;
  /** Resolves with its output once that includes `text`; rejects if it ends before. */
  until(text: string): Promise<string>;
  /** Resolves with its exit code when it has ended. */
  readonly ended: Promise<number | null>;
};

/** The last line of the greeting. */
export const readyText = 'Press Ctrl-C to stop.';

/**
 * Runs local/start.ts with these arguments, or a line of a shell that ends with them, such as
 * `npm start`.
 */
export function start(
  args: string[],
  { env = {}, line }: { env?: Record<string, string>; line?: string } = {},
): Start {
  const [command, ...fixed] = line
    ? ['sh', '-c', `exec env ${line} -- "$@"`, 'sh']
    : [process.execPath, startModule];
  const { npm_lifecycle_event: _event, ...inherited } = process.env;
  // A line in a process group of its own, as a shell starts it in a terminal.
  const options = { cwd: root, env: { ...inherited, ...env }, detached: line !== undefined };
  const child = spawn(command as string, [...fixed, ...args], options);
  let printed = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    printed += chunk;
  });
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    printed += chunk;
  });
  const ended = new Promise<number | null>((done) => child.once('close', done));
  async function until(text: string): Promise<string> {
    let gone = false;
    void ended.then(() => {
      gone = true;
    });
    while (!printed.includes(text)) {
      if (gone) {
        throw new Error(`The process ended without printing ${JSON.stringify(text)}:\n${printed}`);
      }
      await sleep(20);
    }
    return printed;
  }
  return { child, output: () => printed, until, ended };
}

/** The command lines of all processes on this machine that include `text`. */
export async function processesWith(text: string): Promise<string[]> {
  return (existsSync('/proc/self/cmdline') ? commandLines() : await commandLinesOfPs()).filter(
    (line) => line.includes(text),
  );
}

/** From the files that `ps` reads, in a tenth of its time. */
function commandLines(): string[] {
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      return [readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' ')];
    } catch {
      return []; // It has ended meanwhile.
    }
  });
}

async function commandLinesOfPs(): Promise<string[]> {
  const { stdout } = await promisify(execFile)('ps', ['-eo', 'args', '-ww']);
  return stdout.split('\n');
}
