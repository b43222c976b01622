import Table from 'cli-table3';

/** What a command reads from its surroundings and where it writes. */
export type Terminal = {
  /** Standard output: the result and nothing else. */
  out: (text: string) => void;
  /** Standard error: hints, progress and errors. */
  err: (text: string) => void;
  env: NodeJS.ProcessEnv;
  /** Draws progress bars when it is a terminal; without it progress is plain lines of `err`. */
  screen?: NodeJS.WriteStream;
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
