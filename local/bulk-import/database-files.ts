import { existsSync } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';

/** What the engine keeps beside its database: writes that are not in it yet. */
const besides = ['-wal', '-shm', '-journal'];

/** The folder that an import into the database works in; nothing in it is worth keeping. */
export function importFolder(databaseFile: string): string {
  return `${databaseFile}.import`;
}

/** The database that takes the place of the one there. Once it has this name it is whole, and it will. */
function importedFile(databaseFile: string): string {
  return `${databaseFile}.imported`;
}

/** All files and folders that belong to the database, also those of an import that died. */
export function allOfDatabase(databaseFile: string): string[] {
  const files = ['', ...besides].map((ending) => databaseFile + ending);
  return [...files, importedFile(databaseFile), importFolder(databaseFile)];
}

/** Puts `newFile` in the place of the database, for good, though it dies at any moment. No engine may use either. */
export async function replaceDatabase(databaseFile: string, newFile: string): Promise<void> {
  const file = await open(newFile);
  await file.sync();
  await file.close();
  await rename(newFile, importedFile(databaseFile));
  await finishImport(databaseFile);
}

/** Ends what an import that died has left, well or as if it never began. To be done before an engine starts. */
export async function finishImport(databaseFile: string): Promise<void> {
  if (existsSync(importedFile(databaseFile))) {
    // Those of the old database would be taken for writes to the new one.
    for (const ending of besides) await rm(databaseFile + ending, { force: true });
    await rename(importedFile(databaseFile), databaseFile);
  }
  await rm(importFolder(databaseFile), { recursive: true, force: true });
}
