import { afterAll, beforeAll } from '@jest/globals';

/**
 * What the tests of a file or a group share: it is started before them and stopped after them.
 * Until then the object that this returns is empty.
 */
export function startForTests<T extends { stop(): Promise<void> }>(
  start: () => Promise<T>,
  milliseconds?: number,
): T {
  const started = {} as T;
  beforeAll(async () => {
    Object.defineProperties(started, Object.getOwnPropertyDescriptors(await start()));
  }, milliseconds);
  afterAll(() => started.stop());
  return started;
}
