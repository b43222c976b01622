import { Worker } from 'node:worker_threads';
import { ExtractError } from './bag/extract-error.ts';
import type { Amount } from './progress.ts';
import type { Task, Workers } from './task.ts';

/** What a thread says: how far it has read, that its task is done, or why it is not. */
export type ThreadMessage =
  | { kind: 'read'; amount: Amount }
  | { kind: 'done' }
  | { kind: 'failed'; error: Error; extractError: ExtractErrorParts | null };

/** A thread can't pass on the class of an error. */
type ExtractErrorParts = Pick<ExtractError, 'code' | 'file' | 'message'>;

/**
 * Threads of this process, each started for some tasks and ended after them: a thread that goes gives back the memory
 * that its work took at most, which one that stays keeps for good (decision 0091).
 */
export class ThreadPool implements Workers {
  readonly #location: string;
  readonly #most: number;

  /** @param location of the storage: a folder, or `s3://bucket/prefix` */
  constructor(location: string, most: number) {
    this.#location = location;
    this.#most = most;
  }

  async run(tasks: readonly Task[], onRead: (amount: Amount) => void): Promise<void> {
    const waiting = [...tasks];
    const count = Math.min(this.#most, tasks.length);
    const threads = Array.from({ length: count }, () => startThread(this.#location));
    try {
      await Promise.all(
        threads.map(async (thread) => {
          for (let task = waiting.shift(); task; task = waiting.shift()) await runOn(thread, task, onRead);
        }),
      );
    } finally {
      await Promise.all(threads.map((thread) => thread.terminate()));
    }
  }
}

/** With a small young generation: nothing in a load should outlive it, and V8 lets a large one grow (decision 0091). */
function startThread(location: string): Worker {
  const script = new URL('./load-thread.ts', import.meta.url);
  const thread = new Worker(script, { workerData: location, resourceLimits: { maxYoungGenerationSizeMb: 24 } });
  return thread.setMaxListeners(0);
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

function revived({ error, extractError }: Extract<ThreadMessage, { kind: 'failed' }>): Error {
  if (!extractError) return error;
  const { code, file, message } = extractError;
  return new ExtractError(code, file, message.slice(file.length + 2), { cause: error });
}
