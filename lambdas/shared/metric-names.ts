/** The namespace of the metrics of a deployment, so that stages in one AWS account stay apart. */
export const metricNamespaceOf = (stage: string) => `BagAdres/${stage}`;

/** The environment variable with the namespace. */
export const metricNamespaceVariable = 'METRIC_NAMESPACE';

/** The namespace of this process. */
export const metricNamespace = process.env[metricNamespaceVariable] ?? 'BagAdres';

/** The dimensions of the metrics of a request. */
export const requestDimensions = {
  /** `address`, `validate`, or `reference` for what needs no key. */
  service: 'service',
  /** `ok`, `not_found`, `ambiguous`, or the code of the refusal: `unauthorized`, `quota-exceeded`, ... */
  outcome: 'outcome',
} as const;

/** The metrics, as log lines emit them and alarms and dashboards read them. */
export const metricNames = {
  /** One for each request. */
  requests: 'Requests',
  /** Milliseconds within the Lambda. */
  latency: 'Latency',
  /** Units of quota consumed. */
  charges: 'Charges',
  /** Time windows that a lookup began. */
  windowRolls: 'WindowRolls',
  /** 1 when the canary's lookup failed, otherwise 0; with `service` as its only dimension. */
  canaryFailures: 'CanaryFailures',
  /** Milliseconds of the canary's lookup, the network included. */
  canaryLatency: 'CanaryLatency',
  /** Days since the snapshot date of the live dataset; the loader emits it daily, with `service` as its only dimension. */
  datasetAge: 'DatasetAgeDays',
} as const;

/** Environment variables of the canary. */
export const canaryEnvironment = {
  /** The complete URL of the lookup. */
  url: 'CANARY_URL',
  /** The secret in Secrets Manager that has the API key. */
  keySecret: 'CANARY_KEY_SECRET',
} as const;
