import { parentPort, workerData } from 'node:worker_threads';
import { openStorage } from '../storage/open.ts';
import { doTask, partsOf, type Task, type ThreadMessage } from './threads.ts';

/** A worker thread of a load: runs one task at a time. `workerData` is the location of the storage. */
const storage = openStorage(workerData as string);
const say = (message: ThreadMessage) => parentPort?.postMessage(message);

parentPort?.on('message', async (task: Task) => {
  try {
    await doTask(await storage, task, (amount) => say({ kind: 'read', amount }));
    say({ kind: 'done' });
  } catch (error) {
    say({ kind: 'failed', error: error as Error, as: partsOf(error) });
  }
});
