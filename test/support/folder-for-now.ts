import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A new folder that is gone when the test file ends or, in a benchmark, the process. */
export function folderForNow(prefix: string): string {
  const folder = mkdtempSync(join(tmpdir(), prefix));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  const { afterAll } = globalThis as { afterAll?: (end: () => void) => void };
  if (afterAll) afterAll(remove);
  else {
    process.once('exit', remove);
  }
  return folder;
}
