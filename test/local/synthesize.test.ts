import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { isFresh, stamp } from '../../local/synthesize.ts';

describe('synthesized templates', () => {
  let root: string;
  let output: string;
  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'stamp-'));
    output = join(root, 'cdk.out');
    await mkdir(join(root, 'lib', 'service'), { recursive: true });
    await mkdir(output);
    await mkdir(join(root, 'docs'));
    await writeFile(join(root, 'lib', 'service', 'a.ts'), '1');
    await writeFile(join(root, 'cdk.json'), '{}');
    await writeFile(join(output, 'manifest.json'), '{}');
  });
  afterEach(() => rm(root, { recursive: true }));

  it('are fresh once they are stamped', async () => {
    expect(await isFresh(root, join(root, 'none'))).toBe(false);
    expect(await isFresh(root, output)).toBe(false);
    await stamp(root, output);
    expect(await isFresh(root, output)).toBe(true);
  });

  it.each<[string, (path: (...parts: string[]) => string) => Promise<unknown>]>([
    ['a source changes', (path) => writeFile(path('lib', 'service', 'a.ts'), '2')],
    ['a source is added', (path) => writeFile(path('lib', 'b.ts'), '')],
    ['a source is deleted', (path) => rm(path('lib', 'service', 'a.ts'))],
    ['the configuration changes', (path) => writeFile(path('cdk.json'), '{"a":1}')],
    ['a dependency changes', (path) => writeFile(path('package-lock.json'), '{}')],
    ['a published document changes', (path) => writeFile(path('docs', 'openapi.json'), '{}')],
    ['another synthesis writes them over', (path) => writeFile(path('cdk.out', 'manifest.json'), '{"b":1}')],
    ['a template is deleted', (path) => rm(path('cdk.out', 'manifest.json'))],
  ])('are stale when %s', async (_what, change) => {
    await stamp(root, output);
    await change((...parts) => join(root, ...parts));
    expect(await isFresh(root, output)).toBe(false);
  });

  it('stay fresh when something else changes', async () => {
    await stamp(root, output);
    await writeFile(join(root, 'README.md'), 'new');
    await writeFile(join(output, 'synthesis.lock'), '1');
    await mkdir(join(root, 'lib', 'service', 'dist'));
    await writeFile(join(root, 'lib', 'service', 'dist', 'a.js'), '1');
    expect(await isFresh(root, output)).toBe(true);
  });
});
