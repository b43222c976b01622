import { spawnSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Command } from 'commander';
import { Random } from '../bench/generator/random.ts';
import { type Mutant, mutantsOf } from './operators.ts';
import { Copy, type TestsOf } from './run-tests.ts';

/** A mutant that no test can kill, or need not, and why. Found by its text, so that it may move within its file. */
type Explained = Pick<Mutant, 'file' | 'before' | 'after'> & { why: string };

const areas = [
  'lambdas/shared/accounts/*.ts',
  'lambdas/shared/addresses/*.ts',
  'lambdas/shared/http/*.ts',
  'loader/bag/*.ts',
];

type Options = { files: string[]; limit: number; seed: number; workers: number; far: number };

await new Command('npm run mutants --')
  .description('Changes the code one line at a time and reports the changes that no test notices.')
  .option('--files <glob...>', 'the files to change', areas)
  .option('--limit <number>', 'how many changes to try, chosen at random', Number, 20)
  .option('--seed <number>', 'repeats a choice', Number, Date.now() % 100_000)
  .option('--workers <number>', 'how many to try at once', Number, 2)
  .option('--far <number>', 'how many tests of other folders a change has to survive', Number, 10)
  .exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : 2))
  .action(run)
  .parseAsync();

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

async function run({ files, limit, seed, workers, far }: Options): Promise<void> {
  const named = globSync(files).sort();
  // What runs is the last commit.
  if (spawnSync('git', ['diff', '--quiet', 'HEAD', '--', ...named]).status !== 0) {
    say('The files have changes that are not committed. Commit or stash them first.');
    process.exitCode = 2;
    return;
  }
  const explained = JSON.parse(readFileSync(join(import.meta.dirname, 'survivors.json'), 'utf8')) as Explained[];
  const all = named.flatMap(mutantsOf);
  const left = all.filter((mutant) => !explained.some((one) => isSame(one, mutant)));
  say(`${all.length} possible changes, ${all.length - left.length} of them explained in survivors.json;`);
  const chosen = choose(left, limit, new Random(seed));
  say(`trying ${chosen.length} with --seed ${seed}`);

  const tests = new Map<string, Promise<TestsOf | undefined>>();
  const count = { killed: 0, survived: 0, 'not tried': 0 };
  const waiting = chosen.values();
  const copies = new Set<Copy>();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      for (const copy of copies) copy.remove();
      process.exit(130);
    });
  }
  const work = async () => {
    const copy = new Copy();
    copies.add(copy);
    try {
      for (const mutant of waiting) {
        const { file } = mutant;
        if (!tests.has(file)) tests.set(file, greenTests(copy, file, far));
        const known = await tests.get(file);
        const end = !known ? 'not tried' : (await copy.isKilled(mutant, known)) ? 'killed' : 'survived';
        count[end]++;
        if (end === 'survived') say(`survived: ${described(mutant)}`);
      }
    } finally {
      copies.delete(copy);
      copy.remove();
    }
  };
  await Promise.all(Array.from({ length: workers }, work));
  say(
    JSON.stringify({ seed, files: named.length, possible: all.length, explained: all.length - left.length, ...count }),
  );
  if (count.survived > 0) process.exitCode = 1;
}

/**
 * The tests of a file, but for groups of which one fails with nothing changed: with these every mutant would look killed. None
 * if no group is left.
 */
async function greenTests(copy: Copy, file: string, far: number): Promise<TestsOf | undefined> {
  const green: TestsOf = [];
  for (const group of await copy.testsOf(file, far)) {
    if (await copy.pass(group)) green.push(group);
    else say(`${file}: without ${group.length} tests in ${dirname(group[0] ?? '')}, as they fail with nothing changed`);
  }
  if (green.length > 0) return green;
  say(`not tried: ${file}, as no test of it passes`);
  return undefined;
}

/** In the order of their files, so that tests are looked for once. */
function choose(mutants: readonly Mutant[], limit: number, random: Random): Mutant[] {
  const left = [...mutants];
  const chosen: Mutant[] = [];
  while (chosen.length < limit && left.length > 0) chosen.push(...left.splice(random.int(left.length), 1));
  return chosen.sort((a, b) => mutants.indexOf(a) - mutants.indexOf(b));
}

function isSame(one: Explained, mutant: Mutant): boolean {
  return one.file === mutant.file && one.before === mutant.before.trim() && one.after === mutant.after.trim();
}

function described({ file, line, operator, before, after }: Mutant): string {
  return `${file}:${line} (${operator})\n  - ${before.trim()}\n  + ${after.trim()}`;
}
