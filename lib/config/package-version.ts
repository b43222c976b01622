import { readFileSync } from 'node:fs';

/** The version that is deployed: an output for `doctor`, a tag, and a dimension of a metric. */
export function packageVersion(): string {
  return JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')).version;
}
