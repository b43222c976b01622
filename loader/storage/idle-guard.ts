/** Aborts its signal when `touch` was not called for `milliseconds`, or at once by `abort`; never keeps a process up. */
export function idleGuard(milliseconds: number): { signal: AbortSignal; touch(): void; abort(): void } {
  const controller = new AbortController();
  const silence = Object.assign(new Error(`no byte in ${milliseconds / 1000} s`), { code: 'ETIMEDOUT' });
  const timer = setTimeout(() => controller.abort(silence), milliseconds);
  timer.unref();
  return {
    signal: controller.signal,
    touch: () => void timer.refresh(),
    abort: () => {
      clearTimeout(timer);
      controller.abort();
    },
  };
}
