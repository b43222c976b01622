import { execFile } from 'node:child_process';
import { createHash, type Hash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { projectRoot } from './data-folder.ts';
import { acquireLock, LockHeldError } from './lock.ts';

/** Everything that the synthesized templates and bundles depend on. */
const inputs = [
  'bin',
  'core',
  'lib',
  'lambdas',
  'loader',
  'operator',
  'packages',
  'portal',
  'cdk.json',
  'docs/openapi.json',
  'docs/openapi-objecten.json',
  'package-lock.json',
];

/** What `npm pack` builds in a package; nothing is synthesized from it. */
const builtFolder = 'dist';

const stampFile = 'inputs.sha256';

/** Whether `output` was synthesized from the current sources and has not been changed since. */
export async function isFresh(root: string, output: string): Promise<boolean> {
  const stamp = await readFile(join(output, stampFile), 'utf8').catch(() => undefined);
  return stamp !== undefined && stamp === stampOf(root, output);
}

/** Records that `output` was synthesized from the current sources. */
export async function stamp(root: string, output: string): Promise<void> {
  await writeFile(join(output, stampFile), stampOf(root, output));
}

/**
 * Covers the outputs too: `cdk synth` with another configuration overwrites them but leaves the stamp. Every start
 * reads these hundreds of small files; without promises that takes a fifth of the time.
 */
function stampOf(root: string, output: string): string {
  const hash = createHash('sha256');
  for (const input of inputs) addTree(hash, root, input);
  const outputs = readdirSync(output);
  for (const file of outputs.filter((name) => name.endsWith('.json')).sort()) addTree(hash, output, file);
  return hash.digest('hex');
}

function addTree(hash: Hash, root: string, path: string): void {
  if (!statSync(join(root, path), { throwIfNoEntry: false })?.isDirectory()) {
    const bytes = contents(join(root, path));
    hash.update(`${path}\0${bytes.length}\0`).update(bytes);
    return;
  }
  for (const name of readdirSync(join(root, path)).sort())
    if (name !== builtFolder) addTree(hash, root, join(path, name));
}

/** Empty for a file that is missing. */
function contents(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch {
    return Buffer.alloc(0);
  }
}

/** The templates could not be synthesized; the message holds what the CDK printed. */
export class SynthesisError extends Error {
  override name = 'SynthesisError';
}

/** Far more than a synthesis takes. */
const waitMilliseconds = 180_000;

/**
 * Ensures that `cdk.out` holds the templates and bundles of the current sources, and returns its path. Synthesis takes
 * seconds, so it only runs when something it depends on has changed.
 * @param onStale called before a synthesis starts
 * @throws SynthesisError
 */
export async function synthesize(onStale: () => void = () => undefined): Promise<string> {
  const output = join(projectRoot, 'cdk.out');
  if (await isFresh(projectRoot, output)) return output;
  await mkdir(output, { recursive: true });
  const release = await acquireLock(join(output, 'synthesis.lock'), { waitMilliseconds }).catch(explainHeldLock);
  try {
    // Another process may have synthesized while we waited.
    if (await isFresh(projectRoot, output)) return output;
    onStale();
    await runApp();
    await stamp(projectRoot, output);
    return output;
  } finally {
    await release();
  }
}

function explainHeldLock(error: unknown): never {
  if (!(error instanceof LockHeldError)) throw error;
  const waited = `for ${waitMilliseconds / 60_000} minutes`;
  throw new SynthesisError(`Another process has been synthesizing ${waited}: ${error.holder}. Stop it and try again.`);
}

/**
 * Running the app directly creates the same assembly as `cdk synth`, but faster, because it skips the checks of the
 * templates.
 */
async function runApp(): Promise<void> {
  // So that child processes find the Node that runs us, however we were started.
  const path = [dirname(process.execPath), process.env.PATH ?? ''].join(delimiter);
  const env = { ...process.env, PATH: path, CDK_VALIDATION: 'false' };
  try {
    await promisify(execFile)(process.execPath, ['bin/app.ts'], { cwd: projectRoot, env, maxBuffer: 64 * 1024 * 1024 });
  } catch (error) {
    const printed = String((error as { stderr?: unknown }).stderr ?? '').trim();
    throw new SynthesisError(`The CDK templates could not be synthesized: ${printed || String(error)}`, {
      cause: error,
    });
  }
}
