const checkMilliseconds = 1_000;

/** Calls back, once, when the npm that started us is gone without having told us; never keeps the process up. */
export function whenOrphaned(callback: () => void): void {
  if (process.env.npm_lifecycle_event === undefined) return;
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    callback();
  }, checkMilliseconds);
  timer.unref();
}
