import { addressPart, GrowingBytes, keyOf, type Line, packLineBytes, unpackLines } from './lines.ts';

/** How the address of a key changes. */
export type ChangeKind = 'added' | 'changed' | 'removed';

/**
 * One key that differs: its line before and after, where there is one. `list`: only the list of toevoegingen stored
 * with the address differs, or a list without an address is added or removed.
 */
export type Change = { kind: ChangeKind | 'list' } & (
  | { before: Line | null; after: Line }
  | { before: Line; after: Line | null }
);

/** How many addresses of each kind. */
export type ChangeCounts = Record<ChangeKind, number>;

/** The changes from the snapshot `before` to `after`, ordered by key. Both are sorted, with one line per key. */
export function* diff(before: readonly Line[], after: readonly Line[]): Generator<Change> {
  let i = 0;
  let j = 0;
  while (i < before.length || j < after.length) {
    const old = before[i];
    const now = after[j];
    if (old === now) {
      i++;
      j++;
      continue;
    }
    const order = old === undefined ? 1 : now === undefined ? -1 : compare(keyOf(old), keyOf(now));
    if (order <= 0) i++;
    if (order >= 0) j++;
    if (order < 0) yield change(old as Line, null);
    else if (order > 0) yield change(null, now as Line);
    else yield change(old as Line, now as Line);
  }
}

function change(before: Line, after: Line | null): Change;
function change(before: Line | null, after: Line): Change;
function change(before: Line | null, after: Line | null): Change {
  const [old, now] = [before && addressPart(before), after && addressPart(after)];
  const kind = old === now ? 'list' : old === null ? 'added' : now === null ? 'removed' : 'changed';
  return { kind, before, after } as Change;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** What to do to one key of the table: put this line, or remove the key. */
export type Write = { put: Line } | { remove: string };

/**
 * Encodes changes for storage: `+` and the whole line to put, or `-` and the key to remove. Repeating a change has no
 * further effect.
 */
export class ChangeWriter {
  readonly #text = new GrowingBytes();
  count = 0;

  add({ before, after }: Change): void {
    if (this.count++ > 0) this.#text.write('\n', 'latin1');
    this.#text.write(after === null ? `-${keyOf(before as Line)}` : `+${after}`, 'latin1');
  }

  /** What was added since the last time. */
  pack(): Buffer {
    const packed = packLineBytes(this.#text.bytes);
    this.#text.length = 0;
    this.count = 0;
    return packed;
  }
}

/** What a `ChangeWriter` packed. */
export function unpackWrites(packed: Uint8Array): Write[] {
  return unpackLines(packed).map((line) => (line.startsWith('+') ? { put: line.slice(1) } : { remove: line.slice(1) }));
}
