import { globSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

type Tier = { up_to_million: number | null; price: number };
/** Prices of one region; what ends in `_month` is for a whole month. */
export type Prices = { api_gateway_http_per_million: Tier[] } & Record<string, number | Tier[]>;
export type PriceList = {
  as_of: string;
  currency: string;
  source: string;
  regions: Record<string, Prices>;
};

/** The price list of `prices.json`. */
export const priceList: PriceList = JSON.parse(
  readFileSync(new URL('./prices.json', import.meta.url), 'utf8'),
);

/** What one lookup takes, measured on the local engine. */
export type Lookup = { write_units: number; read_units: number; cpu_ms: number; log_kb: number };

/** What the templates say about costs. */
export type Deployment = {
  /** An alarm on an expression is billed for each metric in it. */
  alarm_metrics: number;
  composite_alarms: number;
  dashboards: number;
  /**
   * Series of metrics that get data without any request; one that gets it once a day is billed for
   * that hour.
   */
  idle_metrics: number;
  kms_keys: number;
  secrets: number;
  /** Runs a month of the jobs on a schedule: usage, canaries, the age of backups. */
  scheduled_runs: number;
  provisioned_concurrency: number;
  backup_plans: number;
  portals: number;
  memory_gb: number;
  /** Whether Lambda logs lines of its own about invocations that succeed. */
  system_lines: boolean;
  tracing: boolean;
  every_outcome_is_a_metric: boolean;
  access_log_kb: number;
  access_log_infrequent_access: boolean;
};

export type Resource = { Type: string; Properties?: Record<string, unknown> };

/** What no local engine can measure. */
export const assumptions = {
  /** One call from a Lambda to DynamoDB and back, in one region. */
  dynamodb_call_ms: 5,
  /** Lambda bills whole milliseconds: half of one is added on average. */
  rounding_ms: 0.5,
  /** Of invocations that begin with a start of the function, whose time is billed too. */
  cold_start_share: 0.001,
  cold_start_ms: 250,
  /** Lambda gives one CPU for 1,769 MB. */
  lambda_cpu_per_gb: 1024 / 1769,
  /** A response with its headers. */
  answer_kb: 0.9,
  /** CloudWatch counts this for each event beside its text. */
  log_event_overhead_kb: 26 / 1024,
  /**
   * CloudWatch stores logs compressed, to about this share, and bills that for as long as they are
   * kept: 30 days.
   */
  stored_log_share: 0.15,
  /**
   * `platform.start`, `runtimeDone` and `report`, which Lambda writes for each invocation unless
   * told not to.
   */
  system_lines_kb: 0.9,
  /** X-Ray's default rule: the first request of each second and 5% of the others. */
  traced_share: 0.05,
  keys: 9_900_000,
  /** An address item, with DynamoDB's own 100 bytes. */
  item_kb: 0.18,
  changed_share_a_month: 0.005,
  /** Three snapshots, and the work of a load until its versions expire. */
  bucket_gb: 2,
  /** A run of a job on a schedule. */
  scheduled_gb_seconds: 0.5,
  /** The accounts table, 35 times in each of two vaults. */
  backup_gb: 35 * 2 * 0.01,
  /** AWS Backup beside the storage of the table itself. */
  backup_share_of_storage_price: 0.4,
  /** Calls of KMS for tables, logs, buckets and alarms, beside one for each start of a function. */
  kms_requests_a_month: 20_000,
  portal_pages_a_month: 10_000,
  portal_page_ms: 50,
  portal_page_reads: 4,
  /**
   * Series of `Requests` under traffic: outcomes with an alarm, or all of them, of all services.
   */
  alarmed_request_metrics: 1,
  all_request_metrics: 14,
  seconds_a_month: 30 * 86_400,
} as const;

/** The resources of all stacks that `npm run synth` has written. */
export function synthesizedResources(): Resource[] {
  const folder = resolve(import.meta.dirname, '../../cdk.out');
  const templates = globSync('*.template.json', { cwd: folder });
  if (templates.length === 0) {
    throw new Error('There are no templates in cdk.out: run `npm run synth` first.');
  }
  return templates.flatMap((file): Resource[] =>
    Object.values(JSON.parse(readFileSync(join(folder, file), 'utf8')).Resources),
  );
}

/** Reads what matters for costs from the resources of all stacks. */
export function deploymentOf(resources: readonly Resource[]): Deployment {
  const ofType = (type: string) => resources.filter(({ Type }) => Type === type);
  const functions = ofType('AWS::Lambda::Function').map(({ Properties = {} }) => Properties);
  const [service] = functions.filter(({ Description }) => Description === 'Looks up one address');
  const [stage] = ofType('AWS::ApiGatewayV2::Stage');
  if (!service || !stage?.Properties) {
    throw new Error('The templates have no function for lookups, or no API.');
  }
  const { Format } = stage.Properties.AccessLogSettings as { Format: string };
  const isCheap = ({ Properties }: { Properties?: Record<string, unknown> }) =>
    Properties?.LogGroupClass === 'INFREQUENT_ACCESS';
  return {
    alarm_metrics: sumOver(ofType('AWS::CloudWatch::Alarm'), metricsOf),
    composite_alarms: ofType('AWS::CloudWatch::CompositeAlarm').length,
    dashboards: ofType('AWS::CloudWatch::Dashboard').length,
    idle_metrics: sumOver(ofType('AWS::CloudWatch::Alarm'), idleMetrics),
    kms_keys: ofType('AWS::KMS::Key').length,
    secrets: ofType('AWS::SecretsManager::Secret').length,
    scheduled_runs: sumOver(ofType('AWS::Scheduler::Schedule'), runsAMonth),
    provisioned_concurrency: sumOver(
      ofType('AWS::Lambda::Alias'),
      ({ ProvisionedConcurrencyConfig: config }) =>
        Number(
          (config as { ProvisionedConcurrentExecutions?: number } | undefined)
            ?.ProvisionedConcurrentExecutions ?? 0,
        ),
    ),
    backup_plans: ofType('AWS::Backup::BackupPlan').length,
    portals: ofType('AWS::ApiGatewayV2::Api').length - 1,
    memory_gb: Number(service.MemorySize) / 1024,
    system_lines: (service.LoggingConfig as { SystemLogLevel?: string }).SystemLogLevel !== 'WARN',
    tracing: (service.TracingConfig as { Mode?: string } | undefined)?.Mode === 'Active',
    every_outcome_is_a_metric: JSON.stringify(service.Environment).includes('REQUEST_METRICS'),
    access_log_kb: accessLogLine(Format).length / 1024,
    access_log_infrequent_access: ofType('AWS::Logs::LogGroup').some(isCheap),
  };
}

type Properties = NonNullable<Resource['Properties']>;

function sumOver(
  resources: readonly Resource[],
  amountOf: (properties: Properties) => number,
): number {
  return resources.reduce((total, { Properties = {} }) => total + amountOf(Properties), 0);
}

function metricsOf({ Metrics }: Properties): number {
  if (!Metrics) return 1;
  return (Metrics as { MetricStat?: unknown }[]).filter(({ MetricStat }) => MetricStat).length;
}

/**
 * Of our own metrics with an alarm; that of refused keys needs requests, and a filter of a log,
 * whose metric has no dimensions, needs the line that it counts.
 */
function idleMetrics(alarm: Properties): number {
  const text = JSON.stringify(alarm);
  if (!text.includes('"Dimensions"')) return 0;
  if (!text.includes('"Namespace":"BagAdres/') || text.includes('"MetricName":"Requests"')) {
    return 0;
  }
  return text.includes('"Value":"loader"') ? 1 / 24 : 1;
}

function runsAMonth({ ScheduleExpression }: Properties): number {
  const [, every, unit] = /^rate\((\d+) (minute|hour)/.exec(String(ScheduleExpression)) ?? [];
  const minutes = every === undefined ? 24 * 60 : Number(every) * (unit === 'hour' ? 60 : 1);
  return assumptions.seconds_a_month / 60 / minutes;
}

/** A line of the access log with values of usual length. */
function accessLogLine(format: string): string {
  const values: Record<string, string> = {
    '$context.requestId': 'JKJaXmPLvHcESHA=',
    '$context.identity.sourceIp': '203.0.113.123',
    '$context.routeKey': 'ANY /v1/address',
    '$context.status': '200',
    '$context.responseLength': '186',
    '$context.responseLatency': '17',
    '$context.integrationLatency': '15',
  };
  return format.replace(/\$context\.[\w.]+/g, (name) => values[name] ?? '-');
}

/** What of a deployment requests depend on. */
export type RequestSettings = Pick<
  Deployment,
  | 'memory_gb'
  | 'system_lines'
  | 'tracing'
  | 'every_outcome_is_a_metric'
  | 'access_log_kb'
  | 'access_log_infrequent_access'
  | 'kms_keys'
>;

/** What a number of lookups costs a month, by service. */
export function lookupCosts(
  prices: Prices,
  lookupsAMonth: number,
  lookup: Lookup,
  deployment: RequestSettings,
) {
  const price = (name: string) => Number(prices[name]);
  const millions = lookupsAMonth / 1e6;
  const gigabytes = (kb: number) => (lookupsAMonth * kb) / 1024 ** 2;
  const line = (kb: number) => gigabytes(kb + assumptions.log_event_overhead_kb);
  const billedMilliseconds =
    2 * assumptions.dynamodb_call_ms +
    lookup.cpu_ms / (assumptions.lambda_cpu_per_gb * deployment.memory_gb) +
    assumptions.rounding_ms +
    assumptions.cold_start_share * assumptions.cold_start_ms;
  const systemLinesKb = deployment.system_lines ? assumptions.system_lines_kb : 0;
  const logged = line(lookup.log_kb) + line(deployment.access_log_kb) + gigabytes(systemLinesKb);
  const accessLogPrice = deployment.access_log_infrequent_access
    ? 'cloudwatch_logs_infrequent_access_per_gb'
    : 'cloudwatch_logs_per_gb';
  const firstOfEachSecond = Math.min(lookupsAMonth, assumptions.seconds_a_month);
  const traces = firstOfEachSecond + (lookupsAMonth - firstOfEachSecond) * assumptions.traced_share;
  const series = deployment.every_outcome_is_a_metric
    ? assumptions.all_request_metrics
    : assumptions.alarmed_request_metrics;
  return {
    api_gateway: tiered(prices.api_gateway_http_per_million, millions),
    lambda_requests: millions * price('lambda_per_million_requests'),
    lambda_time:
      lookupsAMonth *
      (billedMilliseconds / 1000) *
      deployment.memory_gb *
      price('lambda_arm64_per_gb_second'),
    dynamodb_writes: millions * lookup.write_units * price('dynamodb_per_million_write_units'),
    dynamodb_reads: millions * lookup.read_units * price('dynamodb_per_million_read_units'),
    function_logs: line(lookup.log_kb) * price('cloudwatch_logs_per_gb'),
    access_log: line(deployment.access_log_kb) * price(accessLogPrice),
    system_logs: gigabytes(systemLinesKb) * price('cloudwatch_logs_per_gb'),
    log_storage:
      logged * assumptions.stored_log_share * price('cloudwatch_logs_storage_per_gb_month'),
    traces: deployment.tracing ? (traces / 1e6) * price('xray_per_million_traces') : 0,
    data_transfer: gigabytes(assumptions.answer_kb) * price('data_transfer_out_per_gb'),
    request_metrics: lookupsAMonth > 0 ? series * price('cloudwatch_metric_month') : 0,
    kms_requests:
      (deployment.kms_keys *
        lookupsAMonth *
        assumptions.cold_start_share *
        price('kms_per_ten_thousand')) /
      1e4,
  };
}

/** What a month costs without any lookup, the monthly refresh of the dataset included. */
export function fixedCosts(prices: Prices, deployment: Deployment) {
  const price = (name: string) => Number(prices[name]);
  const gigabytes = (assumptions.keys * assumptions.item_kb) / 1024 ** 2;
  const changes = (assumptions.keys * assumptions.changed_share_a_month) / 1e6;
  return {
    table_storage: gigabytes * price('dynamodb_per_gb_month'),
    point_in_time_recovery: gigabytes * price('dynamodb_pitr_per_gb_month'),
    bucket_storage: assumptions.bucket_gb * price('s3_per_gb_month'),
    refresh_writes: changes * price('dynamodb_per_million_write_units'),
    alarms:
      deployment.alarm_metrics * price('cloudwatch_alarm_month') +
      deployment.composite_alarms * price('cloudwatch_composite_alarm_month'),
    dashboards: deployment.dashboards * price('cloudwatch_dashboard_month'),
    metrics: deployment.idle_metrics * price('cloudwatch_metric_month'),
    secrets: deployment.secrets * price('secrets_manager_secret_month'),
    scheduled_jobs:
      deployment.scheduled_runs *
      (price('lambda_per_million_requests') / 1e6 +
        assumptions.scheduled_gb_seconds * price('lambda_arm64_per_gb_second')),
    kms:
      deployment.kms_keys *
      (price('kms_key_month') +
        (assumptions.kms_requests_a_month * price('kms_per_ten_thousand')) / 1e4),
    provisioned_concurrency:
      deployment.provisioned_concurrency *
      deployment.memory_gb *
      assumptions.seconds_a_month *
      price('lambda_arm64_provisioned_per_gb_second'),
    backups:
      deployment.backup_plans *
      assumptions.backup_gb *
      assumptions.backup_share_of_storage_price *
      price('dynamodb_per_gb_month'),
    portal_pages: (deployment.portals * assumptions.portal_pages_a_month * pageCost(prices)) / 1e6,
  };
}

/** A million pages of the portal. */
function pageCost(prices: Prices): number {
  const price = (name: string) => Number(prices[name]);
  return (
    tiered(prices.api_gateway_http_per_million, 1) +
    price('lambda_per_million_requests') +
    assumptions.portal_page_ms * 1000 * price('lambda_arm64_per_gb_second') +
    assumptions.portal_page_reads * price('dynamodb_per_million_read_units')
  );
}

/** The services of a bill by default, of the figures of `lookupCosts` and `fixedCosts`. */
const bill: Record<string, string[]> = {
  'API Gateway': ['api_gateway'],
  Lambda: ['lambda_requests', 'lambda_time', 'scheduled_jobs'],
  'DynamoDB: requests': ['dynamodb_writes', 'dynamodb_reads', 'refresh_writes'],
  'DynamoDB and S3: storage, point-in-time recovery': [
    'table_storage',
    'point_in_time_recovery',
    'bucket_storage',
  ],
  'logs and traces': ['function_logs', 'access_log', 'system_logs', 'log_storage', 'traces'],
  'data transfer': ['data_transfer'],
  'alarms, metrics, dashboards': ['alarms', 'metrics', 'request_metrics', 'dashboards'],
};

/**
 * What a month costs at these volumes, as a table in Markdown: the default by service, and what
 * each option adds.
 * @param options the deployment with each of them, by what it is called
 */
export function monthTable(
  prices: Prices,
  lookup: Lookup,
  volumes: readonly number[],
  { none, ...options }: { none: Deployment } & Record<string, Deployment>,
): string {
  const month = (deployment: Deployment, lookups: number): Record<string, number> => ({
    ...lookupCosts(prices, lookups, lookup, deployment),
    ...fixedCosts(prices, deployment),
  });
  const usd = (exact: number) => {
    const amount = Math.round(exact * 1e6) / 1e6;
    return amount < 10 ? amount.toFixed(2) : Math.round(amount).toLocaleString('en');
  };
  const row = (name: string, amountOf: (lookups: number) => number) =>
    `| ${[name, ...volumes.map((lookups) => usd(amountOf(lookups)))].join(' | ')} |`;
  return [
    ...Object.entries(bill).map(([service, names]) =>
      row(service, (lookups) =>
        names.reduce((total, name) => total + (month(none, lookups)[name] ?? Number.NaN), 0),
      ),
    ),
    row('**by default**', (lookups) => sum(month(none, lookups))),
    ...Object.entries(options).map(([option, deployment]) =>
      row(option, (lookups) => sum(month(deployment, lookups)) - sum(month(none, lookups))),
    ),
  ].join('\n');
}

/** What writing every address into an empty table costs. */
export function firstLoadCost(prices: Prices): number {
  return (assumptions.keys / 1e6) * Number(prices.dynamodb_per_million_write_units);
}

export function sum(costs: Record<string, number>): number {
  return Object.values(costs).reduce((total, cost) => total + cost, 0);
}

function tiered(tiers: Tier[], millions: number): number {
  let from = 0;
  let cost = 0;
  for (const { up_to_million, price } of tiers) {
    const to = Math.min(up_to_million ?? Number.POSITIVE_INFINITY, millions);
    if (to > from) cost += (to - from) * price;
    from = Math.max(from, to);
  }
  return cost;
}
