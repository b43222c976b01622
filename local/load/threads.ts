import { parentPort, Worker, workerData } from 'node:worker_threads';
import { forEachConcurrently } from '../../core/concurrency.ts';
import type { Part } from '../../loader/dataset/load.ts';
import type { ReferenceMemory } from '../../loader/dataset/reference-file.ts';
import { ExtractError } from '../../loader/extract-error.ts';
import type { Amount } from '../../loader/progress.ts';
import { extractPart } from '../../loader/steps/extract.ts';
import { mergeSegment } from '../../loader/steps/merge.ts';
import { reference } from '../../loader/steps/reference.ts';
import { openStorage } from '../../loader/storage/open.ts';
import { DamagedObjectError, MissingObjectError, type Storage } from '../../loader/storage/storage.ts';
import { withOwnYoungGeneration } from './young-generation.ts';

/** Work for a thread, so that it does not block the thread that serves requests. */
export type Task =
  | { kind: 'reference'; load: string }
  | { kind: 'extract'; load: string; part: Part }
  | { kind: 'merge'; load: string; segment: string; reference: ReferenceMemory | undefined; changesPerFile?: number };

/** Runs tasks, several at once. */
export type Workers = {
  /** Resolves when all are done; fails with the first failure. `onRead` is called with their progress. */
  run(tasks: Iterable<Task> | AsyncIterable<Task>, onRead: (amount: Amount) => void): Promise<void>;
};

/** Runs one task in the current thread, which may be a worker. */
async function doTask(storage: Storage, task: Task, onRead: (amount: Amount) => void): Promise<void> {
  switch (task.kind) {
    case 'reference':
      await reference(storage, task.load);
      break;
    case 'extract':
      await extractPart(storage, task.load, task.part, onRead);
      break;
    case 'merge':
      onRead({
        rows: (await mergeSegment(storage, task.load, task.segment, task.reference, task.changesPerFile)).objects,
      });
  }
}

/** Enough that one task computes while the others wait for the disk or the database. */
export const tasksAtOnce = 4;

/**
 * Runs the tasks in this thread, some at once, as most of their time they wait until the disk has their objects: for
 * small extracts, where starting a thread takes longer than the work.
 */
export function noWorkers(storage: Storage): Workers {
  return {
    async run(tasks, onRead) {
      await forEachConcurrently(tasks, tasksAtOnce, (task) => doTask(storage, task, onRead));
    },
  };
}

/** A message from a thread: its progress, that its task is done, or why it failed. */
type ThreadMessage =
  | { kind: 'read'; amount: Amount }
  | { kind: 'done' }
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
 * memory, which one that stays keeps for good (decision 0113).
 */
export class ThreadPool implements Workers {
  readonly #location: string;
  readonly #most: number;

  /** @param location of the storage: a folder, or `s3://bucket/prefix` */
  constructor(location: string, most: number) {
    this.#location = location;
    this.#most = most;
  }

  async run(tasks: Iterable<Task> | AsyncIterable<Task>, onRead: (amount: Amount) => void): Promise<void> {
    const [threads, idle] = [[] as Worker[], [] as Worker[]];
    const start = () => {
      const thread = startThread(this.#location);
      threads.push(thread);
      return thread;
    };
    try {
      await forEachConcurrently(tasks, this.#most, async (task) => {
        const thread = idle.pop() ?? start();
        await runOn(thread, task, onRead);
        // The memory of streets and places would stay beside that of the parts.
        if (task.kind === 'reference') await thread.terminate();
        else idle.push(thread);
      });
    } finally {
      await Promise.all(threads.map((thread) => thread.terminate()));
    }
  }
}

/** What a thread of a load starts with; the threads of others have other data. */
type ThreadData = { storageOfLoad: string };

/** With a small young generation: nothing in a load should outlive it, and V8 lets a large one grow (decision 0113). */
function startThread(location: string): Worker {
  const data: ThreadData = { storageOfLoad: location };
  const options = { workerData: data, resourceLimits: { maxYoungGenerationSizeMb: 24 } };
  const start = () => new Worker(new URL('./threads.ts', import.meta.url), options);
  return withOwnYoungGeneration(start).setMaxListeners(0);
}

function runOn(thread: Worker, task: Task, onRead: (amount: Amount) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const settle = (finish: () => void) => {
      thread.off('message', onMessage).off('error', onError).off('exit', onExit);
      finish();
    };
    const onMessage = (message: ThreadMessage) => {
      if (message.kind === 'read') onRead(message.amount);
      else if (message.kind === 'done') settle(resolve);
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

/** In a thread: runs the tasks that it receives, one at a time. */
function serveTasks({ storageOfLoad }: ThreadData): void {
  const storage = openStorage(storageOfLoad);
  const send = (message: ThreadMessage) => parentPort?.postMessage(message);
  parentPort?.on('message', async (task: Task) => {
    try {
      await doTask(await storage, task, (amount) => send({ kind: 'read', amount }));
      send({ kind: 'done' });
    } catch (error) {
      send({ kind: 'failed', error: error as Error, as: partsOf(error) });
    }
  });
}

const threadData = workerData as Partial<ThreadData> | null;
if (threadData?.storageOfLoad !== undefined) serveTasks({ storageOfLoad: threadData.storageOfLoad });
