import { statfs } from 'node:fs/promises';

/**
 * Bytes of disk that an import takes for each line while it runs: the export, the new database, and what the engine sorts
 * that by. Measured are 677 with the country's lengths of names; somewhat less, so that nothing is refused which would fit.
 */
const bytesALine = 640;

/** The disk has too little room for an import. The message says how much it takes, where, and what to do. */
export class NoRoomError extends Error {
  override name = 'NoRoomError';

  constructor(folder: string, lines: number, found: string, options?: ErrorOptions) {
    super(
      `To import ${lines.toLocaleString('en')} addresses takes ${gigabytes(lines * bytesALine)} of free disk in ${folder} ` +
        `while it runs: ${found}. Make room and start again, which goes on from here, or keep the data on another disk ` +
        'with --data FOLDER.',
      options,
    );
  }
}

/** Checks that there is room for an import in the folder. @throws NoRoomError */
export async function requireRoom(folder: string, lines: number, freeIn = freeBytes): Promise<void> {
  const free = await freeIn(folder);
  if (free < lines * bytesALine) throw new NoRoomError(folder, lines, `there are ${gigabytes(free)}`);
}

/** What this user may still write in the folder; root has a reserve. */
async function freeBytes(folder: string): Promise<number> {
  const { bavail, bfree, bsize } = await statfs(folder);
  return (process.geteuid?.() === 0 ? bfree : bavail) * bsize;
}

function gigabytes(bytes: number): string {
  return `${(bytes / 1e9).toFixed(2)} GB`;
}
