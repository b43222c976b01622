import { execFile, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';

/** What a judge found, nothing where it has no objection, and how much it looked at. */
export type Verdict = { findings: string[]; detail: string };

/** Somebody else's program that judges this project. */
export type Judge = {
  /** What it is and what it judges, for the list of judges. */
  description: string;
  /** The commands that must be on the `PATH`, each with the arguments that show that it works. */
  needs: readonly [command: string, ...args: string[]][];
  /** The names of its parts, if one of them can be judged alone. */
  parts?: readonly string[];
  judge(part?: string): Promise<Verdict>;
};

export const root = resolve(import.meta.dirname, '../..');
/** What judges need or leave, in this checkout. */
export const cache = join(root, 'node_modules/.cache/judges');

/** The first of the commands that a judge lacks on this machine; undefined if it can sit. */
export function lacks({ needs }: Judge): string | undefined {
  const missing = needs.find(
    ([command, ...args]) => spawnSync(command, args, { stdio: 'ignore' }).status !== 0,
  );
  return missing?.join(' ');
}

/**
 * A folder with what `install` puts there, once for each content of the file that pins it. What an
 * interrupted installation leaves is removed first.
 */
export async function installed(
  pins: string,
  install: (folder: string) => Promise<void>,
): Promise<string> {
  mkdirSync(cache, { recursive: true });
  // npm takes a project on a path with a symbolic link for a package that its lock file lacks.
  const folder = join(realpathSync(cache), pins.replaceAll('/', '-'));
  const done = join(folder, 'installed');
  const wanted = readFileSync(join(import.meta.dirname, pins), 'utf8');
  if (existsSync(done) && readFileSync(done, 'utf8') === wanted) return folder;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  await install(folder);
  writeFileSync(done, wanted);
  return folder;
}

/**
 * A virtual environment with the packages of a file of pinned versions and hashes, in its `bin`.
 */
export async function pythonPackages(pins: string): Promise<string> {
  return installed(pins, async (into) => {
    await run('python3', ['-m', 'venv', into]);
    const options = [
      '--quiet',
      '--require-hashes',
      '--requirement',
      join(import.meta.dirname, pins),
    ];
    await run(join(into, 'bin/pip'), ['install', ...options]);
  });
}

/**
 * The folder of the packages of an npm lock file, which install without scripts and leave peers to
 * this checkout.
 */
export async function npmPackages(pins: string): Promise<string> {
  return installed(pins, async (into) => {
    for (const file of ['package.json', 'package-lock.json']) {
      cpSync(join(import.meta.dirname, dirname(pins), file), join(into, file));
    }
    // `npm run --silent` would pass on that it says nothing of a failure.
    const shown = ['--loglevel', 'error', '--no-audit', '--no-fund'];
    const options = ['--legacy-peer-deps', '--ignore-scripts', ...shown, '--prefix', into];
    await run('npm', ['ci', ...options]);
  });
}

/** Runs a command to its end. @throws Error with the end of what it printed */
export async function run(command: string, args: readonly string[]): Promise<void> {
  try {
    await promisify(execFile)(command, args, { cwd: root, maxBuffer: 2 ** 28 });
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    throw new Error(`${command} ${args[0] ?? ''} failed:\n${`${stdout}${stderr}`.slice(-4_000)}`);
  }
}

/** A finding where docs/evidence/judges.md does not have this table between its marks. */
export function differsFromPage(mark: string, table: string): string[] {
  const expected = `<!-- ${mark} -->\n\n${table}\n\n<!-- /${mark} -->`;
  const is = readFileSync(join(root, 'docs/evidence/judges.md'), 'utf8').includes(expected);
  return is ? [] : [`docs/evidence/judges.md: what is between its marks must be:\n${expected}`];
}

/** Of the names and contents of all files of a folder without others in it. */
export function digestOf(folder: string): string {
  const hash = createHash('sha256');
  for (const file of readdirSync(folder).sort()) {
    hash.update(`${file}\0`).update(readFileSync(join(folder, file)));
  }
  return hash.digest('hex');
}
