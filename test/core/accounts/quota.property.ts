import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  closestToExhaustion,
  decideQuota,
  type QuotaState,
  reportWindows,
} from '../../../core/accounts/quota.ts';
import {
  dateOf,
  forEachWindow,
  instant,
  isDate,
  monthOf,
  windowEnd,
  windowNames,
  windowStart,
} from '../../../core/calendar.ts';

const time = fc.integer({ min: 1_700_000_000, max: 1_900_000_000 });
const window = fc.record({
  age: fc.integer({ min: -2, max: 2 }),
  used: fc.nat({ max: 12 }),
  limit: fc.constantFrom(undefined, null, 0, 1, 3, 10),
});
const windows = fc.record(
  forEachWindow(() => window),
  { requiredKeys: [] },
);

/**
 * A state whose windows began `age` windows before the current one; negative: by a clock that is
 * ahead.
 */
const state = fc.tuple(time, windows).map(([now, windows]) => {
  const quota: QuotaState = {};
  for (const name of windowNames) {
    const made = windows[name];
    if (!made) continue;
    let start = windowStart(name, now);
    for (let i = 0; i < made.age; i++) start = windowStart(name, start - 1);
    for (let i = 0; i > made.age; i--) start = windowEnd(name, start);
    quota[name] = { start, used: made.used, limit: made.limit };
  }
  return { now, quota };
});

/** What charging one unit makes of a state: the meaning of the decision, written the long way. */
function charged(quota: QuotaState, now: number): QuotaState | null {
  const next: QuotaState = {};
  for (const name of windowNames) {
    const window = quota[name];
    if (!window) continue;
    const start = Math.max(window.start, windowStart(name, now));
    const used = start > window.start ? 0 : window.used;
    if (used + 1 > (window.limit ?? Infinity)) return null;
    next[name] = { start, used: used + 1, limit: window.limit };
  }
  return next;
}

describe('the decision on one more unit', () => {
  it('admits exactly what keeps every window within its limit', () => {
    fc.assert(
      fc.property(state, ({ now, quota }) => {
        expect(decideQuota(quota, now).kind).toBe(charged(quota, now) ? 'admit' : 'exceeded');
      }),
    );
  });

  it('rolls exactly the windows that have ended, and never one that a faster clock started', () => {
    fc.assert(
      fc.property(state, ({ now, quota }) => {
        const decision = decideQuota(quota, now);
        if (decision.kind !== 'admit') return;
        const passed = windowNames.filter(
          (name) => (quota[name]?.start ?? Infinity) < windowStart(name, now),
        );
        expect(decision.passed).toEqual(passed);
      }),
    );
  });

  it('returns the exact wait: a request succeeds after it, and not a second earlier', () => {
    fc.assert(
      fc.property(state, ({ now, quota }) => {
        const decision = decideQuota(quota, now);
        if (decision.kind !== 'exceeded') return;
        const { violated, retryAfterSeconds } = decision;
        expect(retryAfterSeconds).toBeGreaterThanOrEqual(1);
        const never = violated.some((name) => quota[name]?.limit === 0);
        expect(charged(quota, now + retryAfterSeconds) !== null || never).toBe(true);
        expect(charged(quota, now + retryAfterSeconds - 1)).toBeNull();
      }),
    );
  });

  it('names every violated window and no other', () => {
    fc.assert(
      fc.property(state, ({ now, quota }) => {
        const decision = decideQuota(quota, now);
        const violated = decision.kind === 'exceeded' ? decision.violated : [];
        for (const name of windowNames) {
          const alone = quota[name] && charged({ [name]: quota[name] }, now) === null;
          expect(violated.includes(name)).toBe(Boolean(alone));
        }
      }),
    );
  });
});

describe('the report of the windows', () => {
  it('reports the finite windows, each with a remainder between zero and the limit', () => {
    fc.assert(
      fc.property(state, ({ now, quota }) => {
        const report = reportWindows(quota, now);
        expect(report.map(({ name }) => name)).toEqual(
          windowNames.filter((name) => quota[name]?.limit != null),
        );
        for (const { limit, remaining, reset, seconds } of report) {
          expect(remaining).toBeGreaterThanOrEqual(0);
          expect(remaining).toBeLessThanOrEqual(limit);
          expect(reset).toBeGreaterThanOrEqual(1);
          expect(seconds).toBeGreaterThanOrEqual(60);
        }
      }),
    );
  });

  it.each([
    [{ minute: [1, 60], day: [4900, 5000] }, 'day'],
    [{ minute: [1, 60], day: [1, 5000] }, 'minute'],
    [{ minute: [5, 5], day: [7, 7] }, 'day'],
    [{ minute: [0, 0], day: [4, 5000] }, 'minute'],
    [{ minute: [0, 1], day: [4000, 5000] }, 'day'],
    [{ minute: [3, null], month: [1, 10] }, 'month'],
  ] as const)('finds the window closest to exhaustion in %j', (counts, expected) => {
    const now = 1_800_000_000;
    const quota: QuotaState = {};
    for (const [name, [used, limit]] of Object.entries(counts) as [
      'minute',
      [number, number | null],
    ][]) {
      quota[name] = { start: windowStart(name, now), used, limit };
    }
    expect(closestToExhaustion(reportWindows(quota, now))?.name).toBe(expected);
  });
});

describe('a UTC date', () => {
  const dates = ['2000-01-01', '2024-02-29', '2026-12-31', '2099-12-31'];
  const others = [
    '1999-12-31',
    '2100-01-01',
    '2023-02-29',
    '2026-13-01',
    '2026-11-31',
    '2026-00-10',
    '2026-1-1',
  ];
  it.each([
    ...dates.map((text) => [text, true] as const),
    ...[...others, '', '2026-11-21T00:00:00Z', ' 2026-11-21'].map((text) => [text, false] as const),
  ])('%j: %s', (text, expected) => {
    expect(isDate(text)).toBe(expected);
  });

  it('is that of the day of an instant, from its first second to its last', () => {
    const midnight = Date.UTC(2026, 10, 21) / 1000;
    expect([midnight - 1, midnight, midnight + 86_399].map(dateOf)).toEqual([
      '2026-11-20',
      '2026-11-21',
      '2026-11-21',
    ]);
    expect(instant(midnight - 1)).toBe('2026-11-20T23:59:59Z');
  });
});

describe('a month', () => {
  const days = (from: string, to: string) => ({ from, to });
  it.each([
    ['2026-11', days('2026-11-01', '2026-11-30')],
    ['2026-12', days('2026-12-01', '2026-12-31')],
    ['2024-02', days('2024-02-01', '2024-02-29')],
    ...['', '2026', '2026-13', '2026-1', '2026-11-21', '1999-12'].map(
      (text) => [text, undefined] as const,
    ),
  ])('%j has the first and last day %j', (month, expected) => {
    expect(monthOf(month)).toEqual(expected);
  });
});
