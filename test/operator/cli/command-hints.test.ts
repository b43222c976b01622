import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { commandLine } from '../../../bin/bag-adres.ts';
import {
  type Agreement,
  CliCommand,
  destructive,
  pasteable,
  type Terminal,
} from '../../../operator/cli/command.ts';
import { usageFault } from '../command-line.ts';

const terminal: Terminal = { out: () => undefined, err: () => undefined, env: {} };
const program = commandLine(terminal);
const locationFor = (line: string) =>
  line.startsWith('restore') ? { stack: 'bag-adres-prod' } : { local: true as const };

function leavesOf(command: CliCommand): CliCommand[] {
  return command.commands.length === 0
    ? [command]
    : (command.commands as CliCommand[]).flatMap(leavesOf);
}

const nameOf = (command: CliCommand): string =>
  command.parent?.parent
    ? `${nameOf(command.parent as CliCommand)} ${command.name()}`
    : command.name();

const leaves = leavesOf(program);
/** What the code of a message puts into a command, and something that could stand there. */
const samples: Record<string, string> = {
  'first.keyId': 'b9uDEGM7',
  named: 'b9uDEGM7 --account acme',
  month: '2026-10',
  email: 'jo@example.nl',
  decision: 'approve',
  // The location, which is added where it is missing.
  where: '',
  'loads.where': '',
  data: '',
};

/** All product files, without the help of commands, which only names others. */
const messages = globSync(
  '{bin,core,lib,lambdas,loader,local,operator,packages,portal}/**/*.ts',
).map((file) =>
  readFileSync(file, 'utf8')
    .replace(/\.(?:description|argument|option|notes)\([\s\S]*?\)\n/g, '\n')
    .replace(
      /\b(?:argument|option)\([\s\S]*?\),\n|\b(?:description|notes):\s*(?:`[^`]*`|'[^']*')/g,
      '\n',
    ),
);
/** The commands that messages quote. */
const quoted = messages
  .flatMap((text) =>
    [...text.matchAll(/"(?:npx bag-adres )?([a-z-]+ [^"\n]+)"/g)].map(([, line = '']) => line),
  )
  .map((line) =>
    line.replace(/\$\{([^}]+)\}/g, (_, name: string) => samples[name] ?? 'acme').trim(),
  )
  .filter((line) => leaves.some((leaf) => `${line} `.startsWith(`${nameOf(leaf)} `)));

describe('a command that a message quotes', () => {
  it.each([...new Set(quoted)])('can be pasted: %s', async (line) => {
    const [, hint = ''] =
      /"npx bag-adres (.*)"/.exec(pasteable(`"${line}"`, program, locationFor(line))) ?? [];
    expect([hint, await usageFault(hint.split(' '))]).toEqual([hint, undefined]);
  });

  it('gets the location of the present run where that command takes one, and nothing else changes', () => {
    const text =
      'Account "export" is "load run"; see "usage months", "config check" or "load status --stage x".';
    expect(pasteable(text, program, { local: true, data: 'a b' })).toBe(
      `Account "export" is "npx bag-adres load run --local --data 'a b'"; see "npx bag-adres usage months --local --data 'a b'", ` +
        `"npx bag-adres config check" or "npx bag-adres load status --stage x --local --data 'a b'".`,
    );
    expect(pasteable('"load run" "plan list"', program, { accountsTable: 't' })).toBe(
      '"npx bag-adres load run" "npx bag-adres plan list --accounts-table t"',
    );
  });

  it('gets what the present run loads, where that command loads too, quoted for a shell', () => {
    const given = {
      local: true,
      extract: "/tmp/Jo's.zip",
      mutations: ['a.zip', 'b c.zip'],
      again: true,
    } as const;
    expect(pasteable('"load run", "load status"', program, given)).toBe(
      `"npx bag-adres load run --extract '/tmp/Jo'\\''s.zip' --mutations a.zip 'b c.zip' --again --local", "npx bag-adres load status --local"`,
    );
  });

  it('is found in many messages, never after "bag-adres" alone, which is not on the PATH', () => {
    expect(quoted.length).toBeGreaterThan(40);
    expect(messages.flatMap((text) => text.match(/"bag-adres [^"\n]+"/g) ?? [])).toEqual([]);
  });
});

describe('every command', () => {
  it('has a result, which is printed', () => {
    expect(leaves.filter(({ hasResult }) => !hasResult).map(nameOf)).toEqual([]);
  });

  it.each(leaves.map(nameOf))(
    'shows --json in its help, and all options that name a deployment or none: %s',
    (name) => {
      const help = leaves.find((leaf) => nameOf(leaf) === name)?.helpInformation() ?? '';
      expect(help).toContain('--json');
      const location = ['--local', '--data', '--stage'].filter((option) =>
        help.includes(`${option} `),
      );
      if (/^(plan|account|key|member|load|usage|export|import)/.test(name)) {
        expect(location).toHaveLength(3);
      }
      if (/^(plan|account|key|member|export|import)/.test(name)) {
        expect(help).toContain('--accounts-table');
      }
    },
  );

  it('fails without a result', async () => {
    const ping = new CliCommand(terminal, 'ping').does((() => undefined) as never);
    await expect(ping.parseAsync([], { from: 'user' })).rejects.toThrow('ping has no result');
  });

  const howToAgree: Record<Agreement, string> = {
    asks: 'on a terminal they ask, elsewhere they need `--yes`; `--plan` only shows the plan',
    plans: 'they only show their plan without `--yes`',
  };

  it('is in docs/commands.md (`UPDATE_DOCS=1 npm test -- test/operator/cli/command-hints` writes the table anew)', () => {
    const page = new URL('../../../docs/commands.md', import.meta.url);
    const [head = ''] = readFileSync(page, 'utf8').split('| | commands |\n|---|---|\n');
    const agreements = Object.entries(howToAgree).map(([agreement, how]) => {
      const names = Object.keys(destructive).filter((name) => destructive[name] === agreement);
      return `| ${how} | ${names.map((name) => `\`${name}\``).join(', ')} |\n`;
    });
    const groups = Map.groupBy(leaves.map(nameOf), (name) => name.split(' ')[0] ?? '');
    const all = [...groups].map(([group, names]) => {
      const within = names
        .map((name) => name.slice(group.length + 1))
        .filter((name) => name !== '');
      return `\`${group}\`${within.length > 0 ? ` (${within.join(', ')})` : ''}`;
    });
    const expected = `${head}| | commands |\n|---|---|\n${agreements.join('')}\nAll commands: ${all.join(', ')}.\n`;
    if (process.env.UPDATE_DOCS) writeFileSync(page, expected);
    expect(readFileSync(page, 'utf8')).toBe(expected);
  });
});
