import Table from 'cli-table3';

/**
 * A table without colours: it reads the same on a terminal, in a file and in a ticket. Apart from the other parts of a
 * command, so that the smoke test starts without the client of DynamoDB.
 */
export function table(head: string[], rows: string[][]): string {
  const made = new Table({ head, style: { head: [], border: [], compact: true } });
  made.push(...rows);
  return made.toString();
}
