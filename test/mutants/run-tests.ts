import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { type Mutant, mutate } from './operators.ts';

const root = resolve(import.meta.dirname, '../..');
const flags = ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning', 'node_modules/jest/bin/jest.js'];

/** Of the process, so that a busy machine kills no mutant: what runs for longer loops for ever. */
const cpuSeconds = 300;

/** Tests that start processes or synthesize the app: minutes for each mutant, for code that is tested closer by. */
const slowFolders = /\/test\/(?:local|bin|lib|smoke|rehearsal|portal|bench|chaos|package|architecture)\//;

/**
 * The tests of a file in the order in which they are tried: those that are named after it, those in the folder that mirrors
 * its own, and the closest others that import it, directly or not.
 */
export type TestsOf = string[][];

/** How many folders two paths have in common from their beginning on. */
function sharedFolders(a: string, b: string): number {
  const [one, other] = [a.split('/'), b.split('/')];
  const end = one.findIndex((name, index) => name !== other[index]);
  return end < 0 ? one.length : end;
}

/** A copy of the last commit, in which files can be changed without being seen elsewhere. */
export class Copy {
  readonly #folder = mkdtempSync(join(tmpdir(), 'mutants-'));

  constructor() {
    execFileSync('git', ['worktree', 'add', '--detach', '--force', '--quiet', this.#folder, 'HEAD'], { cwd: root });
    symlinkSync(join(root, 'node_modules'), join(this.#folder, 'node_modules'));
  }

  /** @param mostFar how many tests of other folders */
  async testsOf(file: string, mostFar: number): Promise<TestsOf> {
    const { output } = await this.#jest(['--listTests', '--findRelatedTests', file]);
    const paths = output.split('\n').filter((line) => line.startsWith(this.#folder) && !slowFolders.test(line));
    const folder = join('test', dirname(file));
    const relative = paths.map((path) => path.slice(this.#folder.length + 1));
    const own = relative.filter((path) => path.startsWith(`${join('test', file).slice(0, -3)}.`));
    const near = relative.filter((path) => dirname(path) === folder && !own.includes(path));
    const far = relative.filter((path) => dirname(path) !== folder);
    const shared = (path: string) => sharedFolders(path, folder);
    far.sort((a, b) => shared(b) - shared(a) || (a < b ? -1 : 1));
    return [own, near, far.slice(0, mostFar)].filter((tests) => tests.length > 0);
  }

  /** Whether a test fails with the mutant in place. */
  async isKilled(mutant: Mutant, tests: TestsOf): Promise<boolean> {
    const path = join(this.#folder, mutant.file);
    const original = readFileSync(path, 'utf8');
    writeFileSync(path, mutate(original, mutant));
    try {
      for (const group of tests) if (!(await this.pass(group))) return true;
      return false;
    } finally {
      writeFileSync(path, original);
    }
  }

  remove(): void {
    execFileSync('git', ['worktree', 'remove', '--force', this.#folder], { cwd: root });
    rmSync(this.#folder, { recursive: true, force: true });
  }

  /** Whether the tests pass with the copy as it is. */
  async pass(tests: readonly string[]): Promise<boolean> {
    const { code } = await this.#jest([
      '--bail',
      '--silent',
      '--runInBand',
      '--testTimeout=600000',
      '--runTestsByPath',
      ...tests,
    ]);
    return code === 0;
  }

  async #jest(args: readonly string[]): Promise<{ code: number | null; output: string }> {
    const script = `ulimit -t ${cpuSeconds}; exec "$0" "$@"`;
    const child = spawn('sh', ['-c', script, process.execPath, ...flags, ...args], {
      cwd: this.#folder,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
    const code = await new Promise<number | null>((done) => child.once('close', done));
    return { code, output };
  }
}
