import { globSync, readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { everything, type Template, templates } from '../lib/synthesized.ts';

const docs = globSync('docs/*.md')
  .map((file) => readFileSync(file, 'utf8'))
  .join('\n');

// What the commands themselves are worth is in tools/rehearsal.
describe('a name in a command of the docs', () => {
  let stacks: Record<string, Template>;
  beforeAll(async () => {
    const { data, service, loader } = await templates(everything);
    stacks = { data, service, loader };
  });

  it('identifies exactly one resource: `name STACK LOGICAL_ID TYPE`', () => {
    const names = [...docs.matchAll(/\bname (data|service|loader) (\w+) (AWS::\w+::\w+)/g)];
    expect(names.length).toBeGreaterThan(5);
    for (const [text, stack = '', prefix = '', type] of names) {
      const found = Object.entries(stacks[stack]?.Resources ?? {}).filter(
        ([id, { Type }]) => id.startsWith(prefix) && Type === type,
      );
      expect([text, found.length]).toEqual([text, 1]);
    }
  });

  // `describe-stack-resources`, which `name` calls, returns no more than 100 resources of a stack.
  it('is among the resources that `name` sees', () => {
    for (const [stack, { Resources }] of Object.entries(stacks))
      expect([stack, Object.keys(Resources).length < 100]).toEqual([stack, true]);
  });

  it('is an existing output: `out STACK OUTPUT`', () => {
    const outputs = [...docs.matchAll(/\bout (data|service|loader) ([A-Z]\w+)/g)];
    expect(outputs.length).toBeGreaterThan(5);
    for (const [text, stack = '', output = ''] of outputs)
      expect([text, Object.keys(stacks[stack]?.Outputs ?? {}).includes(output)]).toEqual([text, true]);
  });
});
