import { spawnSync } from 'node:child_process';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { Command } from 'commander';
import { Random } from '../bench/generator/random.ts';

/** One change of one line of a file, which some test ought to notice. */
type Mutant = { file: string; line: number; operator: string; before: string; after: string };

/** Each operator says what a line becomes, or gives it back as it is where it does not apply. */
const operators: Record<string, (line: string) => string> = {
  'flip a comparison': (line) =>
    line.replace(/ (<=|>=|<|>|===|!==) (?=[\w('"`-])/, (_, sign: string) => ` ${flipped[sign] ?? sign} `),
  'negate a condition': (line) => line.replace(/\bif \((.+)\) (?=\S)/, 'if (!($1)) '),
  'drop a clause': (line) => line.replace(/ (?:&&|\|\|) [^()&|]+(?=[);])/, ''),
  'change a constant': (line) =>
    line.replace(/(?<![\w'"`#.])(\d+)(?![\w'"`.])/, (_, number) => String(Number(number) + 1)),
  'remove a statement': (line) => line.replace(/^(\s+)(?:await )?[\w.]+\([^{}]*\);$/, '$1;'),
};

const flipped: Record<string, string> = { '<': '<=', '<=': '<', '>': '>=', '>=': '>', '===': '!==', '!==': '===' };

function mutantsOf(file: string): Mutant[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .flatMap((before, index) => {
      if (/^\s*(?:\*|\/\/|\/\*|import |export type |type )/.test(before)) return [];
      return Object.entries(operators).flatMap(([operator, mutate]) => {
        const after = mutate(before);
        return after === before ? [] : [{ file, line: index + 1, operator, before, after }];
      });
    });
}

/** Whether the tests beside it that import the file, directly or not, fail with the mutant in place; the file is restored. */
function isKilled({ file, line, after }: Mutant): boolean {
  const original = readFileSync(file, 'utf8');
  const lines = original.split('\n');
  lines[line - 1] = after;
  try {
    writeFileSync(file, lines.join('\n'));
    const jest = ['node_modules/jest/bin/jest.js', '--bail', '--silent', '--findRelatedTests', file];
    const slow = ['local', 'bin', 'lib', 'smoke', 'rehearsal', 'portal', 'bench'].map(
      (folder) => `<rootDir>/test/${folder}/`,
    );
    const flags = ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning'];
    return (
      spawnSync(process.execPath, [...flags, ...jest, '--testPathIgnorePatterns', ...slow], {
        stdio: 'ignore',
        timeout: 180_000,
      }).status !== 0
    );
  } finally {
    writeFileSync(file, original);
  }
}

const say = (text: string) => process.stdout.write(`${text}\n`);

const { files, limit, seed } = new Command('npm run mutants --')
  .description('Changes the code one line at a time and reports the changes that no test notices.')
  .option('--files <glob...>', 'the files to change', ['lambdas/shared/accounts/*.ts', 'lambdas/shared/addresses/*.ts'])
  .option('--limit <number>', 'how many changes to try, chosen at random', Number, 20)
  .option('--seed <number>', 'repeats a choice', Number, Date.now() % 100_000)
  .exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : 2))
  .parse()
  .opts<{ files: string[]; limit: number; seed: number }>();

// A killed run must not leave a changed file behind unseen.
if (spawnSync('git', ['diff', '--quiet', '--', ...globSync(files)]).status !== 0) {
  say('The files have changes that are not committed. Commit or stash them first.');
  process.exit(2);
}
const random = new Random(seed);
const left = globSync(files).sort().flatMap(mutantsOf);
say(`${left.length} possible changes; trying ${Math.min(limit, left.length)} with --seed ${seed}`);
let killed = 0;
let tried = 0;
while (tried < limit && left.length > 0) {
  const [mutant] = left.splice(random.int(left.length), 1) as [Mutant];
  tried++;
  if (isKilled(mutant)) killed++;
  else
    say(
      `survived: ${mutant.file}:${mutant.line} (${mutant.operator})\n  - ${mutant.before.trim()}\n  + ${mutant.after.trim()}`,
    );
}
say(`${killed} of ${tried} killed`);
