import { createHash } from 'node:crypto';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** All that the synthesized templates and bundles are made from. */
const inputs = ['bin', 'lib', 'lambdas', 'loader', 'cdk.json', 'package-lock.json'];

const stampFile = 'inputs.sha256';

/** Whether `output` was synthesized from the sources as they are now, and not changed since. */
export async function isFresh(root: string, output: string): Promise<boolean> {
  const stamp = await readFile(join(output, stampFile), 'utf8').catch(() => undefined);
  return stamp !== undefined && stamp === (await stampOf(root, output));
}

/** Notes that `output` belongs to the sources as they are now. */
export async function stamp(root: string, output: string): Promise<void> {
  await writeFile(join(output, stampFile), await stampOf(root, output));
}

/** The outputs count too: "cdk synth" with another configuration writes them over, and leaves our stamp. */
async function stampOf(root: string, output: string): Promise<string> {
  const hash = createHash('sha256');
  for (const input of inputs) await addTree(hash, root, input);
  const outputs = await readdir(output);
  for (const file of outputs.filter((name) => name.endsWith('.json')).sort()) await addTree(hash, output, file);
  return hash.digest('hex');
}

async function addTree(hash: ReturnType<typeof createHash>, root: string, path: string): Promise<void> {
  const entries = await readdir(join(root, path), { withFileTypes: true }).catch(() => undefined);
  if (entries === undefined) {
    const bytes = await readFile(join(root, path)).catch(() => Buffer.alloc(0));
    hash.update(`${path}\0${bytes.length}\0`).update(bytes);
    return;
  }
  for (const { name } of entries.sort((a, b) => (a.name < b.name ? -1 : 1)))
    await addTree(hash, root, join(path, name));
}
