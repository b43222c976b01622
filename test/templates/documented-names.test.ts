import { globSync, readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { everything, ofType, type Template, templates } from '../lib/synthesized.ts';

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

  it('identifies exactly one log group by what its logical id begins with', () => {
    const names = [...docs.matchAll(/`(\w+Logs)`/g)].map(([, name = '']) => name);
    expect(names.length).toBeGreaterThan(1);
    const groups = Object.values(stacks).flatMap((stack) =>
      Object.keys(ofType(stack, 'AWS::Logs::LogGroup')),
    );
    for (const name of names) {
      expect([name, groups.filter((id) => id.startsWith(name)).length]).toEqual([name, 1]);
    }
  });

  // `describe-stack-resources` returns no more than 100 resources of a stack.
  it('is among the resources that AWS lists of a stack', () => {
    for (const [stack, { Resources }] of Object.entries(stacks)) {
      expect([stack, Object.keys(Resources).length < 100]).toEqual([stack, true]);
    }
  });

  it('is an existing output: `out STACK OUTPUT`', () => {
    const outputs = [...docs.matchAll(/\bout (data|service|loader) ([A-Z]\w+)/g)];
    expect(outputs.length).toBeGreaterThan(1);
    for (const [text, stack = '', output = ''] of outputs) {
      expect([text, Object.keys(stacks[stack]?.Outputs ?? {}).includes(output)]).toEqual([
        text,
        true,
      ]);
    }
  });
});
