import { PassThrough } from 'node:stream';
import { describe, expect, it, jest } from '@jest/globals';
import {
  amountText,
  leftText,
  progressBars,
  progressLines,
  rateText,
  showProgress,
} from '../../local/progress-text.ts';

describe('a tally', () => {
  it.each<[Parameters<typeof leftText>[0], string, string, string]>([
    [
      { bytes: 150e6, rows: 6_150_000, total: { bytes: 300e6 }, seconds: 20 },
      '150 of 300 MB, 6,150,000 rows',
      '7.5 MB/s, 307,500 rows/s',
      '0:20 left',
    ],
    [
      { bytes: 0, rows: 5, total: { rows: 20 }, seconds: 25 },
      '5 of 20 rows',
      '0 rows/s',
      '1:15 left',
    ],
    [
      { bytes: 0, rows: 44, total: { rows: 44 }, seconds: 1 },
      '44 of 44 rows',
      '44 rows/s',
      '0:00 left',
    ],
    [{ bytes: 0, rows: 46, total: { rows: 44 }, seconds: 1 }, '46 rows', '46 rows/s', '0:00 left'],
    [{ bytes: 9e6, rows: 5, total: {}, seconds: 1 }, '9.0 MB, 5 rows', '9.0 MB/s, 5 rows/s', ''],
    [
      { bytes: 0, rows: 1, total: { rows: 2 }, seconds: 3_723 },
      '1 of 2 rows',
      '0 rows/s',
      '1:02:03 left',
    ],
  ])('of %j shows %s; %s; %s', (tally, amount, rate, left) => {
    expect([amountText(tally), rateText(tally), leftText(tally)]).toEqual([amount, rate, left]);
  });
});

describe('plain lines', () => {
  it('appear in a file once for a short stage, and at intervals for a long one', () => {
    const stream = new PassThrough();
    const short = showProgress(stream as unknown as NodeJS.WriteStream).begin('extract', {
      bytes: 2_000_000,
    });
    short.advance({ bytes: 1_000_000, rows: 10_000 });
    short.advance({ bytes: 1_000_000, rows: 6113 });
    short.end();
    expect(String(stream.read())).toMatch(
      /^extract, 2\.0 of 2\.0 MB, 16,113 rows, done in \d\.\d s\n$/,
    );

    const lines: string[] = [];
    const long = progressLines((line) => lines.push(line), 0).begin('apply', { rows: 50 });
    long.advance({ rows: 25 });
    expect(lines[0]).toMatch(/^apply, 25 of 50 rows/);
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
    expect(lines()).toEqual([
      expect.stringMatching(/^extract .* 99% {2}2\.0 of 2\.0 MB, 16,113 rows/),
    ]);
    stage.end();
    expect(lines()).toEqual([
      expect.stringMatching(/100% {2}2\.0 of 2\.0 MB, 16,113 rows {2}done$/),
      '',
    ]);
  });

  it.each([20, 40, 60, 80])(
    'is one line of less than %i columns, in which no number is cut',
    (columns) => {
      const { shown, lines } = terminal(columns);
      shown
        .begin('extract', { bytes: 3_600_000_000 })
        .advance({ bytes: 1_234_000_000, rows: 4_567_890 });
      const [line = '', ...others] = lines();
      expect(others).toEqual([]);
      expect(line.length).toBeLessThan(columns);
      expect(line).toMatch(
        /^extract +(?:[█░]+ +)?34%(?: {2}1,234 of 3,600 MB, 4,567,890 rows)?(?: {2}|$)/,
      );
    },
  );

  it('says at Ctrl-C how far the stage came, and ends the process unless others listen', () => {
    const kill = jest.spyOn(process, 'kill').mockReturnValue(true);
    const others = process.listeners('SIGINT');
    process.removeAllListeners('SIGINT');
    const other = jest.fn();
    for (const listens of [false, true]) {
      const { shown, lines } = terminal();
      if (listens) process.once('SIGINT', other);
      const stage = shown.begin('apply', { rows: 100 });
      stage.advance({ rows: 10 });
      stage.advance({ rows: 31 });
      process.emit('SIGINT', 'SIGINT');
      expect(lines()).toEqual([expect.stringMatching(/41% {2}41 of 100 rows {2}interrupted$/), '']);
      stage.advance({ rows: 1 });
      expect(lines()).toEqual(['']);
      expect([kill.mock.calls, other.mock.calls.length]).toEqual([
        [[process.pid, 'SIGINT']],
        Number(listens),
      ]);
    }
    for (const listener of others) process.on('SIGINT', listener as () => void);
    kill.mockRestore();
  });

  it('makes room for other output, and says of a stage that failed that it has not finished', () => {
    const { shown, lines } = terminal();
    shown.begin('apply', { rows: 100 }).advance({ rows: 50 });
    lines();
    shown.withoutLine(() => undefined);
    expect(lines()).toEqual([expect.stringContaining('50 of 100 rows')]);
    shown.leave();
    expect(lines()).toEqual([expect.stringMatching(/50 of 100 rows {2}not finished$/), '']);
    shown.leave();
    expect(lines()).toEqual(['']);
  });
});
