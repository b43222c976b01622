import { describe, expect, it } from '@jest/globals';
import { createRateLimit, defaultRates, networkOf } from '../../../portal/request/rates.ts';
import { inSweep } from '../../support/in-sweep.ts';

const withSession = (session: { perSecond: number; burst: number }) => ({
  ...defaultRates,
  session,
});

describe('the rates of the portal', () => {
  it.each([
    ['sign-ins that a network completes', 'callback', 20, 1],
    ['requests of a session', 'session', 60, 5],
  ] as const)('admit a burst of %s, and then so many a second', (_, kind, burst, perSecond) => {
    let now = 0;
    const take = createRateLimit(defaultRates, () => now);
    for (let i = 0; i < burst; i++) expect(take(kind, 'a')).toBe(0);
    expect(take(kind, 'a')).toBe(1);
    now = 1000;
    for (let i = 0; i < perSecond; i++) expect(take(kind, 'a')).toBe(0);
    expect(take(kind, 'a')).toBe(1);
  });

  it('say after how many whole seconds the next request is admitted', () => {
    let now = 0;
    const take = createRateLimit(withSession({ perSecond: 0.25, burst: 1 }), () => now);
    expect([take('session', 'a'), take('session', 'a'), take('session', 'b')]).toEqual([0, 4, 0]);
    now = 3999;
    expect(take('session', 'a')).toBe(1);
    now = 4000;
    expect(take('session', 'a')).toBe(0);
  });

  it('do not shrink when the clock is set back', () => {
    let now = 60_000;
    const take = createRateLimit(withSession({ perSecond: 1, burst: 2 }), () => now);
    expect(take('session', 'a')).toBe(0);
    now = 0;
    expect(take('session', 'a')).toBe(0);
  });

  inSweep('are remembered of ten thousand visitors, and of no more', () => {
    const take = createRateLimit(withSession({ perSecond: 1, burst: 1 }), () => 0);
    for (let i = 0; i < 10_000; i++) expect(take('session', String(i))).toBe(0);
    expect(take('session', '1')).toBe(1); // by which all others are forgotten
    expect(take('session', '1')).toBe(1);
    expect(take('session', '2')).toBe(0);
  });

  it.each([
    ['203.0.113.7', '203.0.113.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
    ['2001:db8::6', '2001:db8:0:0'],
    ['2001::4:5:6:7:8:9', '2001:0:4:5'],
    ['::1', '0:0:0:0'],
  ])('take the address %s for one of the network %s', (address, network) => {
    expect(networkOf(address)).toBe(network);
  });
});
