/** The names that the loader's stack and the loader agree on. */

/** Environment variables of the loader's Lambdas, beside the addresses table's. */
export const loaderEnvironment = {
  /** Every step works in this bucket. */
  snapshotBucket: 'SNAPSHOT_BUCKET',
  /** `discover`: the extract to load when its input names none; PDOK's when left out. */
  source: 'EXTRACT_SOURCE',
  /** `discover`: the list of mutations to follow; none when left out. */
  mutations: 'MUTATIONS_SOURCE',
  /** `discover`: for how long the lock on the table is taken; longer than an execution may take. */
  lockSeconds: 'LOCK_SECONDS',
  /** `discover`: for how long after the end of an execution a Lambda that it began may still be at work. */
  settleSeconds: 'SETTLE_SECONDS',
  /** `guard`: a JSON object with the thresholds that differ from the usual ones. */
  thresholds: 'LOAD_THRESHOLDS',
  /** `apply`: the most writes a second that one worker may do; unlimited when left out. */
  writesPerSecond: 'WRITES_PER_SECOND',
  /** `publish`: how many snapshots stay. */
  keepSnapshots: 'KEEP_SNAPSHOTS',
} as const;

/** What begins the keys of the bucket. */
export const storagePrefixes = {
  /** Work of loads, removed when one is published; what a refused load left may expire. */
  loads: 'loads/',
  /** Approvals of refused loads; as the work. */
  approvals: 'approvals/',
  /** Deliveries of mutations: `publish` removes them once no extract can be as old any more. */
  mutations: 'mutations/',
  /** Snapshots, of which `publish` removes the old ones: these must not expire, the next difference needs the last. */
  snapshots: 'snapshots/',
} as const;

/** What begins the names of the executions that an approval in a portal starts. */
export const approvalRunPrefix = 'approve-';

/** The states that a failed execution ends with; the command line skips them to find the step that failed. */
export const failureStates = {
  release: 'ReleaseAfterFailure',
  notify: 'NotifyFailure',
  failed: 'Failed',
} as const;

/** Names of the errors that a state machine treats apart; every other one ends the execution. */
export const loaderErrors = {
  /** The extract was replaced while it was read: discover it again. */
  sourceChanged: 'SourceChangedError',
  /** The server of the extract is unwell: try the step again, after minutes. */
  sourceUnavailable: 'SourceUnavailableError',
  /** The step ran out of time and keeps what it read: try it again at once. */
  sourceUnfinished: 'SourceUnfinishedError',
  /** Another load is at work: there is nothing to undo. */
  locked: 'LockedError',
  /** The load that had the lock was stopped, and the last that it began may still write: try again, after minutes. */
  settling: 'LockSettlingError',
} as const;

/**
 * The defaults of a deployment, which holds the whole country. The schema of the configuration and the steps both take
 * them from here.
 */
export const loadDefaults = {
  /** What a load may change before an operator has to approve it. A month changes some 0.5 % of the country. */
  guard: {
    minimumAddresses: 9_000_000,
    maximumRemovedShare: 0.05,
    maximumChangedShare: 0.1,
    maximumAddedShare: 0.1,
    maximumProblemShare: 0.01,
    alwaysAllowed: 10,
  },
  /** How many snapshots stay, the live one included: a rollback can go to each of them. */
  snapshotsKept: 3,
  /** From this age in days the live dataset counts as old: the register comes out monthly. */
  oldAfterDays: 45,
  /** The same where mutations are configured: longer than Christmas or Easter with the weekend beside it. */
  oldAfterDaysOfMutations: 7,
  /** How long a delivery of mutations is kept after its date: an extract comes out monthly, and some weeks after its own date. */
  mutationsKeptDays: 62,
} as const;

/** The public mirror of the national day mutations. Nothing is requested from it before an operator configures it. */
export const publicMutations = 'https://bag.b3p.nl/dagmutaties/bestanden.json';

/** The only default that differs for a load on one machine, on purpose: there an extract may be one of a hamlet. */
export const localGuardDefaults = { ...loadDefaults.guard, minimumAddresses: 1 } as const;
