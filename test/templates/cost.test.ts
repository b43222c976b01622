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
} from '../../tools/bench/cost-model.ts';
import { templates } from '../lib/synthesized.ts';

const recorded = JSON.parse(readFileSync(new URL('../../docs/performance/cost.json', import.meta.url), 'utf8'));
const lookup = recorded.measured_a_lookup as Lookup;
const prices = priceList.regions['us-east-1'] as Prices;
const millionADay = 30e6;

describe('what the default configuration costs in us-east-1, by the figures in docs/performance/cost.json', () => {
  let plain: Deployment;
  let all: Deployment;

  beforeAll(async () => {
    const deploymentFor = async (config: object) => {
      const { data, service, loader } = await templates({ ...config });
      return deploymentOf([data, service, loader].flatMap(({ Resources }) => Object.values(Resources)));
    };
    plain = await deploymentFor({});
    all = await deploymentFor({ tracing: true, dashboards: true });
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

  it('includes traces, dashboards and metrics if they are enabled', () => {
    expect(lookupCosts(prices, millionADay, lookup, plain).traces).toBe(0);
    // One of each second, of 30 days: that alone is 2.6 million traces.
    expect(lookupCosts(prices, millionADay, lookup, all).traces).toBeGreaterThan(13);
    expect(fixedCosts(prices, all).dashboards).toBe(6);
    expect(lookupCosts(prices, millionADay, lookup, all).request_metrics).toBeGreaterThan(3);
  });

  it('reads the log settings from the templates', () => {
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

describe('the figures in the docs', () => {
  const page = readFileSync(new URL('../../docs/cost.md', import.meta.url), 'utf8');
  const { 'eu-central-1': here, 'us-east-1': cheapest } = recorded.regions;
  const short = (usd: number) =>
    usd < 10 ? (Math.round(usd * 10) / 10).toFixed(1) : Math.round(usd).toLocaleString('en');

  it.each([
    ['none', '0_lookups_a_day'],
    ['10 thousand', '10000_lookups_a_day'],
    ['1 million', '1000000_lookups_a_day'],
    ['100 million', '100000000_lookups_a_day'],
  ])('for a month with so many lookups a day are the recorded ones: %s', (shown, name) => {
    const [one, other] = [here, cheapest].map(({ a_month }) => short(a_month[name].total));
    expect(page).toContain(`| ${shown} | ${one} | ${other} |`);
  });

  it('for a million lookups, the first load and the alarms are the recorded ones', () => {
    const perMillion = (region: typeof here) => region.a_month['1000000_lookups_a_day'].total_a_million_lookups;
    expect(page).toContain(`| **total** | **${perMillion(here)}** |`);
    expect(page).toContain(`${perMillion(cheapest)} in \`us-east-1\` |`);
    expect(page).toContain(`${short(here.first_load)}, once (${short(cheapest.first_load)} in \`us-east-1\`)`);
    expect(page).toContain(`alarms (${here.fixed_a_month.alarms},`);
  });

  it('for each service and a million lookups are the recorded ones', () => {
    const parts: Record<string, string[]> = {
      'API Gateway, HTTP API': ['api_gateway'],
      'Lambda requests': ['lambda_requests'],
      'Lambda time': ['lambda_time'],
      'DynamoDB writes': ['dynamodb_writes'],
      'DynamoDB reads': ['dynamodb_reads'],
      logs: ['function_logs', 'access_log', 'system_logs', 'log_storage'],
      'data transfer': ['data_transfer'],
      'metrics, alarms, storage': ['fixed', 'request_metrics'],
    };
    const costs: Record<string, number> = here.a_month['1000000_lookups_a_day'];
    for (const [service, keys] of Object.entries(parts)) {
      const million = keys.reduce((total, key) => total + (costs[key] ?? Number.NaN), 0) / 30;
      expect(page).toContain(`| ${service} | ${million.toFixed(2)} |`);
    }
  });

  it('in the README are the recorded ones, rounded', () => {
    const words = ['', 'one', 'two', 'three', 'four', 'five', 'six'];
    const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8').replaceAll('\n', ' ');
    const { total_a_million_lookups: million } = here.a_month['1000000_lookups_a_day'];
    expect(readme).toContain(`about ${words[Math.round(million)]} dollars a million lookups`);
    expect(readme).toContain(`about ${words[Math.round(here.fixed_a_month.total)]} dollars a month without any`);
  });
});
