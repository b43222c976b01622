/**
 * `npm run mutants`: makes each change of `invariants.json` in a copy of the last commit, and runs
 * the tests that must notice it.
 */
import { availableParallelism } from 'node:os';
import { Copy, forEach } from './copy.ts';
import { placedMutants } from './invariants.ts';

/** More than the tests of any one change take; a change may make them wait for ever. */
const cpuSeconds = 90;

const flags = [
  '--testEnvironment=<rootDir>/tools/mutants/stop-at-failure.js',
  '--setupFiles=<rootDir>/test/support/quiet.js',
  '--setupFiles=<rootDir>/tools/mutants/first-counterexample.js',
];

const say = (text: string) => process.stdout.write(`${text}\n`);

if (process.argv.length > 2) {
  console.error('Usage: npm run mutants. It takes no options.');
  process.exit(2);
}
process.exitCode = (await checkInvariants()) ? 0 : 1;

/** Returns whether every change was noticed, and the tests pass without a change. */
async function checkInvariants(): Promise<boolean> {
  const started = performance.now();
  const copies = Array.from({ length: availableParallelism() }, () => new Copy());
  try {
    const [first] = copies as [Copy];
    const { invariants, placed } = placedMutants(first.folder);
    const inSweeps = new Set(
      placed.flatMap(({ mutant }) => (mutant.isInSweep ? mutant.tests : [])),
    );
    const run = (copy: Copy, tests: readonly string[], title?: string) =>
      copy.jest(
        [
          '--runInBand',
          '--silent',
          ...flags,
          ...(title ? ['-t', title] : []),
          '--runTestsByPath',
          ...tests,
        ],
        cpuSeconds,
        tests.some((test) => inSweeps.has(test)) ? { SWEEP: 'full' } : {},
      );

    const failing = new Set<string>();
    await forEach(
      copies,
      [...new Set(placed.flatMap(({ mutant }) => mutant.tests))],
      async (copy, test) => {
        const code = await run(copy, [test]);
        if (code !== 0) failing.add(test);
      },
    );
    for (const test of failing) say(`${test} fails with nothing changed, so it proves nothing`);

    const survived: string[] = [];
    await forEach(copies, placed, async (copy, { name, file, mutant }) => {
      const { line, becomes, tests, title } = mutant;
      const code = await copy.with(
        file,
        (text) => text.replace(line, () => becomes),
        () => run(copy, tests, title),
      );
      if (code === 0) {
        survived.push(`${name}\n  ${file}\n  - ${line.trim()}\n  + ${becomes.trim()}`);
      }
    });
    for (const text of survived) say(`survived: ${text}`);
    const seconds = Math.round((performance.now() - started) / 1000);
    say(
      `${invariants} invariants: ${placed.length - survived.length} of ${placed.length} changes of their lines killed, in ${seconds} s`,
    );
    return survived.length === 0 && failing.size === 0;
  } finally {
    for (const copy of copies) copy.remove();
  }
}
