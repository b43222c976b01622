import { createWriteStream, existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { resolve } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import Table from 'cli-table3';
import { CommandError } from '../connect/errors.ts';

/** What a command reads from its surroundings and where it writes. */
export type Terminal = {
  /** Standard output: the result and nothing else. */
  out: (text: string) => void;
  /** Standard error: hints, progress and errors. */
  err: (text: string) => void;
  env: NodeJS.ProcessEnv;
  /** Draws progress bars when it is a terminal; without it progress is plain lines of `err`. */
  screen?: NodeJS.WriteStream;
  /** How many columns standard output has when it is a terminal; results are then drawn for people. */
  columns?: number;
};

/** The same value with the names of all members in snake_case, as in the HTTP interface. */
export function snakeCase(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(snakeCase);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      snakeCase(member),
    ]),
  );
}

/** The result of a command: `json` for scripts, `text` for people, `hint` for people only, on standard error. */
export type Result = { json: unknown; text: string; hint?: string };

/** Prints a result: with `--json` as JSON in snake_case, else as text. */
export function printResult(terminal: Terminal, { json }: { json?: true }, result: Result): void {
  terminal.out(json ? JSON.stringify(snakeCase(result.json), null, 2) : result.text);
  if (result.hint && !json) terminal.err(result.hint);
}

/** A table without colours: it reads the same on a terminal, in a file and in a ticket. */
export function table(head: string[], rows: string[][]): string {
  const made = new Table({ head, style: { head: [], border: [], compact: true } });
  made.push(...rows);
  return made.toString();
}

/** `12,345`. */
export function thousands(number: number): string {
  return number.toLocaleString('en');
}

/** `1 day`, `12,345 days`. */
export function counted(number: number, noun: string): string {
  return `${thousands(number)} ${noun}${number === 1 ? '' : 's'}`;
}

/** npm runs us in the root of the project; a relative path is relative to where npm was run. */
export function callersPath(path: string, env: NodeJS.ProcessEnv): string {
  return resolve(env.INIT_CWD ?? process.cwd(), path);
}

/** Refuses a path that exists, before the work whose result would go there. @throws CommandError */
export function checkNewFile(file: string): void {
  if (existsSync(file)) throw new CommandError('exists', `${file} exists; name a new file.`);
}

/** Writes a new file that only its owner can read, whole or not at all. @throws CommandError */
export async function writeNewFile(file: string, lines: Iterable<string> | AsyncIterable<string>): Promise<void> {
  checkNewFile(file);
  try {
    await pipeline(Readable.from(lines), createWriteStream(file, { flags: 'wx', mode: 0o600 }));
  } catch (error) {
    const { code, path, message } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') return checkNewFile(file);
    await rm(file, { force: true });
    if (path !== file && code !== 'ENOSPC') throw error; // of the lines
    throw new CommandError('file', `Can't write ${file}: ${message}`, { cause: error });
  }
}
