import { describe, expect, it } from '@jest/globals';
import { type WindowName, windowEnd, windowNames, windowStart } from '../../core/calendar.ts';

const seconds = (iso: string) => Date.parse(iso) / 1000;

describe('a time window', () => {
  it.each([
    ['minute', '2024-02-29T23:59:59Z', '2024-02-29T23:59:00Z', '2024-03-01T00:00:00Z'],
    ['hour', '2024-02-29T23:59:59Z', '2024-02-29T23:00:00Z', '2024-03-01T00:00:00Z'],
    ['day', '2024-02-29T23:59:59Z', '2024-02-29T00:00:00Z', '2024-03-01T00:00:00Z'],
    ['month', '2024-02-29T23:59:59Z', '2024-02-01T00:00:00Z', '2024-03-01T00:00:00Z'],
    ['month', '2026-12-31T23:59:59Z', '2026-12-01T00:00:00Z', '2027-01-01T00:00:00Z'],
    ['month', '2026-12-01T00:00:00Z', '2026-12-01T00:00:00Z', '2027-01-01T00:00:00Z'],
    ['day', '2026-03-29T01:30:00Z', '2026-03-29T00:00:00Z', '2026-03-30T00:00:00Z'],
  ] as const)('of a %s at %s runs from %s to %s', (name, at, start, end) => {
    expect(windowStart(name, seconds(at))).toBe(seconds(start));
    expect(windowEnd(name, seconds(start))).toBe(seconds(end));
  });

  /**
   * Where each window begins, as people mean it: a window that is added needs a line, or the types
   * fail.
   */
  const beginnings: Record<WindowName, RegExp> = {
    minute: /:00$/,
    hour: /:00:00$/,
    day: / 00:00:00$/,
    month: / 1 \w+ \d{4} 00:00:00$/,
  };
  const text = new Intl.DateTimeFormat('en-GB', {
    dateStyle: 'full',
    timeStyle: 'medium',
    timeZone: 'UTC',
  });

  it.each(windowNames)('of a %s begins where people expect it', (name) => {
    for (const at of ['2024-02-29T23:59:59Z', '2026-11-19T12:34:56Z', '2027-01-01T00:00:00Z']) {
      expect(text.format(windowStart(name, seconds(at)) * 1000).replace(' at', '')).toMatch(
        beginnings[name],
      );
    }
  });

  it('starts where the one before it ends', () => {
    for (const name of windowNames) {
      const end = windowEnd(name, windowStart(name, seconds('2023-12-31T23:59:59Z')));
      expect(windowStart(name, end)).toBe(end);
      expect(windowStart(name, end - 1)).toBeLessThan(end);
    }
  });
});
