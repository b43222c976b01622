/** All errors of a configuration at once, one line each, with the field and the allowed values. */
export class ConfigError extends Error {
  override name = 'ConfigError';
  readonly faults: readonly string[];

  /** @param source the file, or what else the configuration is from */
  constructor(faults: readonly string[], source = 'cdk.json') {
    const shown = faults.map(withoutPrivateKeys);
    super(`The configuration in ${source} is not valid:\n${shown.map((f) => `  - ${f}`).join('\n')}`);
    this.faults = shown;
  }
}

/** One that was pasted is not printed, wherever it was pasted: as the name of a field or of a stage too. */
function withoutPrivateKeys(text: string): string {
  return text.replace(
    /-----BEGIN [A-Z ]*PRIVATE KEY[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g,
    '(a private key)',
  );
}

/** The most similar candidate: one starts with the other, or at most a third of the characters differ. */
export function nearest(word: string, candidates: readonly string[]): string | undefined {
  return candidates
    .map((candidate) => ({ candidate, distance: distance(word.toLowerCase(), candidate.toLowerCase()) }))
    .filter(
      ({ candidate, distance }) =>
        candidate.startsWith(word) || word.startsWith(candidate) || distance <= Math.max(2, candidate.length / 3),
    )
    .sort((a, b) => a.distance - b.distance)[0]?.candidate;
}

/** Levenshtein distance, row by row. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const substituted = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(substituted, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
