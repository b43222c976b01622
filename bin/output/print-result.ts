import type { Terminal } from '../commands/terminal.ts';
import { snakeCase } from './snake-case.ts';

/** What a command found or did: `json` for scripts, `text` for people, and `hint` beside it for people only. */
export type Result = { json: unknown; text: string; hint?: string };

/** Prints what a command found: JSON in snake_case with `--json`, else for people. */
export function printResult(terminal: Terminal, { json }: { json?: true }, result: Result): void {
  terminal.out(json ? JSON.stringify(snakeCase(result.json), null, 2) : result.text);
  if (result.hint && !json) terminal.err(result.hint);
}
