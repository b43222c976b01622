import { parentPort, Worker, workerData } from 'node:worker_threads';
import { mapConcurrently } from '../../core/concurrency.ts';
import { ExtractError } from '../../loader/load-error.ts';
import { type StepName, stepOf } from '../../loader/steps/load-steps.ts';
import type { Amount, StepContext, StepInput, StepOptions } from '../../loader/steps/step.ts';
import { openStorage } from '../../loader/storage/open.ts';
import { DamagedObjectError, MissingObjectError } from '../../loader/storage/storage.ts';

/** A step to run, or one item of it. */
export type Task = { step: StepName; input: StepInput; item?: unknown; shared?: unknown };

/** Runs tasks, several at once. */
export type Workers = {
  /** Resolves with their results when all are done; fails with the first failure. `onDone` gets their progress. */
  run(tasks: readonly Task[], onDone: (amount: Amount) => void): Promise<unknown[]>;
};

/** Runs one task in the current thread, which may be a worker. */
async function doTask(context: StepContext, task: Task, onDone: (amount: Amount) => void): Promise<unknown> {
  const { step } = await stepOf(task.step).module();
  if ('run' in step) return step.run(context, task.input);
  return step.each({ ...context, onDone }, task.input, task.item, task.shared);
}

/** Enough that one task computes while the others wait for the disk or the database. */
const tasksAtOnce = 4;

/**
 * Runs the tasks in this thread, some at once, as most of their time they wait until the disk or the database has their
 * objects: for small extracts, where starting a thread takes longer than the work.
 */
export function thisThread(context: StepContext): Workers {
  return { run: (tasks, onDone) => mapConcurrently(tasks, tasksAtOnce, (task) => doTask(context, task, onDone)) };
}

/** A message from a thread: its progress, that its task is done, or why it failed. */
type ThreadMessage =
  | { kind: 'read'; amount: Amount }
  | { kind: 'done'; result: unknown }
  | { kind: 'failed'; error: Error; as: ErrorParts | null };

/** The parts to rebuild an error whose class is lost in a message between threads; `null` for any other class. */
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
 * Threads of this process, started for each list of tasks and ended after it: a thread that ends returns its peak
 * memory, which a lasting thread would keep (decision 0113).
 */
export class ThreadPool implements Workers {
  readonly #data: ThreadData;
  readonly #most: number;

  /** @param location of the storage: a folder, or `s3://bucket/prefix` */
  constructor(location: string, most: number, { sliceBytes, changesPerFile }: StepOptions) {
    this.#data = { storageOfLoad: location, options: { sliceBytes, changesPerFile } };
    this.#most = most;
  }

  async run(tasks: readonly Task[], onDone: (amount: Amount) => void): Promise<unknown[]> {
    const [threads, idle] = [[] as Worker[], [] as Worker[]];
    const start = () => {
      const thread = startThread(this.#data);
      threads.push(thread);
      return thread;
    };
    try {
      return await mapConcurrently(tasks, this.#most, async (task) => {
        const thread = idle.pop() ?? start();
        const result = await runOn(thread, task, onDone);
        idle.push(thread);
        return result;
      });
    } finally {
      await Promise.all(threads.map((thread) => thread.terminate()));
    }
  }
}

/** The data with which a thread of a load starts; threads of other work have other data. */
type ThreadData = { storageOfLoad: string; options: StepOptions };

/**
 * Keeps the young generation small: nothing in a load should outlive it, and V8 lets a large one grow (decision 0113).
 */
function startThread(data: ThreadData): Worker {
  const options = { workerData: data, resourceLimits: { maxYoungGenerationSizeMb: 24 } };
  return new Worker(new URL('./threads.ts', import.meta.url), options).setMaxListeners(0);
}

function runOn(thread: Worker, task: Task, onDone: (amount: Amount) => void): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const settle = (finish: () => void) => {
      thread.off('message', onMessage).off('error', onError).off('exit', onExit);
      finish();
    };
    const onMessage = (message: ThreadMessage) => {
      if (message.kind === 'read') onDone(message.amount);
      else if (message.kind === 'done') settle(() => resolve(message.result));
      else settle(() => reject(revived(message)));
    };
    const onError = (error: Error) => settle(() => reject(error));
    const onExit = () => settle(() => reject(new Error('A thread of the load ended before its work did.')));
    thread.on('message', onMessage).on('error', onError).on('exit', onExit);
    thread.postMessage(task);
  });
}

function revived({ error, as }: Extract<ThreadMessage, { kind: 'failed' }>): Error {
  switch (as?.name) {
    case 'ExtractError':
      return new ExtractError(as.code, as.file, as.message.slice(as.file.length + 2), { cause: error });
    case 'DamagedObjectError':
      return new DamagedObjectError(as.key, { cause: error });
    case 'MissingObjectError':
      return new MissingObjectError(as.key);
    default:
      return error;
  }
}

/** In a thread: runs the tasks that it receives, one at a time. They are of steps that compute, which use no table. */
function serveTasks({ storageOfLoad, options }: ThreadData): void {
  const context = openStorage(storageOfLoad).then((storage) => ({ storage, options }) as StepContext);
  const send = (message: ThreadMessage) => parentPort?.postMessage(message);
  parentPort?.on('message', async (task: Task) => {
    try {
      const result = await doTask(await context, task, (amount) => send({ kind: 'read', amount }));
      send({ kind: 'done', result });
    } catch (error) {
      send({ kind: 'failed', error: error as Error, as: partsOf(error) });
    }
  });
}

const threadData = workerData as ThreadData | null;
if (threadData?.storageOfLoad !== undefined) serveTasks(threadData);
