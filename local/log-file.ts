import { closeSync, openSync, renameSync, writeSync } from 'node:fs';

/** A log file of bounded size; writing a line never throws. */
export type LogFile = {
  write(line: string): void;
  close(): void;
};

/**
 * Some ten thousand lines. The file and the previous one together take up at most twice as much.
 */
const defaultMaxBytes = 10_000_000;
/** After an error, such as a full disk, lines are dropped for this long. */
const retryMilliseconds = 10_000;

/** The file that a full log file is renamed to. */
export function previousLogFile(path: string): string {
  return `${path}.1`;
}

/**
 * Starts a new log file, readable by its owner only.
 * @param onError called with an explanation when lines are being dropped
 */
export function openLogFile(
  path: string,
  onError: (message: string) => void,
  maxBytes: number = defaultMaxBytes,
): LogFile {
  let bytes = 0;
  let droppingUntil = 0;
  let closed = false;
  /**
   * The lines of one turn of the event loop, which one write takes: many requests end in a turn.
   */
  let waiting = '';
  let file = openSync(path, 'w', 0o600);

  function rotate(): void {
    renameSync(path, previousLogFile(path));
    const previous = file;
    file = openSync(path, 'w', 0o600);
    closeSync(previous);
    bytes = 0;
  }

  // Synchronous, so a slow disk lets no backlog grow in memory.
  function flush(): void {
    const text = waiting;
    waiting = '';
    if (closed || text === '' || Date.now() < droppingUntil) return;
    try {
      if (bytes > 0 && bytes + Buffer.byteLength(text) > maxBytes) rotate();
      bytes += writeSync(file, text);
    } catch (error) {
      droppingUntil = Date.now() + retryMilliseconds;
      onError(`The log ${path} can't be written, so lines are lost: ${(error as Error).message}`);
    }
  }

  return {
    write(line) {
      if (waiting.length + line.length > maxBytes) flush();
      if (waiting === '') setImmediate(flush);
      waiting += `${line}\n`;
    },
    close() {
      flush();
      if (!closed) closeSync(file);
      closed = true;
    },
  };
}
