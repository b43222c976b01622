/** The invariants of the project, and where their lines are. */

import { existsSync, globSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

/**
 * What must always hold, with the lines that hold it, each with a change of it that the named tests
 * must notice.
 */
export type Invariant = { name: string; mutants: InvariantMutant[] };

export type InvariantMutant = {
  /** The file, or a folder in whose files the line is searched, so that it may move. */
  in: string;
  /** A part of the text, which occurs once. */
  line: string;
  becomes: string;
  tests: string[];
  /** Whether the tests run in a full sweep only. */
  isInSweep?: boolean;
  /** A part of the titles of the tests, where the files have many others. */
  title?: string;
};

/** A change with the file that its line is in. */
export type PlacedMutant = { name: string; file: string; mutant: InvariantMutant };

/**
 * The changes of `invariants.json`, each with the file below `folder` that has its line.
 * @throws Error that names each whose line is gone, or is no longer the only one
 */
export function placedMutants(folder: string): { invariants: number; placed: PlacedMutant[] } {
  const invariants = JSON.parse(
    readFileSync(join(folder, 'tools/mutants/invariants.json'), 'utf8'),
  ) as Invariant[];
  const lost: string[] = [];
  const placed = invariants.flatMap(({ name, mutants }) =>
    mutants.flatMap((mutant) => {
      const gone = mutant.tests.find((test) => !existsSync(join(folder, test)));
      if (gone) lost.push(`"${name}": there is no test ${gone}`);
      const path = join(folder, mutant.in);
      const files = statSync(path).isDirectory()
        ? globSync('**/*.ts', { cwd: path }).map((file) => join(mutant.in, file))
        : [mutant.in];
      const found = files.flatMap((file) => {
        const parts = readFileSync(join(folder, file), 'utf8').split(mutant.line);
        return Array.from({ length: parts.length - 1 }, () => file);
      });
      const [file] = found;
      if (found.length === 1 && file) return { name, file, mutant };
      lost.push(
        `"${name}": ${mutant.in} has this ${found.length} times, not once:\n  ${mutant.line.trim()}`,
      );
      return [];
    }),
  );
  if (lost.length === 0) return { invariants: invariants.length, placed };
  const repair =
    'Name the line that holds the invariant now in tools/mutants/invariants.json, with a change of it that a test notices.';
  throw new Error(`${lost.join('\n')}\n${repair}`);
}
