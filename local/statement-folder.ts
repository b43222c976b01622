import { randomUUID } from 'node:crypto';
import { link, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { StatementStore } from '../packages/admin/accounts/monthly-statements.ts';

/** Statements in a folder, in place of the bucket of a deployment. */
export function statementFolder(folder: string): StatementStore {
  return {
    read: (key) => readFile(join(folder, key)).catch(nullWhenMissing),
    async create(key, bytes) {
      const path = join(folder, key);
      const part = `${path}.${randomUUID()}.part`;
      await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      try {
        await writeFile(part, bytes, { mode: 0o600, flush: true });
        // Whole or not at all, and never in place of another one.
        await link(part, path);
        return true;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
        throw error;
      } finally {
        await rm(part, { force: true });
      }
    },
    async list(prefix) {
      const entries = await readdir(join(folder, prefix), { withFileTypes: true }).catch(nullWhenMissing);
      return (entries ?? []).flatMap((entry) => (entry.isFile() ? [`${prefix}${entry.name}`] : []));
    },
  };
}

function nullWhenMissing(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT') return null;
  throw error;
}
