import { globSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { readSettings } from '../../operator/config/settings.ts';
import { statefulTypes } from '../../operator/gate/compare-templates.ts';
import { documentedCommands } from '../../tools/rehearsal/documented-commands.ts';
import { everything, portal, type Template, templates } from '../lib/synthesized.ts';

const { stage: _, removalPolicy: __, ...protectedSettings } = everything;
const settings = { ...protectedSettings, portal };

/** An output that a stack reads, by the part that has it: `loader`, `data`. */
type Read = { reader: string; part: string; output: string };

/** What each stack reads of the others, by the templates. */
function readsIn(all: Record<string, Template>): Read[] {
  return Object.entries(all).flatMap(([reader, template]) => {
    const text = JSON.stringify(template);
    const found = text.matchAll(
      /\{"Fn::GetStackOutput":\{"StackName":"bag-adres-prod-(\w+)",[^}]*"OutputName":"(\w+)"/g,
    );
    return [...found].map(([, part = '', output = '']) => ({ reader, part, output }));
  });
}

/** What a command of a guide does to the stack of a part; `all` is every stack. */
type Act = {
  does: 'unprotect' | 'delete' | 'deploy';
  part: string;
  /** The settings that it changes for this run. */
  overrides: Record<string, unknown>;
};

const names: [RegExp, Act['does']][] = [
  [/update-termination-protection .*--no-enable-termination-protection/, 'unprotect'],
  [/cloudformation delete-stack|cdk destroy/, 'delete'],
  [/cdk deploy/, 'deploy'],
];

/** The acts of a piece of shell in order, with its variables and loops expanded. */
function actsOf(shell: string): Act[] {
  const joined = shell.replaceAll(/\\\n\s*/g, '');
  const expanded = joined
    .replaceAll(/for (\w+) in ([^;]+); do\n([\s\S]*?)\ndone/g, (_, name, values, body) =>
      values
        .split(' ')
        .map((value: string) => body.replaceAll(`$${name}`, value))
        .join('\n'),
    )
    .replaceAll(/^(\w+)=(\S+)\n([\s\S]*)/g, (_, name, value, rest) =>
      rest.replaceAll(`$${name}`, value),
    );
  return expanded.split('\n').flatMap((line) => {
    const does = names.find(([form]) => form.test(line))?.[1];
    if (!does) return [];
    const given = [...line.matchAll(/-c (bagAdres\.[\w.]+)=(\S+)/g)];
    const context = Object.fromEntries(given.map(([, key = '', value]) => [key, value]));
    const { stage: _, ...overrides } = readSettings(context).record as Record<string, unknown>;
    const parts = [...line.matchAll(/bag-adres-(?:prod|test|trial)-(\w+)/g)].map(([, one]) => one);
    if (/--all\b/.test(line)) parts.push('all');
    return parts.map((part = '') => ({ does, part, overrides }));
  });
}

/** The sections of all guides that delete a stack, each with its acts. */
const deleting = globSync('docs/*.md').flatMap((file) =>
  readFileSync(file, 'utf8')
    .split(/^(?=#{2,3} )/m)
    .map((text) => ({
      title: `${basename(file)}, ${text.split('\n', 1)[0]?.replace(/^#+ /, '')}`,
      text,
      acts: documentedCommands(file, text).flatMap(({ shell }) => actsOf(shell)),
    }))
    .filter(({ acts }) => acts.some(({ does }) => does === 'delete')),
);

describe('a stack that other stacks read', () => {
  let all: Record<string, Template>;
  let reads: Read[];
  beforeAll(async () => {
    ({ all } = await templates(settings));
    reads = readsIn(all);
  });

  it('is known by the templates: the portal reads the loader, and everything reads the data', () => {
    const pairs = new Set(reads.map(({ reader, part }) => `${reader} of ${part}`));
    expect([...pairs].sort()).toEqual([
      'loader of data',
      'portal of data',
      'portal of loader',
      'service of data',
    ]);
  });

  // So the readers of a stack that goes back to the version before need no update.
  it('has each output that they read from a resource that no update replaces', () => {
    for (const { part, output } of reads) {
      const value = JSON.stringify(all[part]?.Outputs?.[output]?.Value);
      const [, id = ''] = /^\{"(?:Ref|Fn::GetAtt)":\[?"(\w+)"/.exec(value) ?? [];
      expect([output, statefulTypes]).toEqual([
        output,
        expect.arrayContaining([all[part]?.Resources[id]?.Type]),
      ]);
    }
  });

  it('is deleted by the guides of the first deployment, of recovery and of taking it down', () => {
    expect(deleting.map(({ title }) => title).sort()).toEqual([
      'deploy.md, Take it down',
      'deploy.md, When the first deployment fails',
      'recovery.md, Addresses and snapshots',
    ]);
  });

  it.each(deleting)(
    'is deleted and made again so that none reads what is gone: $title',
    async ({ text, acts }) => {
      const indexOf = (does: Act['does'], part: string, from = 0) =>
        acts.findIndex(
          (act, index) =>
            index >= from && act.does === does && (act.part === part || act.part === 'all'),
        );
      // A stack whose creation failed was never read.
      if (text.includes('ROLLBACK_COMPLETE')) return;
      for (const [index, { does, part }] of acts.entries()) {
        if (does !== 'delete' || part === 'all') continue;
        const lifted = indexOf('unprotect', part);
        expect([part, lifted >= 0 && lifted < index]).toEqual([part, true]);
        const remade = indexOf('deploy', part, index);
        expect([part, remade > index]).toEqual([part, true]);
        const readers = new Set(reads.filter((read) => read.part === part).map((r) => r.reader));
        for (const reader of readers) {
          const again = acts.slice(remade + 1).find((act) => {
            return act.does === 'deploy' && (act.part === reader || act.part === 'all');
          });
          expect([reader, again]).toEqual([reader, expect.anything()]);
          // An unchanged template is not deployed.
          const changed = (await templates({ ...settings, ...again?.overrides })).all[reader];
          const isSame = JSON.stringify(changed) === JSON.stringify(all[reader]);
          expect([reader, isSame ? 'skipped' : 'deployed']).toEqual([reader, 'deployed']);
        }
      }
    },
  );
});
