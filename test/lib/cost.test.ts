import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from '@jest/globals';
import {
  type Deployment,
  deploymentOf,
  fixedCosts,
  type Lookup,
  lookupCosts,
  type Prices,
  priceList,
  sum,
} from '../bench/cost-model.ts';
import { templates } from './synthesized.ts';

const recorded = JSON.parse(readFileSync(new URL('../../docs/performance/cost.json', import.meta.url), 'utf8'));
const lookup = recorded.measured_a_lookup as Lookup;
const prices = priceList.regions['us-east-1'] as Prices;
const millionADay = 30e6;

describe('what the default configuration costs in us-east-1, by the figures in docs/performance/cost.json', () => {
  let plain: Deployment;
  let all: Deployment;

  beforeAll(() => {
    const deploymentFor = (config: object) => {
      const { data, service, loader } = templates({ ...config });
      return deploymentOf([data, service, loader].flatMap(({ Resources }) => Object.values(Resources)));
    };
    plain = deploymentFor({});
    all = deploymentFor({ tracing: true, dashboards: true });
  }, 60_000);

  it('is at most 2.50 dollars a million, everything included, at a million lookups a day', () => {
    const month = sum(lookupCosts(prices, millionADay, lookup, plain)) + sum(fixedCosts(prices, plain));
    expect(month / 30).toBeLessThanOrEqual(2.5);
    expect(month / 30).toBeGreaterThan(2);
  });

  it('is at most 10 dollars a month without any lookup', () => {
    expect(sum(fixedCosts(prices, plain))).toBeLessThanOrEqual(10);
    expect(sum(lookupCosts(prices, 0, lookup, plain))).toBe(0);
  });

  it('counts traces, dashboards and metrics where they are switched on', () => {
    expect(lookupCosts(prices, millionADay, lookup, plain).traces).toBe(0);
    // One of each second, of 30 days: that alone is 2.6 million traces.
    expect(lookupCosts(prices, millionADay, lookup, all).traces).toBeGreaterThan(13);
    expect(fixedCosts(prices, all).dashboards).toBe(6);
    expect(lookupCosts(prices, millionADay, lookup, all).request_metrics).toBeGreaterThan(3);
  });

  it('reads from the templates what decides about logs', () => {
    expect(plain).toMatchObject({ system_lines: false, access_log_infrequent_access: true });
    expect(plain.access_log_kb).toBeGreaterThan(0.1);
    const withLines = { ...plain, system_lines: true };
    expect(lookupCosts(prices, millionADay, lookup, withLines).system_logs).toBeGreaterThan(10);
  });

  it('matches the recorded figures: `npm run synth && npm run bench -- cost` writes them again', () => {
    expect(recorded.deployment).toEqual({ ...plain, access_log_kb: expect.closeTo(plain.access_log_kb, 2) });
    expect(Object.keys(recorded.regions)).toEqual(['us-east-1', 'eu-west-1', 'eu-central-1']);
  });
});
