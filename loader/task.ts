import type { ReferenceMemory } from './dataset/reference-file.ts';
import type { Amount } from './progress.ts';
import { extractPart } from './steps/extract.ts';
import { mergeShard } from './steps/merge.ts';
import { type Part, reference } from './steps/reference.ts';
import type { Storage } from './storage/storage.ts';

/** Work for a thread: none of it should keep the thread that serves from answering. */
export type Task =
  | { kind: 'reference'; load: string; partBytes: number | undefined }
  | { kind: 'extract'; load: string; part: Part; reference: ReferenceMemory }
  | { kind: 'merge'; load: string; shard: string; changesPerFile?: number };

/** Does tasks, some of them at once. */
export interface Workers {
  /** Resolves when all are done; the first failure ends it. `onRead` hears how far they are. */
  run(tasks: readonly Task[], onRead: (amount: Amount) => void): Promise<void>;
}

/** Does one task: in this thread, or in a worker's. */
export async function doTask(storage: Storage, task: Task, onRead: (amount: Amount) => void): Promise<void> {
  switch (task.kind) {
    case 'reference':
      await reference(storage, task.load, task.partBytes, onRead);
      break;
    case 'extract':
      await extractPart(storage, task.load, task.part, task.reference, onRead);
      break;
    case 'merge':
      onRead({ rows: (await mergeShard(storage, task.load, task.shard, task.changesPerFile)).keys });
  }
}

/** Does the tasks here, one after the other: for small extracts, where starting a thread takes longer than the work. */
export function noWorkers(storage: Storage): Workers {
  return {
    async run(tasks, onRead) {
      for (const task of tasks) await doTask(storage, task, onRead);
    },
  };
}
