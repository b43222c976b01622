import { globSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Copy, forEach, root } from './copy.ts';

/** What must always hold, with the lines that hold it, each with a change of it that the named tests must notice. */
type Invariant = { name: string; mutants: InvariantMutant[] };

type InvariantMutant = {
  /** The file, or a folder in whose files the line is searched, so that it may move. */
  in: string;
  /** A part of the text, which occurs once. */
  line: string;
  becomes: string;
  tests: string[];
  /** A part of the titles of the tests, where the files have many others. */
  title?: string;
};

type Place = { file: string; mutant: InvariantMutant };

/** More than the tests of any one change take; a change may make them wait for ever. */
const cpuSeconds = 90;

const say = (text: string) => process.stdout.write(`${text}\n`);

/**
 * Makes each change of `invariants.json` in a copy of the last commit, and runs its tests. Returns whether all were
 * noticed, and the tests pass without a change.
 */
export async function checkInvariants(workers: number, flags: readonly string[]): Promise<boolean> {
  const started = performance.now();
  const invariants = JSON.parse(readFileSync(join(root, 'tools/mutants/invariants.json'), 'utf8')) as Invariant[];
  const copies = Array.from({ length: workers }, () => new Copy());
  try {
    const [first] = copies as [Copy];
    const placed = invariants.flatMap(({ name, mutants }) =>
      mutants.map((mutant) => ({ name, ...placeOf(first, name, mutant) })),
    );
    const run = (copy: Copy, tests: readonly string[], title?: string) =>
      copy.jest(
        ['--runInBand', '--silent', ...flags, ...(title ? ['-t', title] : []), '--runTestsByPath', ...tests],
        cpuSeconds,
      );

    const failing = new Set<string>();
    await forEach(copies, [...new Set(placed.flatMap(({ mutant }) => mutant.tests))], async (copy, test) => {
      const { code } = await run(copy, [test]);
      if (code !== 0) failing.add(test);
    });
    for (const test of failing) say(`${test} fails with nothing changed, so it proves nothing`);

    const survived: string[] = [];
    await forEach(copies, placed, async (copy, { name, file, mutant }) => {
      const { line, becomes, tests, title } = mutant;
      const { code } = await copy.with(
        file,
        (text) => text.replace(line, () => becomes),
        () => run(copy, tests, title),
      );
      if (code === 0) survived.push(`${name}\n  ${file}\n  - ${line.trim()}\n  + ${becomes.trim()}`);
    });
    for (const text of survived) say(`survived: ${text}`);
    const seconds = Math.round((performance.now() - started) / 1000);
    say(
      `${invariants.length} invariants: ${placed.length - survived.length} of ${placed.length} changes of their lines killed, in ${seconds} s`,
    );
    return survived.length === 0 && failing.size === 0;
  } finally {
    for (const copy of copies) copy.remove();
  }
}

/** @throws Error when the line is gone, or is no longer the only one */
function placeOf(copy: Copy, name: string, mutant: InvariantMutant): Place {
  const path = join(copy.folder, mutant.in);
  const files = statSync(path).isDirectory()
    ? globSync('**/*.ts', { cwd: path }).map((file) => join(mutant.in, file))
    : [mutant.in];
  const found = files.flatMap((file) => {
    const parts = readFileSync(join(copy.folder, file), 'utf8').split(mutant.line);
    return Array.from({ length: parts.length - 1 }, () => file);
  });
  const [file] = found;
  if (found.length === 1 && file) return { file, mutant };
  throw new Error(
    `"${name}": ${mutant.in} has this ${found.length} times, not once:\n  ${mutant.line.trim()}\n` +
      'Name the line that holds the invariant now in tools/mutants/invariants.json, with a change of it that a test notices.',
  );
}
