import { spawnSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { newAccount, startAddressService } from '../support/address-service.ts';
import type { Benchmark, Figures } from './benchmark.ts';
import { cpuMilliseconds, rounded } from './measure.ts';

const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url));
const prices = JSON.parse(readFileSync(path('./prices.json'), 'utf8'));

/** What no machine here can measure. */
const assumptions = {
  /** One call from a Lambda to DynamoDB and back, in one region. */
  dynamodb_call_ms: 5,
  lambda_memory_gb: 1,
  /** What 1,024 MB of memory has of one core: 1,769 MB has a whole one. */
  lambda_cpu_share: 1024 / 1769,
  /** An answer with its headers. */
  answer_kb: 0.9,
  access_log_line_kb: 0.4,
  /** X-Ray's default: one request a second and 5 % of the others. */
  traced_share: 0.05,
  keys: 9_900_000,
  /** An address item, with DynamoDB's own 100 bytes. */
  item_kb: 0.18,
  changed_share_a_month: 0.005,
  metrics: 30,
};
const volumes = [10_000, 1_000_000, 100_000_000];

/**
 * What a month costs at three volumes, by service: units and log bytes are measured on the engine, prices are a list's
 * (`prices.json`), the rest are the assumptions that the figures repeat.
 */
export const benchmark: Benchmark = {
  async run() {
    const lookup = await measureLookup();
    const fixed = fixedCosts();
    const months = Object.fromEntries(
      volumes.map((aDay) => {
        const costs = lookupCosts((aDay * 30) / 1e6, lookup);
        const total = sum(costs) + sum(fixed);
        return [`${aDay}_lookups_a_day`, { ...costs, total_with_fixed: rounded(total, 3) }];
      }),
    );
    return {
      prices: { region: prices.region, as_of: prices.as_of, currency: prices.currency },
      assumptions,
      measured_a_lookup: lookup,
      a_million_lookups: { ...lookupCosts(1, lookup), total: rounded(sum(lookupCosts(1, lookup)), 3) },
      fixed_a_month: { ...fixed, total: rounded(sum(fixed), 3) },
      a_month_in_all: months,
    };
  },
  plot: (figures) => ({
    title: `A million lookups, ${prices.currency} (${prices.region}, ${prices.as_of})`,
    unit: prices.currency,
    bars: Object.entries(figures.a_million_lookups as Record<string, number>).map(([name, value]) => ({
      label: name.replaceAll('_', ' '),
      value,
      isReference: name === 'total',
    })),
  }),
};

type Lookup = { write_units: number; read_units: number; cpu_ms: number; log_kb: number };

/** Units from the engine, CPU of this machine, and the bytes of the line that a lookup logs. */
async function measureLookup(): Promise<Lookup> {
  process.env.POWERTOOLS_METRICS_DISABLED = 'true';
  const service = await startAddressService();
  try {
    const { key } = await newAccount(service, { minute: 1e6, day: 1e6, month: 1e6 });
    for (let i = 0; i < 500; i++) await service.instance.lookUp(key);
    service.sent.length = 0;
    const cpu = cpuMilliseconds();
    for (let i = 0; i < 500; i++) await service.instance.lookUp(key);
    const units = (table: string) =>
      service.sent.filter((sent) => sent.table === table).reduce((total, sent) => total + sent.units, 0) / 500;
    const { stdout } = spawnSync(process.execPath, [path('../support/lookup-log.ts'), service.endpoint, key], {
      env: { ...process.env, POWERTOOLS_METRICS_DISABLED: 'false' },
      encoding: 'utf8',
    });
    const line = stdout.split('\n').find((text) => text.includes('"outcome":"ok"')) ?? '';
    return {
      write_units: units('accounts'),
      read_units: units('addresses'),
      cpu_ms: rounded((cpuMilliseconds() - cpu) / 500, 3),
      log_kb: rounded(line.length / 1024, 3),
    };
  } finally {
    await service.stop();
  }
}

function lookupCosts(millions: number, lookup: Lookup): Record<string, number> {
  const { dynamodb_call_ms, lambda_cpu_share, lambda_memory_gb, answer_kb, access_log_line_kb, traced_share } =
    assumptions;
  const billedMs = 2 * dynamodb_call_ms + lookup.cpu_ms / lambda_cpu_share;
  const gigabytes = (kb: number) => (millions * 1e6 * kb) / 1024 ** 2;
  return roundedAll({
    api_gateway: tiered(prices.api_gateway_http_per_million, millions),
    lambda_requests: millions * prices.lambda_per_million_requests,
    lambda_time: millions * 1e6 * (billedMs / 1000) * lambda_memory_gb * prices.lambda_arm64_per_gb_second,
    dynamodb_writes: millions * lookup.write_units * prices.dynamodb_per_million_write_units,
    dynamodb_reads: millions * lookup.read_units * prices.dynamodb_per_million_read_units,
    logs: gigabytes(lookup.log_kb + access_log_line_kb) * prices.cloudwatch_logs_per_gb,
    traces: millions * traced_share * prices.xray_per_million_traces,
    data_transfer: gigabytes(answer_kb) * prices.data_transfer_out_per_gb,
  });
}

/** What a month costs without a single lookup, with the monthly refresh. */
function fixedCosts(): Record<string, number> {
  const gigabytes = (assumptions.keys * assumptions.item_kb) / 1024 ** 2;
  const changes = (assumptions.keys * assumptions.changed_share_a_month) / 1e6;
  return roundedAll({
    table_storage: gigabytes * prices.dynamodb_per_gb_month,
    point_in_time_recovery: gigabytes * prices.dynamodb_pitr_per_gb_month,
    refresh_writes: changes * prices.dynamodb_per_million_write_units,
    alarms: resources('AWS::CloudWatch::Alarm') * prices.cloudwatch_alarm_month,
    dashboard: resources('AWS::CloudWatch::Dashboard') * prices.cloudwatch_dashboard_month,
    metrics: assumptions.metrics * prices.cloudwatch_metric_month,
    secret: prices.secrets_manager_secret_month,
  });
}

/** How many of a type the synthesized stacks have. */
function resources(type: string): number {
  const templates = globSync('cdk.out/*.template.json', { cwd: path('../..') });
  if (templates.length === 0) throw new Error('There is no synthesis: run `npm run synth` first.');
  return templates
    .map(
      (file) => JSON.parse(readFileSync(path(`../../${file}`), 'utf8')).Resources as Record<string, { Type: string }>,
    )
    .reduce((total, made) => total + Object.values(made).filter(({ Type }) => Type === type).length, 0);
}

function tiered(tiers: { up_to_million: number | null; price: number }[], millions: number): number {
  let [from, cost] = [0, 0];
  for (const { up_to_million, price } of tiers) {
    const to = Math.min(up_to_million ?? Number.POSITIVE_INFINITY, millions);
    if (to > from) cost += (to - from) * price;
    from = Math.max(from, to);
  }
  return cost;
}

function sum(costs: Record<string, number>): number {
  return Object.values(costs).reduce((total, cost) => total + cost, 0);
}

function roundedAll(costs: Record<string, number>): Record<string, number> & Figures {
  return Object.fromEntries(Object.entries(costs).map(([name, cost]) => [name, rounded(cost, 3)]));
}
