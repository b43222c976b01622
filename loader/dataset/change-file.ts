import type { Change } from './diff.ts';
import { keyOf, type Line, packLines, unpackLines } from './lines.ts';

/** What to do to one key of the table: put this line, or remove the key. */
export type Write = { put: Line } | { remove: string };

/**
 * Changes in their stored form: `+` and the whole line to put, or `-` and the key to remove. Each says all that has to
 * be done, so doing it twice is doing it once.
 */
export function packChanges(changes: readonly Change[]): Buffer {
  return packLines(changes.map(({ before, after }) => (after === null ? `-${keyOf(before)}` : `+${after}`)));
}

/** What `packChanges` stored. */
export function unpackWrites(packed: Uint8Array): Write[] {
  return unpackLines(packed).map((line) => (line.startsWith('+') ? { put: line.slice(1) } : { remove: line.slice(1) }));
}
