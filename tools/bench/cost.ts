import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { newAccount, startAddressService } from '../../test/support/address-service.ts';
import type { Benchmark, Figures } from './benchmark.ts';
import {
  assumptions,
  type Deployment,
  deploymentOf,
  firstLoadCost,
  fixedCosts,
  type Lookup,
  lookupCosts,
  type Prices,
  priceList,
  type Resource,
  sum,
  synthesizedResources,
} from './cost-model.ts';
import { cpuMilliseconds, rounded } from './measure.ts';

const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url));
const million = 1e6;
const lookupsADay = [0, 10_000, 1_000_000, 100_000_000];

/**
 * What a month costs at several volumes and in three regions: units and log bytes are measured on
 * the engine, settings are those of the synthesized templates, prices are those of `prices.json`,
 * and the rest are `assumptions`.
 */
export const benchmark: Benchmark = {
  async run() {
    return costFigures(await measureLookup(), synthesizedResources());
  },
};

/** A request for a hundred addresses, as `npm run bench -- batch` measured it. */
type Batch = { addresses: number; cpu_ms: number; answer_kb: number };

/**
 * The figures for the stacks with these resources, from what a lookup was measured to take, and the
 * recorded request for a hundred.
 */
export function costFigures(lookup: Lookup, resources: Resource[]) {
  const deployment = deploymentOf(resources);
  const { addresses, cpu_ms, answer_kb }: Batch = JSON.parse(
    readFileSync(path('../../docs/performance/batch.json'), 'utf8'),
  );
  const batch = { addresses, cpu_ms, answer_kb };
  const regions = Object.entries(priceList.regions).map(([region, prices]) => [
    region,
    inRegion(prices, lookup, batch, deployment),
  ]);
  return {
    prices: { as_of: priceList.as_of, currency: priceList.currency },
    assumptions,
    deployment,
    measured_a_lookup: lookup,
    measured_a_batch: batch,
    regions: Object.fromEntries(regions),
  };
}

function inRegion(prices: Prices, lookup: Lookup, batch: Batch, deployment: Deployment) {
  const fixed = fixedCosts(prices, deployment);
  const months = lookupsADay.map((aDay) => {
    const costs = { ...lookupCosts(prices, aDay * 30, lookup, deployment), fixed: sum(fixed) };
    const total = sum(costs);
    return [
      `${aDay}_lookups_a_day`,
      roundedAll({
        ...costs,
        total,
        ...(aDay > 0 && { total_a_million_lookups: total / ((aDay * 30) / 1e6) }),
      }),
    ] as const;
  });
  return {
    a_million_addresses: roundedAll({
      one_by_one: withoutFixed(lookupCosts(prices, million, lookup, deployment)),
      in_hundreds: batchedMillion(prices, lookup, batch, deployment),
    }),
    first_load: rounded(firstLoadCost(prices), 3),
    fixed_a_month: roundedAll({ ...fixed, total: sum(fixed) }),
    a_month: Object.fromEntries(months),
  };
}

/** Each request is charged by one write, and reads every address. */
function batchedMillion(
  prices: Prices,
  lookup: Lookup,
  { addresses, cpu_ms, answer_kb }: Batch,
  deployment: Deployment,
): number {
  const requests = million / addresses;
  const request = { ...lookup, read_units: addresses * lookup.read_units, cpu_ms };
  const gigabytes = (requests * answer_kb) / 1024 ** 2;
  const data_transfer = gigabytes * Number(prices.data_transfer_out_per_gb);
  return withoutFixed({ ...lookupCosts(prices, requests, request, deployment), data_transfer });
}

/** Without the metrics, which cost the same for any number of lookups. */
const withoutFixed = (costs: ReturnType<typeof lookupCosts>) =>
  sum({ ...costs, request_metrics: 0 });

/** The rows of a million addresses in docs/cost.md, in Markdown. */
export function addressesTable({ regions }: ReturnType<typeof costFigures>): string {
  const priced = Object.entries<ReturnType<typeof inRegion>>(regions).reverse();
  const row = (way: string, name: string) =>
    `| ${way} | ${priced.map(([, { a_million_addresses }]) => a_million_addresses[name]?.toFixed(2)).join(' | ')} |`;
  return [
    `| a million addresses, without the fixed costs | ${priced.map(([region]) => `\`${region}\``).join(' | ')} |`,
    `|---|${'---|'.repeat(priced.length)}`,
    row('one by one', 'one_by_one'),
    row('in hundreds (`POST /v1/addresses`)', 'in_hundreds'),
  ].join('\n');
}

/** Units from the engine, CPU of this machine, and the size of the line that a lookup logs. */
async function measureLookup(): Promise<Lookup> {
  process.env.POWERTOOLS_METRICS_DISABLED = 'true';
  const service = await startAddressService({ asDeployed: true });
  try {
    const { key } = await newAccount(service, { minute: 1e6, day: 1e6, month: 1e6 });
    for (let i = 0; i < 500; i++) await service.instance.lookUp(key);
    service.sent.length = 0;
    const cpu = cpuMilliseconds();
    for (let i = 0; i < 500; i++) await service.instance.lookUp(key);
    const cpuOfAll = cpuMilliseconds() - cpu;
    const units = (table: string) =>
      service.sent
        .filter((sent) => sent.table === table)
        .reduce((total, sent) => total + sent.units, 0) / 500;
    const { stdout } = spawnSync(
      process.execPath,
      [path('../../test/support/lookup-log.ts'), service.endpoint, key],
      {
        env: { ...process.env, POWERTOOLS_METRICS_DISABLED: 'false' },
        encoding: 'utf8',
      },
    );
    const line = stdout.split('\n').find((text) => text.includes('"outcome":"ok"'));
    if (!line) throw new Error('A lookup logged no line.');
    return {
      write_units: units('accounts'),
      read_units: units('addresses'),
      cpu_ms: rounded(cpuOfAll / 500, 3),
      log_kb: rounded(line.length / 1024, 3),
    };
  } finally {
    await service.stop();
  }
}

function roundedAll(costs: Record<string, number>): Record<string, number> & Figures {
  return Object.fromEntries(Object.entries(costs).map(([name, cost]) => [name, rounded(cost, 3)]));
}
