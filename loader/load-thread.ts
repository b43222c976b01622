import { parentPort, workerData } from 'node:worker_threads';
import { ExtractError } from './bag/extract-error.ts';
import { openStorage } from './storage/open-storage.ts';
import { doTask, type Task } from './task.ts';
import type { ThreadMessage } from './thread-pool.ts';

/** A thread of a load: does one task at a time. `workerData` is the location of the storage. */
const storage = openStorage(workerData as string);
const say = (message: ThreadMessage) => parentPort?.postMessage(message);

parentPort?.on('message', async (task: Task) => {
  try {
    await doTask(await storage, task, (amount) => say({ kind: 'read', amount }));
    say({ kind: 'done' });
  } catch (error) {
    const extractError =
      error instanceof ExtractError ? { code: error.code, file: error.file, message: error.message } : null;
    say({ kind: 'failed', error: error as Error, extractError });
  }
});
