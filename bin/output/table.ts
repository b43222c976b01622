import Table from 'cli-table3';

/** A table for people, without colours: it reads the same on a terminal, in a file and in a ticket. */
export function table(head: string[], rows: string[][]): string {
  const made = new Table({ head, style: { head: [], border: [], compact: true } });
  made.push(...rows);
  return made.toString();
}
