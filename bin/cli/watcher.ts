import { noProgress, type Progress } from '../../loader/progress.ts';
import { progressBars, progressLines } from '../../local/progress.ts';
import type { Terminal } from './arguments.ts';

/** Who is told how far a load is. */
export type Watcher = {
  /** Of work in this process. */
  progress: Progress;
  /** A line about work elsewhere. */
  tell: (line: string) => void;
};

/** Bars where someone looks at a terminal, plain lines on standard error where not, and nothing for a script. */
export function watcherOf({ err, screen }: Terminal, { json }: { json?: true }): Watcher {
  if (json) return { progress: noProgress, tell: () => undefined };
  const progress = screen?.isTTY ? progressBars(screen) : progressLines((line) => err(line.trimEnd()));
  return { progress, tell: err };
}
