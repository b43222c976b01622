import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { type Copy, forEach, root } from './copy.ts';

/** Tests that start processes or synthesize the app: minutes for each change, to code that is tested closer by. */
const slowFolders =
  /^test\/(?:end-to-end\/example|(?:local|bin|lib|smoke|tools|architecture|portal\/(?:local|stack))\/)/;

/** A test file as it was with nothing changed. `lines` has the lines of each product file that it runs. */
export type Measured = { test: string; passes: boolean; seconds: number; lines: Record<string, number[]> };

type FileCoverage = { statementMap: Record<string, { start: { line: number } }>; s: Record<string, number> };

/**
 * Runs each test that imports one of the files, directly or not, alone and with nothing changed. What a test runs is
 * kept until it or the product changes. A test that takes twice `seconds` of CPU counts as failed. With `folders` only
 * the tests whose path begins with one of them.
 */
export async function measure(
  copies: readonly Copy[],
  files: readonly string[],
  seconds: number,
  folders: readonly string[],
): Promise<Measured[]> {
  const [first] = copies;
  if (!first) return [];
  const { output } = await first.jest(['--listTests', '--findRelatedTests', ...files], 60);
  const isOfPortal = files.some((file) => file.startsWith('portal/'));
  const tests = output
    .split('\n')
    .filter((line) => line.startsWith(first.folder))
    .map((line) => line.slice(first.folder.length + 1))
    .filter((test) => !slowFolders.test(test) && (isOfPortal || !test.startsWith('test/portal/')))
    .filter((test) => folders.length === 0 || folders.some((folder) => test.startsWith(folder)))
    .sort();
  const cache = join(root, 'node_modules/.cache/mutants');
  mkdirSync(cache, { recursive: true });
  const measured: Measured[] = [];
  await forEach(copies, tests, async (copy, test) => {
    measured.push(await keptIn(join(cache, `${hashOf(test)}.json`), () => run(copy, test, 2 * seconds)));
  });
  return measured;
}

/**
 * The tests that run a line, up to `seconds` in all: those that are named after its file first, then those of its
 * folder, then the others, each from quick to slow.
 */
export function testsOf(measured: readonly Measured[], file: string, line: number, seconds: number): Measured[] {
  const name = basename(file, '.ts');
  const nearness = ({ test }: Measured) =>
    dirname(test) !== join('test', dirname(file)) ? 0 : basename(test).startsWith(`${name}.`) ? 2 : 1;
  const running = measured
    .filter(({ passes, lines }) => passes && lines[file]?.includes(line))
    .sort((a, b) => nearness(b) - nearness(a) || a.seconds - b.seconds);
  let sum = 0;
  return running.filter((test, index) => {
    sum += test.seconds;
    return index === 0 || sum <= seconds;
  });
}

async function run(copy: Copy, test: string, cpuSeconds: number): Promise<Measured> {
  const folder = join(copy.folder, 'coverage');
  const { code, cpuSeconds: seconds } = await copy.jest(
    [
      '--runInBand',
      '--silent',
      '--coverage',
      '--coverageProvider=v8',
      '--coverageReporters=json',
      `--coverageDirectory=${folder}`,
      '--collectCoverageFrom={core,lambdas,loader,packages,portal}/**/*.ts',
      '--runTestsByPath',
      test,
    ],
    cpuSeconds,
  );
  if (code !== 0) return { test, passes: false, seconds, lines: {} };
  const files = JSON.parse(readFileSync(join(folder, 'coverage-final.json'), 'utf8')) as Record<string, FileCoverage>;
  rmSync(folder, { recursive: true });
  const lines = Object.entries(files).map(([path, { statementMap, s }]) => [
    path.slice(copy.folder.length + 1),
    Object.entries(s).flatMap(([id, count]) => (count > 0 ? [statementMap[id]?.start.line ?? 0] : [])),
  ]);
  return { test, passes: true, seconds, lines: Object.fromEntries(lines.filter(([, run]) => run?.length)) };
}

/** Changes with the test, what all tests share, and the product. */
function hashOf(test: string): string {
  const names = [test, 'test/support', 'core', 'lambdas', 'loader', 'packages', 'portal'].map((path) => `HEAD:${path}`);
  const objects = execFileSync('git', ['rev-parse', ...names], { cwd: root, encoding: 'utf8' });
  return execFileSync('git', ['hash-object', '--stdin'], { cwd: root, encoding: 'utf8', input: objects }).trim();
}

async function keptIn(path: string, find: () => Promise<Measured>): Promise<Measured> {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Measured;
  } catch {
    const found = await find();
    if (found.passes) writeFileSync(path, JSON.stringify(found));
    return found;
  }
}
