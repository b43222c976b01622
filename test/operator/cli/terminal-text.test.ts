import { afterEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { ago, display, table } from '../../../operator/cli/terminal-text.ts';

const drawn = (head: string[], rows: string[][], columns?: number) => {
  display.columns = columns;
  return table(head, rows, (row) => row);
};
afterEach(() => {
  display.columns = undefined;
});

describe('a table', () => {
  const head = ['account', 'plan', 'day', 'month', 'name'];
  const rows = [
    ['acme', 'standard', '911 / 50,000', '-', 'Acme B.V.'],
    ['corner-shop', 'small', '7 / 1,000', '-', '-'],
  ];

  it('has its numbers at the right, and everything else at the left', () => {
    expect(drawn(head, rows).split('\n')).toEqual([
      'account      plan               day  month  name',
      'acme         standard  911 / 50,000      -  Acme B.V.',
      'corner-shop  small        7 / 1,000      -  -',
    ]);
  });

  it('leaves out columns without any value where the terminal is narrower', () => {
    expect(drawn(head, rows, 47).split('\n')[0]).toBe('account      plan               day  name');
  });

  it('becomes a block of lines for each row where that is still too wide', () => {
    expect(drawn(head, rows, 30).split('\n')).toEqual([
      'acme',
      '  plan   standard',
      '  day    911 / 50,000',
      '  name   Acme B.V.',
      'corner-shop',
      '  plan   small',
      '  day    7 / 1,000',
    ]);
  });

  it('breaks no number and no id, on a terminal of any width', () => {
    const word = fc.stringMatching(/^[A-Za-z0-9]{1,30}$/);
    const amount = fc
      .integer({ min: 0, max: 10_000_000 })
      .map((number) => number.toLocaleString('en'));
    const row = fc.tuple(
      word,
      amount,
      fc.array(word, { maxLength: 8 }).map((words) => words.join(' ')),
      amount,
    );
    fc.assert(
      fc.property(
        fc.array(row, { minLength: 1, maxLength: 5 }),
        fc.integer({ min: 20, max: 120 }),
        (rows, columns) => {
          const words = drawn(['id', 'used', 'note', 'left'], rows, columns).split(/\s+/);
          for (const cell of rows.flat()) {
            for (const part of cell.split(' ')) if (part) expect(words).toContain(part);
          }
        },
      ),
    );
  });
});

describe('how long ago something was', () => {
  const now = Date.parse('2026-11-24T12:00:00Z');
  it.each([
    ['2026-11-24T11:59:30Z', 'just now'],
    ['2026-11-24T11:57:00Z', '3 minutes ago'],
    ['2026-11-24T10:30:00Z', '1 hour ago'],
    ['2026-11-12T12:00:00Z', '12 days ago'],
    ['2026-10-05T12:00:00Z', '50 days ago'],
    ['2026-06-01T12:00:00Z', '5 months ago'],
    ['2023-11-24T12:00:00Z', '3 years ago'],
    ['2026-11-24T12:00:20Z', 'in less than a minute'],
    ['2026-11-26T12:00:00Z', 'in 2 days'],
    ['2026-11-24', 'today'],
    ['2026-11-23', 'yesterday'],
    ['2026-11-20', '4 days ago'],
    ['2026-11-25', 'tomorrow'],
    [null, '-'],
  ])('is for %s said as %j', (at, text) => {
    expect(ago(at, now)).toBe(text);
  });
});
