import type { Progress } from '../../loader/progress.ts';
import { progressBars } from './progress-bars.ts';
import { progressLines } from './progress-lines.ts';

/** Bars where someone looks at a terminal, plain lines where not. On standard error: output stays for a program. */
export function showProgress(stream: NodeJS.WriteStream = process.stderr): Progress {
  return stream.isTTY ? progressBars(stream) : progressLines((line) => void stream.write(line));
}
