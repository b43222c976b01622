import { globSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { mostLookups } from '../../operator/checks/run-smoke.ts';
import { maxActiveKeys } from '../../packages/admin/accounts/keys.ts';
import { runWith } from '../operator/command-line.ts';
import { folderForNow } from '../support/folder-for-now.ts';

/** What the docs leave for the reader to fill in, and something that could stand there. */
const placeholders: [RegExp, string][] = [
  [/\bKEY_ID\b/, 'b9uDEGM7'],
  [/\bID\b/g, 'acme'],
  [/\bLOAD\b/, '2026-01-08-0123456789'],
  [/\bFILE_OR_URL\b/, 'extract.zip'],
  [/day=\.\.\./, 'day=5'],
  [/\bVERSION\b/, '1.0.0'],
];

/** Where no service runs: a test must not touch the data of whoever runs it. */
const nowhere = join(tmpdir(), 'no-such-data-folder');

const texts = ['README.md', ...globSync('docs/*.md')].map((file) => readFileSync(file, 'utf8'));
const commands = texts
  .flatMap((text) => [...text.matchAll(/npx bag-adres (?!smoke)([^\n`")>]+)/g)])
  .map(([, command = '']) => command.replace(/\s+#.*/, ''))
  .map((command) =>
    placeholders.reduce((filled, [from, to]) => filled.replace(from, to), command.trim()),
  )
  .filter((command) => !/^(?:COMMAND|load \.\.\.)/.test(command));

/** Commands on the settings of a folder, which need no deployment. */
const onSettings = /^(?:init|config|gate)\b/;
const folders = folderForNow('bag-adres-docs-');
const account = '123456789012';

describe('the docs', () => {
  it('say how many lookups the smoke test makes at most', () => {
    expect(texts.join('\n')).toContain(`how many lookups it will make (at most ${mostLookups})`);
  });

  it.each([...new Set(commands.filter((command) => onSettings.test(command)))])(
    'show a command that an operator can run in a folder with settings: %s',
    async (command) => {
      const folder = mkdtempSync(join(folders, 'a-'));
      writeFileSync(
        join(folder, 'bag-adres.json'),
        JSON.stringify({ stages: { test: { account }, prod: { account } } }),
      );
      // The gate compares with what AWS has, so it ends without credentials.
      const args = [
        ...command.split(/\s+/),
        ...(/^init\b(?!.*--yes)/.test(command) ? ['--yes'] : []),
      ];
      const { exit, err } = await runWith(args, {}, folder);
      expect([command, exit, err]).toEqual([
        command,
        command.startsWith('gate') ? 1 : 0,
        expect.anything(),
      ]);
    },
  );

  it.each([...new Set(commands.filter((command) => !onSettings.test(command)))])(
    'show a command that the command line accepts: %s',
    async (command) => {
      // 2 is a command written wrongly. Without a region or a running service each ends with 1
      // before it does anything. What a command reads from a file it gets as an argument.
      const words = command.replace(/ < \S+$/, ' b9uDEGM7').split(/\s+/);
      const { exit, err } = await runWith([
        ...words,
        ...(command.includes('--local') ? ['--data', nowhere] : []),
      ]);
      expect([command, exit, err]).toEqual([
        command,
        command === '--help' ? 0 : 1,
        expect.anything(),
      ]);
    },
  );

  it('show many commands', () => {
    expect(commands.length).toBeGreaterThan(15);
  });

  it('state how many keys an account can have', () => {
    expect(readFileSync('docs/portal.md', 'utf8')).toContain(
      `An account can have ${maxActiveKeys} active keys`,
    );
  });

  it('never read the production deployment in a step that takes down a trial', () => {
    const [, takeDown = ''] = readFileSync('docs/deploy.md', 'utf8').split('## Take it down');
    const [trial = ''] = takeDown.split('With `retain`');
    expect(trial).toContain('npx cdk destroy --all -c bagAdres.stage=trial');
    expect(trial).not.toMatch(/-prod\b|\$\(out /);
  });
});
