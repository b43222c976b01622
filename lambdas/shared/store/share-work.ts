/**
 * Lets callers of `work` in one process share it: of those that ask for the same `key` while it is running, all get the
 * next run. So each gets a result that was begun after it asked, and a crowd costs two runs at a time.
 */
export function shareWork<T>(work: (key: string) => Promise<T>): (key: string) => Promise<T> {
  const slots = new Map<string, { running: Promise<T>; next?: Promise<T> }>();

  function start(key: string): Promise<T> {
    const slot: { running: Promise<T>; next?: Promise<T> } = { running: work(key) };
    slots.set(key, slot);
    const release = () => {
      if (!slot.next) slots.delete(key);
    };
    slot.running.then(release, release);
    return slot.running;
  }

  return (key) => {
    const slot = slots.get(key);
    if (!slot) return start(key);
    const restart = () => start(key);
    slot.next ??= slot.running.then(restart, restart);
    return slot.next;
  };
}
