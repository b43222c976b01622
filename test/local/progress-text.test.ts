import { PassThrough } from 'node:stream';
import { describe, expect, it, jest } from '@jest/globals';
import {
  amountText,
  clock,
  leftText,
  progressBars,
  progressLines,
  rateText,
  shareOf,
  showProgress,
} from '../../local/progress-text.ts';

const half = { bytes: 150e6, rows: 6_150_000, total: { bytes: 300e6 }, seconds: 20 };

describe('a tally', () => {
  it('shows amount, rate and time left', () => {
    expect(amountText(half)).toBe('150 of 300 MB, 6,150,000 rows');
    expect(rateText(half)).toBe('7.5 MB/s, 307,500 rows/s');
    expect(leftText(half)).toBe('0:20 left');
  });

  it('gives no total that was exceeded', () => {
    expect(amountText({ bytes: 0, rows: 44, total: { rows: 44 }, seconds: 1 })).toBe('44 of 44 rows');
    expect(amountText({ bytes: 0, rows: 46, total: { rows: 44 }, seconds: 1 })).toBe('46 rows');
  });

  it('counts rows when the bytes are unknown, and shows no share when both are', () => {
    expect(shareOf({ bytes: 0, rows: 5, total: { rows: 20 }, seconds: 1 })).toBe(0.25);
    expect(shareOf({ bytes: 9, rows: 5, total: {}, seconds: 1 })).toBeNull();
    expect(leftText({ bytes: 9, rows: 5, total: {}, seconds: 1 })).toBe('');
  });

  it.each([
    [7, '0:07'],
    [65, '1:05'],
    [3723, '1:02:03'],
  ])('writes %d seconds as %s', (seconds, text) => {
    expect(clock(seconds)).toBe(text);
  });
});

describe('plain lines', () => {
  it('appear once for a short stage, and at intervals for a long one', () => {
    const lines: string[] = [];
    const short = progressLines((line) => lines.push(line)).begin('extract', { bytes: 2_000_000 });
    short.advance({ bytes: 1_000_000, rows: 10_000 });
    short.advance({ bytes: 1_000_000, rows: 6113 });
    short.end();
    expect(lines).toEqual([expect.stringMatching(/^extract, 2\.0 of 2\.0 MB, 16,113 rows, done in \d\.\d s\n$/)]);

    const long = progressLines((line) => lines.push(line), 0).begin('apply', { rows: 50 });
    long.advance({ rows: 25 });
    expect(lines[1]).toMatch(/^apply, 25 of 50 rows/);
  });
});

describe('the line of a terminal', () => {
  function terminal(columns = 120) {
    const stream = Object.assign(new PassThrough(), { isTTY: true, columns });
    const shown = progressBars(stream as unknown as NodeJS.WriteStream);
    /** What the terminal shows after all that was written. */
    const lines = () =>
      String(stream.read() ?? '')
        .split('\n')
        .map((line) => line.split('\r\x1b[K').at(-1) ?? '');
    return { shown, lines };
  }

  it('shows bytes and rows, and is 100% only when the stage has ended', () => {
    const { shown, lines } = terminal();
    const stage = shown.begin('extract', { bytes: 2_000_000 });
    stage.advance({ bytes: 2_000_000, rows: 16_113 });
    expect(lines()).toEqual([expect.stringMatching(/^extract .* 99% {2}2\.0 of 2\.0 MB, 16,113 rows/)]);
    stage.end();
    expect(lines()).toEqual([expect.stringMatching(/100% {2}2\.0 of 2\.0 MB, 16,113 rows {2}done$/), '']);
  });

  it.each([20, 40, 60, 80])('is one line of less than %i columns, in which no number is cut', (columns) => {
    const { shown, lines } = terminal(columns);
    shown.begin('extract', { bytes: 3_600_000_000 }).advance({ bytes: 1_234_000_000, rows: 4_567_890 });
    const [line = '', ...others] = lines();
    expect(others).toEqual([]);
    expect(line.length).toBeLessThan(columns);
    expect(line).toMatch(/^extract +(?:[█░]+ +)?34%(?: {2}1,234 of 3,600 MB, 4,567,890 rows)?(?: {2}|$)/);
  });

  it('says at Ctrl-C how far the stage came, and leaves the signal to others', () => {
    const { shown, lines } = terminal();
    const other = jest.fn();
    process.once('SIGINT', other);
    const stage = shown.begin('apply', { rows: 100 });
    stage.advance({ rows: 10 });
    stage.advance({ rows: 31 });
    process.emit('SIGINT', 'SIGINT');
    expect(lines()).toEqual([expect.stringMatching(/41% {2}41 of 100 rows {2}interrupted$/), '']);
    expect(other).toHaveBeenCalledTimes(1);
    stage.advance({ rows: 1 });
    expect(lines()).toEqual(['']);
  });

  it('ends the process at Ctrl-C if nobody else listens', () => {
    const kill = jest.spyOn(process, 'kill').mockReturnValue(true);
    const others = process.listeners('SIGINT');
    process.removeAllListeners('SIGINT');
    try {
      terminal().shown.begin('apply', { rows: 100 });
      process.emit('SIGINT', 'SIGINT');
      expect(kill).toHaveBeenCalledWith(process.pid, 'SIGINT');
    } finally {
      for (const other of others) process.on('SIGINT', other as () => void);
      kill.mockRestore();
    }
  });

  it('makes room for other output, and says of a stage that failed that it has not finished', () => {
    const { shown, lines } = terminal();
    shown.begin('apply', { rows: 100 }).advance({ rows: 50 });
    lines();
    shown.around(() => undefined);
    expect(lines()).toEqual([expect.stringContaining('50 of 100 rows')]);
    shown.leave();
    expect(lines()).toEqual([expect.stringMatching(/50 of 100 rows {2}not finished$/), '']);
    shown.leave();
    expect(lines()).toEqual(['']);
  });
});

it('is replaced by plain lines in a file', () => {
  const stream = new PassThrough();
  showProgress(stream as unknown as NodeJS.WriteStream)
    .begin('merge', {})
    .end();
  expect(String(stream.read())).toMatch(/^merge, done in 0\.\d s\n$/);
});
