import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** What is counted of one request. */
type Counted = { kind: string; work: number };

/** Runs a script of this folder that counts hostile work, and reads its rows. @throws its errors */
export function rowsOf<Row extends Counted>(script: string, ...args: string[]): Row[] {
  const path = fileURLToPath(new URL(script, import.meta.url));
  const { stdout, stderr } = spawnSync(process.execPath, [path, ...args], {
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
  });
  if (stderr) throw new Error(stderr);
  return stdout
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));
}

/**
 * The kinds that cost over 2.5 times as much at twice the size, if that is more than `least`; each
 * has a row of half the size, then a whole one.
 */
export function grownIn(rows: readonly Counted[], least: number): string[] {
  return rows.flatMap(({ kind, work }, at) => {
    const half = rows[at - 1];
    if (at % 2 === 0 || !half || work <= least || work <= 2.5 * half.work) return [];
    return [`${kind}: ${half.work}, ${work}`];
  });
}
