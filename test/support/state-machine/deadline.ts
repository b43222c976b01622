/** What `work` gives, or a rejection with `error` once the time is over; the work itself goes on, as a Lambda does. */
export async function within<T>(work: Promise<T>, milliseconds: number, error: () => Error): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<never>((_, reject) => {
    // A timer takes 32 bits of milliseconds; nothing here runs for 24 days.
    timer = setTimeout(() => reject(error()), Math.min(milliseconds, 2 ** 31 - 1));
  });
  try {
    return await Promise.race([work, over]);
  } finally {
    clearTimeout(timer);
  }
}
