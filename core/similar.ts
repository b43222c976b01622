/**
 * The most similar candidate: one starts with the other, or at most a third of the characters
 * differ.
 */
export function nearest(word: string, candidates: readonly string[]): string | undefined {
  return candidates
    .map((candidate) => ({
      candidate,
      edits: editsBetween(word.toLowerCase(), candidate.toLowerCase()),
    }))
    .filter(
      ({ candidate, edits }) =>
        candidate.startsWith(word) ||
        word.startsWith(candidate) ||
        edits <= Math.max(2, candidate.length / 3),
    )
    .sort((a, b) => a.edits - b.edits)[0]?.candidate;
}

/**
 * How many letters of `a` must be inserted, left out, replaced or swapped to make `b`, row by row.
 */
export function editsBetween(a: string, b: string): number {
  let before: number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const isSame = a[i - 1] === b[j - 1];
      const isSwapped = a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const otherEdits = [
        (row[j] ?? 0) + 1,
        (next[j - 1] ?? 0) + 1,
        ...(isSwapped ? [(before[j - 2] ?? 0) + 1] : []),
      ];
      next.push(Math.min((row[j - 1] ?? 0) + (isSame ? 0 : 1), ...otherEdits));
    }
    [before, row] = [row, next];
  }
  return row[b.length] ?? 0;
}
