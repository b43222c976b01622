import type { Amount, LoadStage, Progress } from '../loader/steps/step.ts';

/** How much of a stage is done, out of what total, and in how many seconds. */
export type Tally = { bytes: number; rows: number; total: Amount; seconds: number };

/**
 * The share that is done, 0 to 1: by bytes if their total is known, else by rows; `null` if neither
 * is known.
 */
function shareOf({ bytes, rows, total }: Tally): number | null {
  if (total.bytes) return Math.min(1, bytes / total.bytes);
  return total.rows ? Math.min(1, rows / total.rows) : null;
}

/** `12.3 of 305 MB, 1,234,567 rows`. */
export function amountText({ bytes, rows, total }: Tally): string {
  const parts: string[] = [];
  if (total.bytes) parts.push(`${megabytes(bytes)} of ${megabytes(total.bytes)} MB`);
  else if (bytes > 0) parts.push(`${megabytes(bytes)} MB`);
  // A table that something else wrote to has more rows than it should.
  if (total.rows && rows <= total.rows) {
    parts.push(`${thousands(rows)} of ${thousands(total.rows)} rows`);
  } else if (rows > 0) parts.push(`${thousands(rows)} rows`);
  return parts.join(', ');
}

/** `8.3 MB/s, 4,100 rows/s`; empty in the first tenth of a second. */
export function rateText({ bytes, rows, seconds }: Tally): string {
  if (seconds < 0.1) return '';
  const parts: string[] = [];
  if (bytes > 0) parts.push(`${megabytes(bytes / seconds)} MB/s`);
  if (rows > 0) parts.push(`${thousands(rows / seconds)} rows/s`);
  return parts.join(', ');
}

/** `1:05 left`; empty while there is too little to estimate from. */
export function leftText(tally: Tally): string {
  const share = shareOf(tally);
  if (share === null || share < 0.01 || tally.seconds < 0.5) return '';
  return `${clock((tally.seconds / share) * (1 - share))} left`;
}

/** `0:07`, `1:02:03`. */
function clock(seconds: number): string {
  const whole = Math.round(seconds);
  const parts = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  if (parts[0] === 0) parts.shift();
  return parts
    .map((part, index) => (index === 0 ? `${part}` : String(part).padStart(2, '0')))
    .join(':');
}

function megabytes(bytes: number): string {
  const megabytes = bytes / 1e6;
  return megabytes < 100 ? megabytes.toFixed(1) : thousands(megabytes);
}

function thousands(count: number): string {
  return Math.round(count).toLocaleString('en');
}

const barCharacters = 24;
const drawnEveryMilliseconds = 100;
const signals = ['SIGINT', 'SIGTERM'] as const;

/** Progress on a terminal: one line, which other output has to make room for. */
export type ProgressLine = Progress & {
  /** Removes the line while `write` runs, so that its output has lines of its own. */
  withoutLine(write: () => void): void;
  /** Ends the line of a stage that has not ended, which then says how far it came. */
  leave(): void;
};

/**
 * Shows a stage as one line with bytes, rows, rate and time left. Ctrl-C ends the line with the
 * amount done by then, and continues to other listeners, or ends the process.
 */
export function progressBars(stream: NodeJS.WriteStream): ProgressLine {
  let current: { line: (mark: string) => string; forget: () => void } | undefined;
  const draw = (mark = '') => void stream.write(`\r\x1b[K${current?.line(mark) ?? ''}`);
  const close = (mark: string) => {
    if (!current) return;
    draw(mark);
    stream.write('\n');
    current.forget();
    current = undefined;
  };
  return {
    begin(stage, total) {
      close('not finished');
      const startedAt = performance.now();
      const tally: Tally = { bytes: 0, rows: 0, total, seconds: 0 };
      let drawnAt = 0;
      const interrupt = (signal: NodeJS.Signals) => {
        close('interrupted');
        if (process.listenerCount(signal) === 0) process.kill(process.pid, signal);
      };
      // Before all other listeners, because a listener for one signal would be gone.
      for (const signal of signals) process.prependOnceListener(signal, interrupt);
      const stageLine = {
        line(mark: string) {
          tally.seconds = (performance.now() - startedAt) / 1000;
          return lineOf(stage, tally, mark, stream.columns);
        },
        forget() {
          for (const signal of signals) process.off(signal, interrupt);
        },
      };
      current = stageLine;
      draw();
      return {
        advance({ bytes = 0, rows = 0 }) {
          tally.bytes += bytes;
          tally.rows += rows;
          const now = performance.now();
          if (now - drawnAt < drawnEveryMilliseconds || current !== stageLine) return;
          drawnAt = now;
          draw();
        },
        end() {
          if (current === stageLine) close('done');
        },
      };
    },
    withoutLine(write) {
      if (current) stream.write('\r\x1b[K');
      write();
      if (current) draw();
    },
    leave: () => close('not finished'),
  };
}

/**
 * As much as fits: without the bar first, then without rate and time. `mark` says how the stage
 * ended.
 */
function lineOf(stage: LoadStage, tally: Tally, mark: string, columns = 80): string {
  const share = mark === 'done' ? 1 : shareOf(tally);
  const filled = Math.round((share ?? 0) * barCharacters);
  const bar = share === null ? '' : `${'█'.repeat(filled)}${'░'.repeat(barCharacters - filled)}`;
  // A stage is not done before it has ended.
  const percent =
    share === null ? '' : `${mark === 'done' ? 100 : Math.min(99, Math.floor(share * 100))}%`;
  const amount = amountText(tally);
  const running = mark === '' ? [rateText(tally), leftText(tally)] : [mark];
  const lines = [
    [bar, percent, amount, ...running],
    [percent, amount, ...running],
    [percent, amount, mark],
    [percent, mark],
  ].map((texts) => [stage.padEnd(10), ...texts.filter((text) => text !== '')].join('  '));
  return lines.find((line) => line.length < columns) ?? stage;
}

/**
 * The same progress with the current stage: `apply, 1,200 of 11,927 rows`; `undefined` between
 * stages.
 */
export function watchedProgress(progress: Progress): {
  progress: Progress;
  stage: () => string | undefined;
} {
  let current: (Tally & { stage: LoadStage }) | undefined;
  return {
    stage: () =>
      current && [current.stage, amountText(current)].filter((text) => text !== '').join(', '),
    progress: {
      begin(stage, total) {
        const shown = progress.begin(stage, total);
        const tally = { stage, bytes: 0, rows: 0, total, seconds: 0 };
        current = tally;
        return {
          advance(amount) {
            tally.bytes += amount.bytes ?? 0;
            tally.rows += amount.rows ?? 0;
            shown.advance(amount);
          },
          end() {
            if (current === tally) current = undefined;
            shown.end();
          },
        };
      },
    },
  };
}

const defaultIntervalSeconds = 10;

/**
 * Writes plain lines for a log: one when a stage ends, and one every ten seconds during a long one.
 */
export function progressLines(
  write: (line: string) => void,
  intervalSeconds = defaultIntervalSeconds,
): Progress {
  return {
    begin(stage, total) {
      const startedAt = performance.now();
      const tally: Tally = { bytes: 0, rows: 0, total, seconds: 0 };
      let writtenAt = 0;
      const writeLine = (...texts: string[]) =>
        write(`${[stage, ...texts.filter((text) => text !== '')].join(', ')}\n`);
      return {
        advance({ bytes = 0, rows = 0 }) {
          tally.bytes += bytes;
          tally.rows += rows;
          tally.seconds = (performance.now() - startedAt) / 1000;
          if (tally.seconds - writtenAt < intervalSeconds) return;
          writtenAt = tally.seconds;
          writeLine(amountText(tally), rateText(tally), leftText(tally));
        },
        end() {
          const seconds = (performance.now() - startedAt) / 1000;
          writeLine(
            amountText(tally),
            `done in ${seconds < 10 ? `${seconds.toFixed(1)} s` : clock(seconds)}`,
          );
        },
      };
    },
  };
}

/**
 * One line in a terminal, plain lines elsewhere. On standard error, so that standard output can be
 * piped.
 */
export function showProgress(stream: NodeJS.WriteStream = process.stderr): Progress {
  return stream.isTTY ? progressBars(stream) : progressLines((line) => void stream.write(line));
}
