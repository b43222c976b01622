import { parentPort, workerData } from 'node:worker_threads';
import { ExtractError } from '../extract-error.ts';
import { openStorage } from '../storage/open.ts';
import { doTask, type Task, type ThreadMessage } from './threads.ts';

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
