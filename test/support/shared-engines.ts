import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Engine, EngineMissingError, startEngine } from '../../local/engine/engine.ts';

let engines: Engine[] = [];
let folder: string | undefined;

/**
 * Starts an engine for each worker, which its test files use one after the other (`startDynamoDb`).
 * A process that starts from a worker costs its memory once more: a hundred engines took five
 * seconds of CPU. `TEST_ENGINES_GIVEN` has the endpoints of others instead
 * (docs/evidence/judges.md). Makes the folder of what is prepared once for all test files
 * (`loadDemo`).
 */
export default async function startEngines({ maxWorkers }: { maxWorkers: number }): Promise<void> {
  const given = process.env.TEST_ENGINES_GIVEN;
  try {
    if (given === undefined) {
      engines = await Promise.all(Array.from({ length: maxWorkers }, () => startEngine()));
    }
  } catch (error) {
    // The tests that need one say so.
    if (!(error instanceof EngineMissingError)) throw error;
  }
  process.env.TEST_ENGINES = given ?? engines.map(({ endpoint }) => endpoint).join(' ');
  folder = await mkdtemp(join(tmpdir(), 'test-run-'));
  process.env.TEST_RUN_FOLDER = folder;
}

/** Stops them, and removes the folder. */
export async function stopEngines(): Promise<void> {
  await Promise.all(engines.map((engine) => engine.stop()));
  if (folder) await rm(folder, { recursive: true, force: true });
}
