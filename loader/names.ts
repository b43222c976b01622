import { environment } from '../core/environment.ts';

/** The names that the loader's stack and the loader agree on. */

/** Environment variables of the loader's Lambdas, besides the table and the bucket. */
export const loaderEnvironment = {
  /** `discover`: the extract to load when its input names none; PDOK's by default. */
  source: 'EXTRACT_SOURCE',
  /** `discover`: the list of mutations to follow; none by default. */
  mutations: 'MUTATIONS_SOURCE',
  /** `discover`: `on` where addresses have their objects. */
  objecten: environment.objecten,
  /** `discover`: the deployed version, which it reports. */
  version: 'DEPLOYED_VERSION',
  /** `discover`: how long the lock on the table is held; longer than an execution may take. */
  lockSeconds: 'LOCK_SECONDS',
  /** `discover`: how long after the end of an execution its Lambdas may still be running. */
  settleSeconds: 'SETTLE_SECONDS',
  /** `guard`: a JSON object with the thresholds that differ from the usual ones. */
  thresholds: 'LOAD_THRESHOLDS',
  /** `apply`: the most writes a second that one worker may do; unlimited by default. */
  writesPerSecond: 'WRITES_PER_SECOND',
  /** `publish`: how many snapshots stay. */
  keepSnapshots: 'KEEP_SNAPSHOTS',
} as const;

/** The files with the state of the dataset, at the top of the bucket. */
export const manifestKeys = {
  manifest: 'manifest.json',
  /** Written just before the manifest, and read only if the manifest is damaged or missing. */
  manifestCopy: 'manifest.copy.json',
} as const;

/** The prefixes of the other keys in the bucket. */
export const storagePrefixes = {
  /**
   * Extracts and deliveries that an operator uploads for one load, as `load run --extract FILE`
   * does; they expire.
   */
  uploads: 'uploads/',
  /**
   * Extracts and lists that the settings name, which every check reads: they stay until an operator
   * removes them.
   */
  sources: 'sources/',
  /** Work of loads, removed when one is published; the work of a refused load may expire. */
  loads: 'loads/',
  /**
   * Deliveries of mutations: `publish` removes them when no extract of their date can appear any
   * more.
   */
  mutations: 'mutations/',
  /**
   * Snapshots; `publish` removes old ones. None may expire, because the next load is compared with
   * the last.
   */
  snapshots: 'snapshots/',
} as const;

/**
 * The prefixes whose objects the bucket deletes after some weeks, whoever still needs them. The
 * settings can't name an object there.
 */
export const expiringPrefixes = [storagePrefixes.loads, storagePrefixes.uploads] as const;

/** The stage in the commands that a Lambda writes: the state machine puts its own in its place. */
export const anyStage = ' --stage STAGE';

/** The prefix of the names of executions that an approval in a portal starts. */
export const approvalRunPrefix = 'approve-';

/**
 * The states that a failed execution ends with; the command line skips them to find the step that
 * failed.
 */
export const failureStates = {
  release: 'ReleaseAfterFailure',
  notify: 'NotifyFailure',
  unsent: 'NotifyFailureUnsent',
  failed: 'Failed',
} as const;

/** Names of the errors that the state machine handles; every other one ends the execution. */
export const loaderErrors = {
  /** The extract was replaced while it was read: discover it again. */
  sourceChanged: 'SourceChangedError',
  /** The server of the extract is unavailable: retry the step after some minutes. */
  sourceUnavailable: 'SourceUnavailableError',
  /** The step ran out of time but keeps the data it read: retry it at once. */
  sourceUnfinished: 'SourceUnfinishedError',
  /** Another load is running: there is nothing to undo. */
  locked: 'LockedError',
  /**
   * The load that held the lock was stopped, and its Lambdas may still write: retry after some
   * minutes.
   */
  settling: 'LockSettlingError',
} as const;

/**
 * The defaults of a deployment, which holds the whole country, for the configuration schema and the
 * steps.
 */
export const loadDefaults = {
  /**
   * Limits on a load without an approval. Shares are fractions of 1. A month changes some 0.5% of
   * the country.
   */
  guard: {
    minimumAddresses: 9_000_000,
    /** The share of all addresses that may change in a column (`guard/limits.ts`). */
    maximumShare: 0.05,
    /** The same of one woonplaats: in a month a block of flats goes, or a street is renumbered. */
    maximumPlaceShare: 0.02,
    /**
     * Share of the addresses that may be without an object when objects are loaded for the first
     * time.
     */
    maximumObjectShare: 0.05,
    maximumProblemShare: 0.01,
    /**
     * A share of this many addresses or fewer is ignored: in a hamlet one new street is a large
     * share.
     */
    alwaysAllowed: 10,
    /** The same as `alwaysAllowed` in one woonplaats: most have fewer than 1,000 addresses. */
    alwaysAllowedInPlace: 250,
  },
  /** The number of snapshots to keep, the live one included: a rollback can return to each. */
  snapshotsKept: 3,
  /** The age in days that makes the live dataset old: the extract is published monthly. */
  oldAfterDays: 45,
  /**
   * The same where mutations are configured: longer than Christmas or Easter with an adjacent
   * weekend.
   */
  oldAfterDaysOfMutations: 7,
  /**
   * How long a delivery is kept after its date: an extract comes monthly, some weeks after its own
   * date.
   */
  mutationsKeptDays: 62,
} as const;

/**
 * The age that a dataset of a date in the future is reported with: the alarm on the age goes off.
 */
export const neverNewer = 10_000;

/**
 * The public mirror of the national day mutations. Nothing is requested from it before an operator
 * configures it.
 */
export const publicMutations = 'https://bag.b3p.nl/dagmutaties/bestanden.json';

/**
 * The only default that differs, on purpose, for a load on one machine: there an extract may cover
 * a hamlet.
 */
export const localGuardDefaults = { ...loadDefaults.guard, minimumAddresses: 1 } as const;
