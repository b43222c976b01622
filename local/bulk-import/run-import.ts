import { mkdir, readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { EngineError } from '../engine.ts';
import { engineBinary } from '../engine-binary.ts';
import { startGuarded } from '../guarded-process.ts';
import type { ExportFiles } from './export-files.ts';

const lookMilliseconds = 500;

/**
 * Makes a new database of the export with the engine's own `import`, in `folder`, and gives its file. `onBytes` hears
 * how it grows.
 * @throws EngineError, also when not every item came in
 */
export async function runImport(
  files: ExportFiles,
  { tables, folder, signal }: { tables: readonly object[]; folder: string; signal: AbortSignal },
  onBytes: (count: number) => void,
): Promise<string> {
  await mkdir(folder, { recursive: true });
  const schema = join(folder, 'tables.json');
  await writeFile(schema, JSON.stringify(tables));
  const output = join(folder, 'dynamodb.db');
  const args = ['import', '--source', files.folder, '--schema', schema, '--output', output];
  // It sorts the finished database once more, by way of files that may be too large for the usual folder.
  const { ended, said, stop } = startGuarded(engineBinary(), args, { TMPDIR: folder, SQLITE_TMPDIR: folder });
  const onAbort = () => void stop();
  signal.addEventListener('abort', onAbort, { once: true });
  const looking = reportGrowth(folder, onBytes);
  const code = await ended;
  clearInterval(looking);
  signal.removeEventListener('abort', onAbort);
  signal.throwIfAborted();
  const imported = Number(/Items:\s+(\d+)/.exec(said())?.[1] ?? 0);
  if (code === 0 && imported === files.items) return output;
  throw new EngineError(
    `The embedded DynamoDB engine imported ${imported} of ${files.items} items. What was served is as it was. ` +
      `It said: ${said().trim() || 'nothing'}`,
  );
}

/** The engine tells nobody how far it is, but the file that it writes grows evenly. */
function reportGrowth(folder: string, onBytes: (count: number) => void): NodeJS.Timeout {
  let reported = 0;
  return setInterval(async () => {
    const size = await sizeOf(folder).catch(() => 0);
    if (size <= reported) return;
    onBytes(size - reported);
    reported = size;
  }, lookMilliseconds);
}

async function sizeOf(folder: string): Promise<number> {
  const names = (await readdir(folder)).filter((name) => !/-(wal|shm|journal)$/.test(name));
  const sizes = await Promise.all(names.map(async (name) => (await stat(join(folder, name))).size));
  return sizes.reduce((total, size) => total + size, 0);
}
