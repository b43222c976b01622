import { spawnSync } from 'node:child_process';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command, Option } from 'commander';
import { Random } from '../bench/generator/random.ts';
import { Copy, forEach } from './copy.ts';
import { type Measured, measure, testsOf } from './covering-tests.ts';
import { checkInvariants } from './invariants.ts';
import { type Mutant, mutantsOf, mutate } from './operators.ts';

/** A mutant that no test can kill, or need not, and why. Found by its text, so that it may move within its file. */
type Explained = Pick<Mutant, 'file' | 'before' | 'after'> & { why: string };

/** What is counted together in `areas.json`. */
const areas: Record<string, string[]> = {
  charge: ['core/accounts/charge/*.ts', 'core/accounts/{account,account-item,api-key,quota}.ts'],
  usage: [
    'core/accounts/usage-record.ts',
    'packages/admin/accounts/{usage,usage-*,statement,statements}.ts',
    'lambdas/usage/*.ts',
  ],
  fencing: ['loader/storage/{lease,lock,address-writer}.ts'],
  permissions: ['portal/visit/*.ts'],
  administration: ['packages/admin/accounts/*.ts'],
  addresses: ['core/addresses/*.ts'],
  http: ['lambdas/http/*.ts'],
  bag: ['loader/bag/*.ts'],
};

const stopEarly = [
  '--testEnvironment=<rootDir>/tools/mutants/stop-at-failure.js',
  '--testSequencer=<rootDir>/tools/mutants/in-order.js',
  '--setupFiles=<rootDir>/test/support/quiet.js',
  '--setupFiles=<rootDir>/tools/mutants/first-counterexample.js',
];

type Options = {
  files: string[];
  area?: string;
  invariants?: true;
  limit: number;
  seed: number;
  workers: number;
  seconds: number;
  tests: string[];
};

await new Command('npm run mutants --')
  .description('Changes the code one line at a time and reports the changes that no test notices.')
  .option('--files <glob...>', 'the files to change', Object.values(areas).flat())
  .addOption(
    new Option('--area <name>', 'the files of one area, whose result is kept in areas.json').choices(
      Object.keys(areas),
    ),
  )
  .option('--invariants', 'instead, the changes of tools/mutants/invariants.json, each of which its tests must notice')
  .option('--limit <number>', 'how many changes to try, chosen at random', Number, 20)
  .option('--seed <number>', 'repeats a choice', Number, Date.now() % 100_000)
  .option('--workers <number>', 'how many to try at once', Number, 2)
  .option('--seconds <number>', 'how much CPU the tests of a change may take that survives', Number, 120)
  .option('--tests <folder...>', 'only these tests, by the beginning of their paths: quicker, but more survives', [])
  .exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : 2))
  .action(run)
  .parseAsync();

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

async function run({ files, area, invariants, limit, seed, workers, seconds, tests: folders }: Options): Promise<void> {
  if (invariants) {
    if (!(await checkInvariants(workers, stopEarly))) process.exitCode = 1;
    return;
  }
  const named = globSync(area === undefined ? files : (areas[area] ?? [])).sort();
  // What runs is the last commit.
  if (spawnSync('git', ['diff', '--quiet', 'HEAD', '--', ...named]).status !== 0) {
    say('The files have changes that are not committed. Commit or stash them first.');
    process.exitCode = 2;
    return;
  }
  const explained = JSON.parse(readFileSync(join(import.meta.dirname, 'survivors.json'), 'utf8')) as Explained[];
  const all = named.flatMap(mutantsOf);
  const stale = explained.filter((one) => named.includes(one.file) && !all.some((mutant) => isSame(one, mutant)));
  for (const { file, before } of stale) say(`${file}: no longer possible, remove it from survivors.json: ${before}`);
  const chosen = choose(all, limit, new Random(seed));
  say(`${all.length} possible changes; trying ${chosen.length} with --seed ${seed}`);

  const count = { killed: 0, explained: 0, survived: 0, 'not run by a test': 0 };
  const report = () => say(JSON.stringify({ seed, files: named.length, possible: all.length, ...count }));
  const copies = Array.from({ length: workers }, () => new Copy());
  const remove = () => {
    for (const copy of copies.splice(0)) copy.remove();
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      report();
      remove();
      process.exit(130);
    });
  }
  try {
    const measured = await measure(copies, named, seconds, folders);
    for (const { test } of measured.filter(({ passes }) => !passes))
      say(`${test} is left out: it fails with nothing changed, or takes too long`);
    await forEach(copies, chosen, async (copy, mutant) => {
      const tests = testsOf(measured, mutant.file, mutant.line, seconds);
      const end = explained.some((one) => isSame(one, mutant))
        ? 'explained'
        : tests.length === 0
          ? 'not run by a test'
          : (await isKilled(copy, mutant, tests))
            ? 'killed'
            : 'survived';
      count[end]++;
      if (end === 'survived' || end === 'not run by a test') say(`${end}: ${described(mutant)}`);
    });
  } finally {
    remove();
  }
  report();
  if (area !== undefined)
    keep(area, { possible: all.length, seed, ...count, ...(folders.length > 0 && { tests: folders }) });
  if (count.survived + count['not run by a test'] > 0) process.exitCode = 1;
}

/** The last result of each area. */
function keep(area: string, result: object): void {
  const path = join(import.meta.dirname, 'areas.json');
  const results = { ...JSON.parse(readFileSync(path, 'utf8')), [area]: result };
  writeFileSync(path, `${JSON.stringify(results, null, 2)}\n`);
}

async function isKilled(copy: Copy, mutant: Mutant, tests: readonly Measured[]): Promise<boolean> {
  const args = ['--runInBand', '--silent', '--bail', '--testTimeout=60000', ...stopEarly, '--runTestsByPath'];
  const cpuSeconds = 10 + 3 * Math.ceil(tests.reduce((sum, { seconds }) => sum + seconds, 0));
  const named = tests.map(({ test }) => test);
  const { code } = await copy.with(
    mutant.file,
    (text) => mutate(text, mutant),
    () => copy.jest([...args, ...named], cpuSeconds),
  );
  return code !== 0;
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
