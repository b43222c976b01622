import { PassThrough } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import {
  amountText,
  clock,
  leftText,
  progressBars,
  progressLines,
  rateText,
  shareOf,
  showProgress,
} from '../../local/progress.ts';

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

describe('bars', () => {
  it('show bytes and rows in a terminal', () => {
    const stream = Object.assign(new PassThrough(), {
      isTTY: true,
      columns: 120,
      cursorTo: () => {},
      clearLine: () => {},
    });
    const shown = progressBars(stream as unknown as NodeJS.WriteStream).begin('extract', { bytes: 2_000_000 });
    shown.advance({ bytes: 2_000_000, rows: 16_113 });
    shown.end();
    expect(String(stream.read())).toContain('2.0 of 2.0 MB, 16,113 rows');
  });

  it('are replaced by plain lines in a file', () => {
    const stream = new PassThrough();
    showProgress(stream as unknown as NodeJS.WriteStream)
      .begin('merge', {})
      .end();
    expect(String(stream.read())).toMatch(/^merge, done in 0\.\d s\n$/);
  });
});
