import { readFileSync, writeFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { attackFigures, attackTables, withFailedWrites } from '../../tools/bench/attacks.ts';
import { addressesTable, costFigures } from '../../tools/bench/cost.ts';
import {
  type Deployment,
  deploymentOf,
  fixedCosts,
  type Lookup,
  lookupCosts,
  monthTable,
  type Prices,
  priceList,
  type Resource,
  sum,
} from '../../tools/bench/cost-model.ts';
import { everything, portal, templates } from '../lib/synthesized.ts';
import { sweep } from '../support/sweep.ts';

const recordedFile = new URL('../../docs/performance/cost.json', import.meta.url);
const recorded = JSON.parse(readFileSync(recordedFile, 'utf8'));
const lookup = recorded.measured_a_lookup as Lookup;
const prices = priceList.regions['us-east-1'] as Prices;
const millionADay = 30e6;

async function resourcesOf(config: Record<string, unknown>): Promise<Resource[]> {
  return Object.values((await templates(config)).all).flatMap(({ Resources }) =>
    Object.values(Resources),
  );
}

const deploymentFor = async (config: Record<string, unknown>) =>
  deploymentOf(await resourcesOf(config));

describe('what the default configuration costs in us-east-1, by the figures in docs/performance/cost.json', () => {
  let plain: Deployment;
  let all: Deployment;

  beforeAll(async () => {
    plain = await deploymentFor({});
    all = await deploymentFor({ tracing: true, dashboards: true });
  });

  it('is at most 2.50 dollars a million, everything included, at a million lookups a day', () => {
    const month =
      sum(lookupCosts(prices, millionADay, lookup, plain)) + sum(fixedCosts(prices, plain));
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

  it('is what the recorded figures say: `UPDATE_DOCS=1 npm test -- test/templates/cost` writes them again', async () => {
    const { benchmark, machine } = recorded;
    const figures = { benchmark, machine, ...costFigures(lookup, await resourcesOf({})) };
    if (process.env.UPDATE_DOCS) {
      writeFileSync(recordedFile, `${JSON.stringify(figures, null, 2)}\n`);
    }
    expect(recorded).toEqual(figures);
  });
});

describe('the figures in the docs', () => {
  const page = readFileSync(new URL('../../docs/cost.md', import.meta.url), 'utf8');
  const { 'eu-central-1': here, 'us-east-1': cheapest } = recorded.regions;
  const short = (usd: number) =>
    usd < 10 ? (Math.round(usd * 10) / 10).toFixed(1) : Math.round(usd).toLocaleString('en');

  it('for a month are computed from the templates of each option: `UPDATE_DOCS=1 npm test -- test/templates/cost` writes them', async () => {
    const { canary, domain, backupVaultArn } = everything;
    const options: [string, Record<string, unknown>][] = [
      ['`domain`: a host name of your own', { domain }],
      ['`canary`, every five minutes', { canary }],
      ['`portal`, with 10,000 pages', { portal }],
      ['`mutations`, without their writes', { mutations: true }],
      ['`backupVaultArn`: copies of 10 MB of accounts', { backupVaultArn }],
      ['`encryptionKey: create`', { encryptionKey: 'create' }],
      ['`dashboards`', { dashboards: true }],
      ['`tracing`', { tracing: true }],
      ['`provisionedConcurrency`, each', { provisionedConcurrency: 1 }],
    ];
    const isWritten = Boolean(process.env.UPDATE_DOCS);
    const deployments: Record<string, Deployment> = {};
    for (const [option, config] of isWritten ? options : sweep(options, 3)) {
      deployments[option] = await deploymentFor(config);
    }
    const none = await deploymentFor({});
    const table = monthTable(priceList.regions['eu-central-1'] as Prices, lookup, [0, 1e6, 100e6], {
      none,
      ...deployments,
    });
    const rows = /(\n\| lookups a month \|.*\n.*\n)((?:\|.*\n)*)/;
    if (isWritten) {
      writeFileSync(
        new URL('../../docs/cost.md', import.meta.url),
        page.replace(rows, `$1${table}\n`),
      );
    }
    const [, , written = ''] = rows.exec(page) ?? [];
    const isLeftOut = (row: string) =>
      options.some(([option]) => row.startsWith(`| ${option} |`) && !(option in deployments));
    expect(
      written
        .trim()
        .split('\n')
        .filter((row) => !isLeftOut(row)),
    ).toEqual(table.split('\n'));
  });

  it('for a million lookups and for the first load are the recorded ones', () => {
    const perMillion = (region: typeof here) =>
      region.a_month['1000000_lookups_a_day'].total_a_million_lookups;
    expect(page).toContain(`| **total** | **${perMillion(here)}** |`);
    expect(page).toContain(`${perMillion(cheapest)} in \`us-east-1\` |`);
    expect(page).toContain(
      `${short(here.first_load)}, once (${short(cheapest.first_load)} in \`us-east-1\`)`,
    );
  });

  it('for a million addresses are the recorded ones: `UPDATE_DOCS=1 npm test -- test/templates/cost` writes them', () => {
    const file = new URL('../../docs/cost.md', import.meta.url);
    const text = readFileSync(file, 'utf8');
    const updated = text.replace(
      /(\n)\| a million addresses,.*\n(?:\|.*\n)*/,
      (_, before) => `${before}${addressesTable(JSON.parse(readFileSync(recordedFile, 'utf8')))}\n`,
    );
    if (process.env.UPDATE_DOCS) writeFileSync(file, updated);
    expect(readFileSync(file, 'utf8')).toBe(updated);
    expect(updated).toMatch(/\| one by one \| \d\.\d\d \|/);
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
    const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8').replaceAll(
      '\n',
      ' ',
    );
    const { total_a_million_lookups: million } = here.a_month['1000000_lookups_a_day'];
    expect(readme).toContain(`about ${words[Math.round(million)]} dollars a million lookups`);
    expect(readme).toContain(
      `about ${words[Math.round(here.fixed_a_month.total)]} dollars a month without any`,
    );
  });
});

describe('what an attack without a key costs', () => {
  const page = new URL('../../docs/security.md', import.meta.url);
  const file = new URL('../../docs/performance/attacks.json', import.meta.url);

  it('is what the recorded figures and the page say: `UPDATE_DOCS=1 npm test -- test/templates/cost` writes both', async () => {
    const { benchmark, machine, ...kept } = JSON.parse(readFileSync(file, 'utf8'));
    const figures = await attackFigures(await resourcesOf({}));
    const text = readFileSync(page, 'utf8');
    const [kinds, routes] = attackTables(figures);
    const updated = withFailedWrites(text, figures)
      .replace(/(\n\| requests without a key \|.*\n.*\n)(?:\|.*\n)*/, `$1${kinds}\n`)
      .replace(/(\n\| route, with the default `throttle` \|.*\n.*\n)(?:\|.*\n)*/, `$1${routes}\n`);
    if (process.env.UPDATE_DOCS) {
      writeFileSync(file, `${JSON.stringify({ benchmark, machine, ...figures }, null, 2)}\n`);
      writeFileSync(page, updated);
    }
    expect(kept).toEqual(figures);
    expect(text).toBe(updated);
  });

  it('counts the largest page, and bodies that the gateway meters', async () => {
    const { a_million_requests: usd, documents_kb } = await attackFigures(await resourcesOf({}));
    expect(Math.max(...Object.values(documents_kb))).toBeGreaterThan(60);
    expect(usd.large_body).toBeGreaterThan(usd.largest_document);
    expect(usd.largest_document).toBeGreaterThan(usd.openapi_json);
    expect(usd.openapi_json).toBeGreaterThan(usd.junk_key);
  });
});
