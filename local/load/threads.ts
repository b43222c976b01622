import { setFlagsFromString } from 'node:v8';
import { parentPort, Worker, workerData } from 'node:worker_threads';
import { mapConcurrently } from '../../core/concurrency.ts';
import { ExtractError } from '../../loader/load-error.ts';
import { type StepName, stepOf } from '../../loader/steps/load-steps.ts';
import type { Amount, StepContext, StepInput, StepOptions } from '../../loader/steps/step.ts';
import { openStorage } from '../../loader/storage/open.ts';
import { DamagedObjectError, MissingObjectError } from '../../loader/storage/storage.ts';

/** A step to run, once or for each of some items, with their shared input. */
export type Work = { step: StepName; input: StepInput; shared?: unknown };

/** Runs a step, for several items at once. */
export type Workers = {
  /**
   * Resolves with the results when all are done; fails with the first failure. `onDone` gets their
   * progress.
   */
  run(work: Work, items: readonly unknown[], onDone: (amount: Amount) => void): Promise<unknown[]>;
};

/** Runs a step for one item in the current thread, which may be a worker. */
async function doItem(
  context: StepContext,
  { step: name, input, shared }: Work,
  item: unknown,
  onDone: (amount: Amount) => void,
): Promise<unknown> {
  const { step } = await stepOf(name).module();
  if ('run' in step) return step.run(context, input);
  return step.each({ ...context, onDone }, input, item, shared);
}

/** Enough that one task computes while the others wait for the disk or the database. */
const tasksAtOnce = 4;

/**
 * Runs the tasks in this thread, some at once, as most of their time they wait until the disk or
 * the database has their objects: for small extracts, where starting a thread takes longer than the
 * work.
 */
export function thisThread(context: StepContext): Workers {
  return {
    run: (work, items, onDone) =>
      mapConcurrently(items, tasksAtOnce, (item) => doItem(context, work, item, onDone)),
  };
}

/** A message from a thread: its progress, that its item is done, or why it failed. */
type ThreadMessage =
  | { kind: 'read'; amount: Amount }
  | { kind: 'done'; result: unknown }
  | { kind: 'failed'; error: Error; as: ErrorParts | null };

/**
 * The parts to rebuild an error whose class is lost in a message between threads; `null` for any
 * other class.
 */
type ErrorParts =
  | ({ name: 'ExtractError' } & Pick<ExtractError, 'code' | 'file' | 'message'>)
  | { name: 'DamagedObjectError' | 'MissingObjectError'; key: string };

/** The parts of an error that a thread sends besides the error itself. */
function partsOf(error: unknown): ErrorParts | null {
  if (error instanceof ExtractError) {
    const { name, code, file, message } = error;
    return { name, code, file, message };
  }
  if (error instanceof DamagedObjectError || error instanceof MissingObjectError) {
    return { name: error.name, key: error.key };
  }
  return null;
}

/**
 * Threads of this process, started for each step and ended after it: a thread that ends returns its
 * peak memory, which a lasting thread would keep (decision 0113). Each receives the shared input of
 * all items once, because copying it takes milliseconds for a country.
 */
export class ThreadPool implements Workers {
  readonly #data: Omit<ThreadData, 'work'>;
  readonly #most: number;

  /** @param location of the storage: a folder, or `s3://bucket/prefix` */
  constructor(location: string, most: number, { beforeApply: _, ...options }: StepOptions) {
    // A function can't be sent to a thread, and no step that computes calls it.
    this.#data = { storageOfLoad: location, options };
    this.#most = most;
  }

  async run(
    work: Work,
    items: readonly unknown[],
    onDone: (amount: Amount) => void,
  ): Promise<unknown[]> {
    const threads = [] as Worker[];
    const idle = [] as Worker[];
    const start = () => {
      const thread = startThread({ ...this.#data, work });
      threads.push(thread);
      return thread;
    };
    // A thread's heap of 8 MB would be marked for every 8 MB more, three times a second: a tenth of
    // a load's CPU.
    setFlagsFromString('--heap-growing-percent=200');
    try {
      return await mapConcurrently(items, this.#most, async (item) => {
        const thread = idle.pop() ?? start();
        const result = await runOn(thread, item, onDone);
        idle.push(thread);
        return result;
      });
    } finally {
      await Promise.all(threads.map((thread) => thread.terminate()));
      setFlagsFromString('--heap-growing-percent=0');
    }
  }
}

/** The data with which a thread of a load starts; threads of other work have other data. */
type ThreadData = { storageOfLoad: string; options: StepOptions; work: Work };

/**
 * Keeps the young generation small: nothing in a load should outlive it, and V8 lets a large one
 * grow (decision 0113).
 */
function startThread(data: ThreadData): Worker {
  const options = { workerData: data, resourceLimits: { maxYoungGenerationSizeMb: 24 } };
  return new Worker(new URL('./threads.ts', import.meta.url), options).setMaxListeners(0);
}

function runOn(thread: Worker, item: unknown, onDone: (amount: Amount) => void): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const settle = (finish: () => void) => {
      thread.off('message', onMessage).off('error', onError).off('exit', onExit);
      finish();
    };
    const onMessage = (message: ThreadMessage) => {
      if (message.kind === 'read') onDone(message.amount);
      else if (message.kind === 'done') settle(() => resolve(message.result));
      else {
        settle(() => reject(revived(message)));
      }
    };
    const onError = (error: Error) => settle(() => reject(error));
    const onExit = () =>
      settle(() => reject(new Error('A thread of the load ended before its work did.')));
    thread.on('message', onMessage).on('error', onError).on('exit', onExit);
    thread.postMessage(item);
  });
}

function revived({ error, as }: Extract<ThreadMessage, { kind: 'failed' }>): Error {
  switch (as?.name) {
    case 'ExtractError':
      return new ExtractError(as.code, as.file, as.message.slice(as.file.length + 2), {
        cause: error,
      });
    case 'DamagedObjectError':
      return new DamagedObjectError(as.key, { cause: error });
    case 'MissingObjectError':
      return new MissingObjectError(as.key);
    default:
      return error;
  }
}

/**
 * In a thread: does the items that it receives, one at a time, of a step that computes, which uses
 * no table.
 */
function serveItems({ storageOfLoad, options, work }: ThreadData): void {
  const context = openStorage(storageOfLoad).then(
    (storage) => ({ storage, options }) as StepContext,
  );
  const send = (message: ThreadMessage) => parentPort?.postMessage(message);
  parentPort?.on('message', async (item: unknown) => {
    try {
      const result = await doItem(await context, work, item, (amount) =>
        send({ kind: 'read', amount }),
      );
      send({ kind: 'done', result });
    } catch (error) {
      send({ kind: 'failed', error: error as Error, as: partsOf(error) });
    }
  });
}

const threadData = workerData as ThreadData | null;
if (threadData?.storageOfLoad !== undefined) serveItems(threadData);
