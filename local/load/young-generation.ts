import { setFlagsFromString } from 'node:v8';
import type { Worker } from 'node:worker_threads';

/**
 * Runs work with many objects that outlive a collection but not the work, such as a load of days of mutations, without
 * letting V8's young generation grow: V8 would give it 64 MB, twice, and fill both before it frees dropped objects
 * (decision 0113).
 */
export async function inSmallYoungGeneration<T>(work: () => Promise<T>): Promise<T> {
  setFlagsFromString('--semi-space-growth-factor=1');
  try {
    return await work();
  } finally {
    setFlagsFromString('--semi-space-growth-factor=2');
  }
}

const ofProcess = process.execArgv.find((flag) => flag.startsWith('--max-semi-space-size='));

/**
 * Starts a thread with the young generation of its own limits. V8 would prefer the flag on the command line, which
 * `npm start` keeps small: without it a minute of requests takes 50 MB more, and with it a load would take more CPU.
 */
export function withOwnYoungGeneration(start: () => Worker): Worker {
  if (ofProcess === undefined) return start();
  setFlagsFromString('--max-semi-space-size=0');
  return start().once('online', () => setFlagsFromString(ofProcess));
}
