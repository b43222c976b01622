/** Environment variables of the canary. */
export const canaryEnvironment = {
  /** The lookup to do, a whole URL. */
  url: 'CANARY_URL',
  /** The secret in Secrets Manager that holds the API key to do it with. */
  keySecret: 'CANARY_KEY_SECRET',
} as const;

export const metricNamespaceOf = (stage: string) => `BagAdres/${stage}`;

/** The variable that tells a Lambda the namespace of its deployment: stages in one account don't mix. */
export const metricNamespaceVariable = 'METRIC_NAMESPACE';

/** Where this process emits to. */
export const metricNamespace = process.env[metricNamespaceVariable] ?? 'BagAdres';

/** Dimensions of every metric of a request. */
export const requestDimensions = {
  /** `address`, `validate`, or `reference` for what is published without a key. */
  service: 'service',
  /** `ok`, `not_found`, `ambiguous`, or the code of the refusal: `unauthorized`, `quota-exceeded`, ... */
  outcome: 'outcome',
} as const;

export const metricNames = {
  /** One a request. */
  requests: 'Requests',
  /** Milliseconds within the Lambda. */
  latency: 'Latency',
  /** Units of quota consumed. */
  charges: 'Charges',
  /** Windows that a charge restarted. */
  windowRolls: 'WindowRolls',
  /** 1 when the canary's lookup went wrong, else 0; without dimensions but `service`. */
  canaryFailures: 'CanaryFailures',
  /** Milliseconds of the canary's lookup, from its side. */
  canaryLatency: 'CanaryLatency',
  /** Days since the date of the state that is served; the loader emits it daily, without dimensions but `service`. */
  datasetAge: 'DatasetAgeDays',
} as const;
