import Table from 'cli-table3';
import type { Terminal } from './arguments.ts';

/** The same value with the names of all members in snake_case, as the HTTP interface writes them. */
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

/** What a command found or did: `json` for scripts, `text` for people, and `hint` beside it for people only. */
export type Result = { json: unknown; text: string; hint?: string };

/** Prints what a command found: JSON in snake_case with `--json`, else for people. */
export function printResult(terminal: Terminal, { json }: { json?: true }, result: Result): void {
  terminal.out(json ? JSON.stringify(snakeCase(result.json), null, 2) : result.text);
  if (result.hint && !json) terminal.err(result.hint);
}

/** A table for people, without colours: it reads the same on a terminal, in a file and in a ticket. */
export function table(head: string[], rows: string[][]): string {
  const made = new Table({ head, style: { head: [], border: [], compact: true } });
  made.push(...rows);
  return made.toString();
}
