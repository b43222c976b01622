import type { Environment } from './environment.ts';

/** The metrics that functions emit and that alarms and dashboards read. */

/** The namespace of a deployment: stages in one account have metrics of their own. */
export const metricNamespaceOf = (stage: string) => `BagAdres/${stage}`;

/** The variable with the namespace of a Lambda's deployment. */
export const metricNamespaceVariable = 'METRIC_NAMESPACE';

/** The namespace of a function's metrics. */
export function metricNamespaceIn(variables: Environment): string {
  return variables[metricNamespaceVariable] ?? 'BagAdres';
}

/** Dimensions of every metric of a request. */
export const requestDimensions = {
  /** `address`, `validate`, or `reference` for the pages that need no key. */
  service: 'service',
  /**
   * `ok`, `not_found`, `ambiguous`, or the code of the refusal: `unauthorized`, `quota-exceeded`,
   * ...
   */
  outcome: 'outcome',
} as const;

/** The dimension of the metric of the deployed version, besides `service`: `1.2.0`. */
export const versionDimension = 'version';

/**
 * The dimension of `unknownCharges` besides `service`: `time-up`, `connection` or `server-error`.
 */
export const causeDimension = 'cause';

/** The variable that makes every outcome a metric, when it is `all`. */
export const requestMetricsVariable = 'REQUEST_METRICS';

/** The outcomes with an alarm, which are always metrics: a series costs 0.30 dollars a month. */
export const alarmedOutcomes: readonly string[] = ['unauthorized'];

/** The metrics, as log lines emit them and alarms and dashboards read them. */
export const metricNames = {
  requests: 'Requests',
  /**
   * 1 for a charge that may have been made or not, by `service` alone and with its cause (decision
   * 0103).
   */
  unknownCharges: 'UnknownCharges',
  /** 1 when a call of the canary failed, else 0; its only dimension is `service`. */
  canaryFailures: 'CanaryFailures',
  /**
   * Days since the live peildatum, by `service` only; 10,000 for one in the future, when nothing is
   * newer.
   */
  datasetAge: 'DatasetAgeDays',
  /** 1 for each notification of a load that EventBridge did not take; without dimensions. */
  unsentNotifications: 'UnsentNotifications',
  /**
   * 1, with the deployed version as a dimension; emitted with the age. Once a day costs a cent a
   * month.
   */
  deployedVersion: 'DeployedVersion',
  /**
   * Addresses where mutations and the extract of the same date disagree, emitted where they were
   * compared.
   */
  auditDifferences: 'AuditDifferences',
  /**
   * How many of 200 sampled addresses differ between table and live snapshot; emitted with the age.
   */
  tableDifferences: 'TableDifferences',
  /**
   * Addresses of objects that mutations did not match and that are not settled; emitted with the
   * age, as it is.
   */
  setAside: 'SetAsideAddresses',
  /**
   * Hours since the accounts table was last copied to the other vault; its only dimension is
   * `service`.
   */
  backupCopyAge: 'BackupCopyAgeHours',
} as const;
