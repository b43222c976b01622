import { setFlagsFromString } from 'node:v8';

/**
 * Runs work with many objects that outlive a collection but not the work, such as a load of days of
 * mutations, without letting V8's young generation grow: V8 would give it 64 MB, twice, and fill
 * both before it frees dropped objects (decision 0113).
 */
export async function inSmallYoungGeneration<T>(work: () => Promise<T>): Promise<T> {
  setFlagsFromString('--semi-space-growth-factor=1');
  try {
    return await work();
  } finally {
    setFlagsFromString('--semi-space-growth-factor=2');
  }
}
