import { setFlagsFromString } from 'node:v8';

/** The smallest young generation of a thread, in MB for each of its halves. It grows where the thread may have more. */
const leastMegabytes = 4;

/**
 * Gives the threads that start from now on the young generation that each asks for by `resourceLimits`. The option
 * `--max-semi-space-size` of `npm start`, which keeps that of the main thread small, would take its place: a function
 * then collects garbage every third lookup. The main thread keeps what it has.
 */
export function sizeHeapsByThread(): void {
  setFlagsFromString('--max-semi-space-size=0');
  setFlagsFromString(`--min-semi-space-size=${leastMegabytes}`);
}
