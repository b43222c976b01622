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

describe('docs/cost.md', () => {
  const page = readFileSync(new URL('../../docs/cost.md', import.meta.url), 'utf8');
  /** The cells of the rows of the table below a heading. */
  const rows = (heading: string) => {
    const [, chapter = ''] = page.split(`\n## ${heading}\n`);
    const table = chapter.split('\n## ', 1)[0]?.match(/^\|.*\|$/gm) ?? [];
    return table.slice(2).map((row) => row.split('|').map((cell) => cell.trim().replaceAll('**', '')));
  };
  type Month = Record<string, number>;
  const month = (region: string, lookups: number): Month =>
    recorded.regions[region].a_month[`${lookups}_lookups_a_day`];
  const million = (region: string, ...parts: string[]) => {
    const costs = month(region, 1_000_000);
    return (parts.reduce((total, part) => total + (costs[part] ?? Number.NaN), 0) / 30).toFixed(2);
  };

  it('has the costs of a million lookups, by service, as recorded', () => {
    const parts: Record<string, string[]> = {
      'API Gateway, HTTP API': ['api_gateway'],
      'Lambda requests': ['lambda_requests'],
      'Lambda time': ['lambda_time'],
      'DynamoDB writes': ['dynamodb_writes'],
      'DynamoDB reads': ['dynamodb_reads'],
      logs: ['function_logs', 'access_log', 'system_logs', 'log_storage'],
      'data transfer': ['data_transfer'],
      'metrics, alarms, storage': ['fixed', 'request_metrics'],
      total: ['total'],
    };
    const expected = Object.entries(parts).map(([name, keys]) => [name, million('eu-central-1', ...keys)]);
    expect(rows('A million lookups').map(([, name, cost]) => [name, cost])).toEqual(expected);
    expect(rows('A million lookups').at(-1)?.[3]).toBe(
      `${million('eu-west-1', 'total')} in \`eu-west-1\`, ${million('us-east-1', 'total')} in \`us-east-1\``,
    );
  });

  it('has the costs of a month as recorded', () => {
    const inWords = (cost: number) => (cost < 10 ? cost.toFixed(1) : Math.round(cost).toLocaleString('en'));
    const volumes: [string, number][] = [
      ['none', 0],
      ['10 thousand', 10_000],
      ['1 million', 1_000_000],
      ['100 million', 100_000_000],
    ];
    const costs = (lookups: number) =>
      ['eu-central-1', 'us-east-1'].map((region) => inWords(month(region, lookups).total ?? Number.NaN));
    const shown = rows('A month').map(([, volume, ...cells]) => [volume, ...cells.slice(0, 2)]);
    expect(shown).toEqual(volumes.map(([name, lookups]) => [name, ...costs(lookups)]));
  });
});
