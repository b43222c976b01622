import type { Readable } from 'node:stream';

/** Passes on each complete line of the chunks, and at the end what is left. */
export function lineSplitter(log: (line: string) => void) {
  let rest = '';
  return (chunk: string, isEnd = false): void => {
    const lines = (rest + chunk).split('\n');
    rest = isEnd ? '' : (lines.pop() ?? '');
    for (const line of lines) if (!isEnd || line !== '') log(line);
  };
}

/** Passes on each line of a stream, also a last one without an end. */
export function eachLine(stream: Readable, log: (line: string) => void): void {
  const split = lineSplitter(log);
  stream.setEncoding('utf8').on('data', split);
  stream.on('close', () => split('', true));
}

/** More than this is passed on at once, so that a function that writes a lot holds little of it. */
const heldCharacters = 16_384;

/**
 * In a worker thread: holds what the thread writes to standard output for `take`, which adds it to a message that is
 * sent anyway. Sent by itself it wakes the other thread, whose receipt wakes this one again: a tenth of a lookup. What
 * nobody takes within the turn of the event loop, and at the end of the thread, goes to `send`.
 */
export function holdPrinted(send: (printed: string) => void): { take: () => string } {
  let held = '';
  const take = () => {
    const printed = held;
    held = '';
    return printed;
  };
  const flush = () => {
    if (held !== '') send(take());
  };
  const write = (chunk: string | Uint8Array, encoding?: unknown, callback?: unknown): boolean => {
    if (held === '') setImmediate(flush);
    held += typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString();
    if (held.length > heldCharacters) flush();
    const done = typeof encoding === 'function' ? encoding : callback;
    if (typeof done === 'function') process.nextTick(done);
    return true;
  };
  process.stdout.write = write;
  process.on('exit', flush);
  return { take };
}
