import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

export const root = resolve(import.meta.dirname, '../..');
const flags = [
  '--experimental-vm-modules',
  '--disable-warning=ExperimentalWarning',
  'node_modules/jest/bin/jest.js',
];

/** Does `work` for each item, in the copy that is free next. */
export async function forEach<T>(
  copies: readonly Copy[],
  items: Iterable<T>,
  work: (copy: Copy, item: T) => Promise<void>,
): Promise<void> {
  const waiting = items[Symbol.iterator]();
  await Promise.all(
    copies.map(async (copy) => {
      for (let next = waiting.next(); !next.done; next = waiting.next()) {
        await work(copy, next.value);
      }
    }),
  );
}

/**
 * A copy of the last commit, in which files can be changed and tests run without being seen
 * elsewhere.
 */
export class Copy {
  readonly folder = mkdtempSync(join(tmpdir(), 'mutants-'));

  constructor() {
    execFileSync(
      'git',
      ['worktree', 'add', '--detach', '--force', '--quiet', this.folder, 'HEAD'],
      { cwd: root },
    );
    symlinkSync(join(root, 'node_modules'), join(this.folder, 'node_modules'));
  }

  /** Does something while a file has another text. */
  async with<T>(
    file: string,
    changed: (text: string) => string,
    action: () => Promise<T>,
  ): Promise<T> {
    const path = join(this.folder, file);
    const original = readFileSync(path, 'utf8');
    writeFileSync(path, changed(original));
    try {
      return await action();
    } finally {
      writeFileSync(path, original);
    }
  }

  /**
   * Runs Jest, and returns its exit code. What loops forever is ended by the CPU seconds of the
   * process, not of the clock, so that a busy machine ends nothing early; what waits forever uses
   * none, so the clock ends it after twenty times as long.
   */
  async jest(
    args: readonly string[],
    cpuSeconds: number,
    variables: Record<string, string> = {},
  ): Promise<number | null> {
    const script = `ulimit -t ${cpuSeconds}; exec "$0" "$@"`;
    const child = spawn('sh', ['-c', script, process.execPath, ...flags, ...args], {
      cwd: this.folder,
      env: { ...process.env, ...variables },
      stdio: 'ignore',
      detached: true,
    });
    const { pid } = child;
    const waits = setTimeout(
      () => pid && process.kill(-pid, 'SIGKILL'),
      (60 + 20 * cpuSeconds) * 1000,
    );
    const [code] = (await once(child, 'close')) as [number | null];
    clearTimeout(waits);
    return code;
  }

  remove(): void {
    execFileSync('git', ['worktree', 'remove', '--force', this.folder], { cwd: root });
    rmSync(this.folder, { recursive: true, force: true });
  }
}
