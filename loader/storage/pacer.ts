import { setTimeout as sleep } from 'node:timers/promises';

/** Resolves when so many more units may go out, at most `perSecond` on average and a second's worth at once. */
export function pacer(perSecond: number): (units: number) => Promise<void> {
  if (perSecond === Number.POSITIVE_INFINITY) return async () => undefined;
  let freeAt = performance.now() - 1000;
  return async (units) => {
    const now = performance.now();
    const goAt = Math.max(freeAt, now - 1000);
    freeAt = goAt + (units / perSecond) * 1000;
    if (freeAt > now) await sleep(freeAt - now);
  };
}
