import { resolve } from 'node:path';

/**
 * Where the extract is that a person named: a URL or `s3://bucket/key` as it is, anything else as the path of a file, from
 * `folder`. `null` for a URL of another kind.
 */
export function sourceLocation(named: string, folder: string): string | null {
  if (/^(?:https?|s3):\/\/./i.test(named)) return named;
  return /^[a-z][a-z0-9+.-]*:\/\//i.test(named) ? null : resolve(folder, named);
}
