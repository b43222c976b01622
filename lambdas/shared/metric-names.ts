/** The namespace of a deployment: stages in one account have metrics of their own. */
export const metricNamespaceOf = (stage: string) => `BagAdres/${stage}`;

/** The variable with the namespace of a Lambda's deployment. */
export const metricNamespaceVariable = 'METRIC_NAMESPACE';

/** The namespace of this process. */
export const metricNamespace = process.env[metricNamespaceVariable] ?? 'BagAdres';

/** Dimensions of every metric of a request. */
export const requestDimensions = {
  /** `address`, `validate`, or `reference` for what is published without a key. */
  service: 'service',
  /** `ok`, `not_found`, `ambiguous`, or the code of the refusal: `unauthorized`, `quota-exceeded`, ... */
  outcome: 'outcome',
} as const;

/** The dimension of the metric of the deployed version, besides `service`: `1.2.0`. */
export const versionDimension = 'version';

/** The variable that makes every outcome a metric, when it is `all`. */
export const requestMetricsVariable = 'REQUEST_METRICS';

/** The outcomes with an alarm, which are always a metric. Each series costs 0.30 dollars a month, each line half its size more. */
export const alarmedOutcomes: readonly string[] = ['unauthorized', 'temporarily-unavailable', 'internal-error'];

/** The metrics, as log lines emit them and alarms and dashboards read them. */
export const metricNames = {
  /** One for each request. */
  requests: 'Requests',
  /** 1 when the canary's lookup failed, else 0; its only dimension is `service`. */
  canaryFailures: 'CanaryFailures',
  /** Milliseconds of the canary's lookup, measured by the canary. */
  canaryLatency: 'CanaryLatency',
  /** Days since the snapshot date of the live dataset, emitted by every check of the source; its only dimension is `service`. */
  datasetAge: 'DatasetAgeDays',
  /**
   * 1, with the deployed version as a dimension beside `service`; emitted with the age. Once a day is billed as one hour of a day,
   * a cent a month.
   */
  deployedVersion: 'DeployedVersion',
  /**
   * Addresses that days of mutations had led to otherwise than the extract of the same date, emitted where the two were compared;
   * its only dimension is `service`.
   */
  auditDifferences: 'AuditDifferences',
  /** Of 200 keys, how many the table holds otherwise than the live snapshot; emitted with the age, for the same `service`. */
  tableDifferences: 'TableDifferences',
} as const;

/** Environment variables of the canary. */
export const canaryEnvironment = {
  /** The complete URL of the lookup. */
  url: 'CANARY_URL',
  /** The secret in Secrets Manager that has the API key. */
  keySecret: 'CANARY_KEY_SECRET',
} as const;
