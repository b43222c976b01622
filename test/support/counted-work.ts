import { Session } from 'node:inspector/promises';

/** A pattern that was given a long text. */
export type LongUse = { pattern: string; flags: string };
export type CountedWork = { work: number; longUses: LongUse[] };

/** Above the longest value whose form is looked at, with its spaces. */
const longText = 2 * 200 + 1;

/**
 * Counts the work of a process in the files whose URL fits: the blocks that V8 runs there, and the
 * characters that patterns examine. It replaces `RegExp.prototype.exec`, so the process must be its
 * own, and one piece of work is counted at a time.
 */
export async function startCounting(
  files: RegExp,
): Promise<{ countOf(run: () => Promise<unknown>): Promise<CountedWork>; stop(): void }> {
  let examined = 0;
  let longUses = new Map<string, LongUse>();
  const { exec } = RegExp.prototype;
  // biome-ignore lint/suspicious/noExplicitAny: a replacement of what the language has
  (RegExp.prototype as any).exec = function (this: RegExp, text: string) {
    const from = this.global || this.sticky ? this.lastIndex : 0;
    const found = exec.call(this, text);
    const to = found ? found.index + found[0].length : text.length;
    examined += Math.max(0, to - from);
    if (text.length > longText) {
      longUses.set(String(this), { pattern: this.source, flags: this.flags });
    }
    return found;
  };
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });

  return {
    async countOf(run) {
      await session.post('Profiler.takePreciseCoverage');
      examined = 0;
      longUses = new Map();
      await run();
      const uses = [...longUses.values()];
      const characters = examined;
      const { result } = await session.post('Profiler.takePreciseCoverage');
      const blocks = result
        .filter(({ url }) => files.test(url))
        .flatMap(({ functions }) => functions.flatMap(({ ranges }) => ranges))
        .reduce((sum, { count }) => sum + count, 0);
      return { work: blocks + characters, longUses: uses };
    },
    stop: () => session.disconnect(),
  };
}
