import { spawn, spawnSync } from 'node:child_process';
import { existsSync, openSync, readFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { DynamoDBDocumentClient, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Command } from 'commander';
import { commandLine } from '../../../bin/bag-adres.ts';
import { recordKey } from '../../../core/accounts/key-record.ts';
import { destructive, pathOf } from '../../../operator/cli/command.ts';
import { display } from '../../../operator/cli/terminal-text.ts';
import { runUnattended, startLocalRun } from '../command-line.ts';

const program = 'bin/bag-adres.ts';
const quiet = { out: () => undefined, err: () => undefined, env: {} };
const leavesOf = (command: Command): Command[] =>
  command.commands.length === 0 ? [command] : command.commands.flatMap(leavesOf);
const optionsOf = (command: Command) => command.options.map(({ long }) => long);

describe('output that can not be written', () => {
  const onFullDisk = existsSync('/dev/full') ? it : it.skip;

  onFullDisk('is an error of one line, and no success', async () => {
    const full = openSync('/dev/full', 'w');
    const child = spawn(process.execPath, [program, '--help'], { stdio: ['ignore', full, 'pipe'] });
    const ended = new Promise((resolve) => child.on('close', resolve));
    const err = child.stderr ? await text(child.stderr) : '';
    expect([await ended, err]).toEqual([
      1,
      expect.stringMatching(/^bag-adres: .*no space left on device.*\n$/),
    ]);
  });

  it('keeps the exit code of a command when its errors are not read', async () => {
    const child = spawn(process.execPath, [program, 'nonsense'], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const ended = new Promise((resolve) => child.on('close', resolve));
    child.stderr.destroy();
    expect(await ended).toBe(2);
  });

  it.each([
    ['', [program, '--help']],
    [' from its thread', ['local/launch.js', 'usage', 'export', '--help']],
  ])('ends a command%s as SIGPIPE would when its result is not read', async (_, args) => {
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    const ended = new Promise((resolve) => child.on('close', resolve));
    child.stdout.destroy();
    expect([await text(child.stderr), await ended]).toEqual(['', 141]);
  });
});

describe('the start of a command', () => {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8'));

  it('prints the version', () => {
    const { stdout, status } = spawnSync(process.execPath, [program, '--version'], {
      encoding: 'utf8',
    });
    expect([status, stdout]).toEqual([0, `${version}\n`]);
  });

  it('loads neither the AWS clients nor the schema of the settings nor the CDK, which take longer than its help', () => {
    const report = `
      import module from 'node:module';
      module.registerHooks({
        load: (url, context, next) => {
          const [, name] = /node_modules\\/((?:@[^/]+\\/)?[^/]+)/.exec(url) ?? [];
          if (name) process.stderr.write(name + '\\n');
          return next(url, context);
        },
      });`;
    const hook = `data:text/javascript,${encodeURIComponent(report)}`;
    const args = ['--import', hook, program, 'key', 'list', '--help'];
    const { stderr, status } = spawnSync(process.execPath, args, { encoding: 'utf8' });
    expect(status).toBe(0);
    const packages = [
      ...new Set(stderr.split('\n').filter((line) => /^@?[a-z][\w./-]*$/.test(line))),
    ];
    expect(packages).toContain('commander');
    expect(packages.filter((name) => /^(?:@aws|@smithy|aws-cdk-lib|zod)/.test(name))).toEqual([]);
  });
});

describe('the help', () => {
  const helpOf = (path: string, columns: number): string => {
    const out: string[] = [];
    const program = commandLine({ ...quiet, out: (text) => out.push(text) });
    display.columns = columns;
    leavesOf(program)
      .concat(program.commands)
      .find((command) => pathOf(command) === path)
      ?.outputHelp();
    return out.join('\n');
  };
  const groups = commandLine(quiet).commands;
  const paths = [...new Set([...groups, ...leavesOf(commandLine(quiet))].map(pathOf))];

  it.each([80, 100])('of every command fits a terminal of %i columns', (columns) => {
    const wide = paths
      .flatMap((path) => helpOf(path, columns).split('\n'))
      .filter((line) => line.length > columns);
    expect(paths.length).toBeGreaterThan(50);
    // What can't be broken: a line of a start-up file, and a path.
    expect(wide.filter((line) => / {2}/.test(line.trim()))).toEqual([]);
  });

  it('breaks a long example where a shell goes on', () => {
    expect(helpOf('restore carry-over', 80)).toContain(
      '  npx bag-adres restore carry-over --from OLD --since 2026-01-31T12:00:00Z \\\n    --accounts-table RESTORED',
    );
  });
});

describe('a command that can not be undone', () => {
  let bench: Awaited<ReturnType<typeof startLocalRun>>;
  let keyId: string;
  beforeAll(async () => {
    bench = await startLocalRun();
    await bench.run('plan put standard --limit day=5');
    await bench.run('account create acme --plan standard');
    keyId = (await bench.json('key create --account acme --label webshop')).key_id;
  });
  afterAll(() => bench.stop());

  it('is in the one list of them, and nothing else asks for an agreement', () => {
    const agreeing = leavesOf(commandLine(quiet)).filter((leaf) =>
      optionsOf(leaf).some((option) => option === '--yes' || option === '--apply'),
    );
    // It writes new files only: its --yes answers what goes into them.
    expect(
      agreeing
        .map(pathOf)
        .filter((path) => path !== 'init')
        .sort(),
    ).toEqual(Object.keys(destructive).sort());
  });

  // What each says is in command-destructive.test.ts.
  it('says what it does and changes nothing on another answer than y', async () => {
    const before = await bench.json('key list --account acme');
    for (const answer of ['', 'n', 'nee', 'yess']) {
      const { exit, out, err, asked } = await bench.runAnswering(
        answer,
        'key revoke',
        keyId,
        '--account',
        'acme',
      );
      expect([exit, out, err]).toEqual([
        1,
        '',
        expect.stringContaining('answer "y", or add --yes'),
      ]);
      expect(asked).toEqual([
        expect.stringMatching(/^Into: npm start on this machine, .*\nRevokes key \w+, "webshop"/),
      ]);
    }
    expect(await bench.json('key list --account acme')).toEqual(before);
  });

  it('is done on the answer y or with --yes, which it needs without a terminal; --plan never asks', async () => {
    const made = async () => (await bench.json('key create --account acme --label x')).key_id;
    const revoke = async () => ['key', 'revoke', await made(), '--account', 'acme'];
    expect(await bench.runAnswering('Y', ...(await revoke()))).toMatchObject({
      exit: 0,
      asked: [expect.anything()],
    });
    expect(await bench.runAnswering('n', ...(await revoke()), '--yes')).toMatchObject({
      exit: 0,
      asked: [],
    });
    const key = await revoke();
    expect(await runUnattended([...key, ...bench.local])).toMatchObject({
      exit: 1,
      err: expect.stringMatching(
        /\nRevokes key[\s\S]*Nothing was changed: nobody can answer here\. To do it, add --yes\./,
      ),
    });
    expect(
      (await bench.json('key list --account acme')).find(
        ({ key_id }: { key_id: string }) => key_id === key[2],
      ),
    ).toMatchObject({ state: 'active' });
    expect(await bench.run(...key, '--yes')).toMatchObject({
      exit: 0,
      err: expect.stringMatching(/\nRevokes key/),
    });
    const planned = await bench.runAnswering('y', ...(await revoke()), '--plan');
    expect(planned).toMatchObject({
      exit: 0,
      asked: [],
      err: expect.stringContaining('Nothing was changed.'),
    });
  });

  it('shows the day on which a key was used last, and asks nothing about one that is revoked', async () => {
    const made = (await bench.json('key create --account acme --label used')).key_id;
    await DynamoDBDocumentClient.from(bench.client).send(
      new UpdateCommand({
        TableName: 'accounts',
        Key: recordKey({ account: 'acme', keyId: made }),
        UpdateExpression: 'SET last_used = :date',
        ExpressionAttributeValues: { ':date': '2026-11-24' },
      }),
    );
    const revoke = ['key', 'revoke', made, '--account', 'acme'];
    const { asked } = await bench.runAnswering('y', ...revoke);
    expect(asked).toEqual([
      expect.stringMatching(/"used", of account "acme", last used .*, on 2026-11-24, for good/),
    ]);
    expect(await bench.runAnswering('n', ...revoke)).toMatchObject({ exit: 0, asked: [] });
  });
});
