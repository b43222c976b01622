import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { installedTool } from '../../.ci/tools/installed.ts';

// "npm run tools" installs it.
const biome = installedTool('@biomejs/biome/bin/biome');
const rules = resolve('.ci/lint/dodges.grit');
const folder = mkdtempSync(join(tmpdir(), 'dodges-'));
writeFileSync(join(folder, 'biome.json'), JSON.stringify({ plugins: [rules] }));
afterAll(() => rmSync(folder, { recursive: true }));

/** The messages of the rules about a line of code. */
function faultsOf(line: string): string[] {
  writeFileSync(join(folder, 'line.ts'), line);
  const { stdout, stderr } = spawnSync(process.execPath, [biome ?? '', 'lint', 'line.ts'], {
    cwd: folder,
    encoding: 'utf8',
  });
  return [...`${stdout}${stderr}`.matchAll(/(?:Write|Declare) [\w ]+\./g)].map(([text]) => text);
}

(biome ? describe : describe.skip)('code that only pleases the formatter', () => {
  it.each([
    ['a list spread into a list', 'export const a = [1, ...[2, 3]];'],
    ['a constant list spread into a list', 'export const a = [1, ...([2, 3] as const)];'],
    ['a tuple spread into arguments', 'call(...([1, 2] as [number, number]));'],
    ['an object spread into an object', 'export const a = { b: 1, ...{ c: 2 } };'],
    ['values declared as a list', 'export const [a, b] = [1, 2];'],
    ['typed values declared as a list', 'let [a, b]: [number, string] = [1, "x"];'],
    ['a default declared in a list', 'export const [a = 1] = [c];'],
  ])('is refused: %s', (_, line) => {
    expect(faultsOf(line)).toHaveLength(1);
  });

  it.each([
    'export const a = [...b.map((c) => c + 1), ...(b ? [1] : []), ...[...b].sort()];',
    'export const a = { ...(b && { c: 1 }) };',
    'export const [a, b] = c.split(",");',
    'export const [a, b] = [1, 2].map((c) => c + 1);',
    '[a, b] = [b, a];',
  ])('is not a spread or list with a purpose: %s', (line) => {
    expect(faultsOf(line)).toEqual([]);
  });
});
