import { type loaderEnvironment, manifestKeys, storagePrefixes } from '../names.ts';
import type { LoadAction } from '../storage/stored-loads.ts';
import type { StepModule } from './step.ts';

/** One step of a load: its work, and the settings and permissions of its Lambda. */
type LoadStep = {
  /**
   * The step, which only a load on one machine imports from here: the bundle of the Lambdas has it
   * by its name.
   */
  module: () => Promise<StepModule>;
  description: string;
  /** One whole CPU by default: inflating and parsing use nothing else. */
  memoryMb?: number;
  /** Ten by default. Fifteen is the most that Lambda allows. */
  minutes?: number;
  /** What `discover` may find to do that begins with this step and runs all that follow. */
  begins?: LoadAction;
  /**
   * The list in the work of the load that the step runs for, several items at a time. Without it
   * the step runs once.
   */
  each?: 'slices.json' | 'object-buckets.json' | 'buckets.json' | 'segments.json' | 'changes.json';
  /** Computes for seconds: on one machine in a thread, so that requests are answered meanwhile. */
  computes?: true;
  /**
   * Reads the source of the extract, which may be slow or unavailable, or be replaced meanwhile.
   */
  readsSource?: true;
  settings?: readonly (keyof typeof loaderEnvironment)[];
  measures?: true;
  table?: readonly string[];
  /**
   * Its operations on objects of the bucket, by their keys or prefixes; `upload` is `write` for
   * large objects.
   */
  bucket?: Partial<Record<'read' | 'write' | 'remove' | 'upload', readonly string[]>>;
};

const loads = `${storagePrefixes.loads}*`;
const snapshots = `${storagePrefixes.snapshots}*`;
const mutations = `${storagePrefixes.mutations}*`;
/** What an operator puts into the bucket. */
const given = [`${storagePrefixes.uploads}*`, `${storagePrefixes.sources}*`];
const manifest = Object.values(manifestKeys);

/** Lambda gives a function of 1,769 MB one whole CPU: more than one is no help to one thread. */
const oneCpuMb = 1769;

/**
 * The steps of a load in their order, by the names of their files. The state machine, the
 * permissions of its Lambdas and the load on one machine follow from this table. `discover` finds
 * what to do, and `release` ends every execution.
 */
export const loadSteps = {
  discover: {
    module: () => import('./discover.ts'),
    description: 'Checks whether the source has a newer snapshot',
    memoryMb: 512,
    // A server without Range support has the whole extract copied, 3.6 GB, and nothing to continue
    // from.
    minutes: 15,
    readsSource: true,
    settings: ['version', 'lockSeconds', 'settleSeconds', 'source', 'mutations', 'objecten'],
    measures: true,
    table: ['GetItem', 'PutItem', 'Scan', 'BatchGetItem'],
    bucket: {
      read: [...manifest, loads, snapshots, mutations, ...given],
      upload: [loads, mutations],
      // A rejected load is recorded in the manifest, and its work is removed.
      write: manifest,
      remove: [loads, snapshots],
    },
  },
  stage: {
    module: () => import('./stage.ts'),
    description: 'Copies the members of the extract',
    memoryMb: 1024,
    minutes: 15,
    begins: 'load',
    readsSource: true,
    bucket: { read: [loads, ...given], upload: [loads] },
  },
  reference: {
    module: () => import('./reference.ts'),
    description: 'Reads streets and places',
    computes: true,
    bucket: { read: [loads], write: [loads] },
  },
  extract: {
    module: () => import('./extract.ts'),
    description: 'Reads a slice of the extract',
    each: 'slices.json',
    computes: true,
    bucket: { read: [loads], write: [loads] },
  },
  mutate: {
    module: () => import('./mutate.ts'),
    description: 'Works out what days of mutations change',
    begins: 'mutations',
    bucket: { read: [...manifest, loads, snapshots, mutations], write: [loads, snapshots] },
  },
  objecten: {
    module: () => import('./objecten.ts'),
    description: 'Joins a bucket of the objects of addresses',
    each: 'object-buckets.json',
    computes: true,
    bucket: { read: [loads, snapshots], write: [loads, snapshots] },
  },
  join: {
    module: () => import('./join.ts'),
    description: 'Joins a bucket of nummeraanduidingen with their objects',
    each: 'buckets.json',
    computes: true,
    bucket: { read: [loads, snapshots], write: [loads, snapshots] },
  },
  merge: {
    module: () => import('./merge.ts'),
    description: 'Merges a segment and compares it with the live dataset',
    begins: 'rollback',
    each: 'segments.json',
    computes: true,
    bucket: { read: [...manifest, loads, snapshots], write: [loads, snapshots] },
  },
  guard: {
    module: () => import('./guard.ts'),
    description: 'Decides whether the load may continue',
    memoryMb: 512,
    minutes: 5,
    settings: ['thresholds'],
    table: ['GetItem'],
    bucket: {
      read: [...manifest, loads, snapshots],
      write: [...manifest, loads, snapshots],
      // Snapshots of days that are tried in smaller numbers.
      remove: [snapshots],
    },
  },
  apply: {
    module: () => import('./apply.ts'),
    description: 'Writes changes to the table',
    memoryMb: 1024,
    // So that a request that it signed is void before the lock of its execution can be taken over
    // (decision 0114).
    minutes: 9,
    begins: 'finish',
    each: 'changes.json',
    settings: ['writesPerSecond'],
    table: ['GetItem', 'BatchWriteItem'],
    bucket: { read: [loads], write: [loads] },
  },
  publish: {
    module: () => import('./publish.ts'),
    description: 'Reads a sample back and publishes the new snapshot',
    memoryMb: 1024,
    settings: ['keepSnapshots'],
    measures: true,
    table: ['GetItem', 'PutItem', 'BatchGetItem', 'ConditionCheckItem'],
    bucket: {
      read: [...manifest, loads, snapshots],
      write: manifest,
      remove: [loads, snapshots, mutations],
    },
  },
  release: {
    module: () => import('./release.ts'),
    description: 'Releases the lock on the table',
    memoryMb: 256,
    minutes: 1,
    table: ['DeleteItem'],
  },
} as const satisfies Record<string, LoadStep>;

export type StepName = keyof typeof loadSteps;

/** The definition of a step, with the defaults. */
export function stepOf(name: StepName): LoadStep & { memoryMb: number; minutes: number } {
  const step: LoadStep = loadSteps[name];
  return { memoryMb: oneCpuMb, minutes: 10, ...step };
}

export const stepNames = Object.keys(loadSteps) as readonly StepName[];

/** The steps between `discover` and `release`: the way of a load. */
export const stepsOfALoad = stepNames.slice(1, -1);

export function stepsFrom(action: LoadAction): StepName[] {
  return stepsOfALoad.slice(stepsOfALoad.findIndex((name) => stepOf(name).begins === action));
}
