import { execFile } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { acquireLock, LockHeldError } from './lock.ts';
import { projectRoot } from './project-root.ts';
import { isFresh, stamp } from './synthesis-stamp.ts';

/** The templates could not be made; the message holds what the CDK said. */
export class SynthesisError extends Error {
  override name = 'SynthesisError';
}

const waitMilliseconds = 250;

/**
 * Makes sure that `cdk.out` holds the templates and bundles of the sources as they are now, and gives its path.
 * Synthesis takes seconds, so it happens only when something it depends on has changed.
 * @param onStale called before a synthesis begins
 * @throws SynthesisError
 */
export async function synthesize(onStale: () => void = () => undefined): Promise<string> {
  const output = join(projectRoot, 'cdk.out');
  if (await isFresh(projectRoot, output)) return output;
  await mkdir(output, { recursive: true });
  const release = await turn(join(output, 'synthesis.lock'));
  try {
    // Another process may have done it while we waited.
    if (await isFresh(projectRoot, output)) return output;
    onStale();
    await runApp();
    await stamp(projectRoot, output);
    return output;
  } finally {
    await release();
  }
}

async function turn(lock: string): Promise<() => Promise<void>> {
  for (;;) {
    try {
      return await acquireLock(lock);
    } catch (error) {
      if (!(error instanceof LockHeldError)) throw error;
      await sleep(waitMilliseconds);
    }
  }
}

/** The app by itself makes the same assembly as under `cdk synth`, in less time; the checks of the templates are for that. */
async function runApp(): Promise<void> {
  // What asks for `node` gets the one of the project, however we were started ourselves.
  const path = [dirname(process.execPath), process.env.PATH ?? ''].join(delimiter);
  const env = { ...process.env, PATH: path, CDK_VALIDATION: 'false' };
  try {
    await promisify(execFile)(process.execPath, ['bin/app.ts'], { cwd: projectRoot, env, maxBuffer: 64 * 1024 * 1024 });
  } catch (error) {
    const said = String((error as { stderr?: unknown }).stderr ?? '').trim();
    throw new SynthesisError(`The CDK app could not be synthesized: ${said || String(error)}`, { cause: error });
  }
}
