import { globSync } from 'node:fs';
import { join } from 'node:path';

/** The file of this name that the last release keeps here: that of the highest version. */
export function fixtureOfLastRelease(file: string): string | undefined {
  const found = globSync(`*/${file}`, { cwd: import.meta.dirname });
  const last = found.sort((a, b) => a.localeCompare(b, 'en', { numeric: true })).at(-1);
  return last && join(import.meta.dirname, last);
}
