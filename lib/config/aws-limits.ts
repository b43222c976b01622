/**
 * Limits of AWS that settings and figures rest on, from its documentation. No test of ours can
 * show them; docs/cost.md says what to do about each.
 */
export const awsLimits = {
  /** For one item, and for one partition of a table. */
  writesPerSecond: 1_000,
  /** For a new on-demand table, in all its partitions. */
  newTable: { writesPerSecond: 4_000, readsPerSecond: 12_000 },
  /** For an AWS account by default. */
  concurrency: 1_000,
  /** By one function in ten seconds. */
  startedInstances: 1_000,
  /** For the HTTP APIs in an AWS account by default. */
  requestsPerSecond: 10_000,
} as const;
