import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Command } from 'commander';
import { commandLine } from '../../../bin/bag-adres.ts';
import { CliCommand, pathOf } from '../../../operator/cli/command.ts';
import { explainError } from '../../../operator/deployment/errors.ts';
import { folderForNow } from '../../support/folder-for-now.ts';
import { startForTests } from '../../support/start-for-tests.ts';
import { run, runWith } from '../command-line.ts';
import { startFakeAws, testCaller, useAws } from '../fake-aws.ts';

const folder = folderForNow('stage-');
const aws = startForTests(() => startFakeAws({}, {}));
const [, ours = ''] = /::(\d+):/.exec(testCaller) ?? [];
const another = '999999999999';

beforeAll(async () => {
  useAws(aws.endpoint);
  await writeFile(
    join(folder, 'bag-adres.json'),
    JSON.stringify({ stages: { test: { account: ours }, prod: { account: another } } }),
  );
});
beforeEach(() => {
  aws.asked.length = 0;
});

const newProgram = () =>
  commandLine({ out: () => undefined, err: () => undefined, env: {}, folder }, true);

/** Each command below this one that has work of its own. */
const below = (command: Command): CliCommand[] =>
  command.commands.flatMap((one) =>
    one.commands.length > 0 ? below(one) : one instanceof CliCommand ? [one] : [],
  );

const withStage = below(newProgram()).filter(({ options }) =>
  options.some(({ long }) => long === '--stage'),
);

/**
 * Runs a command on a stage with a value for each argument and each required option: any value,
 * as none is read before the stage is checked. Returns the code of its error.
 */
async function codeOn(path: string, stage: string | null): Promise<string> {
  const program = newProgram();
  const command = below(program).find((one) => pathOf(one) === path) as CliCommand;
  command.checks(() => undefined);
  for (const argument of command.registeredArguments) argument.argParser((text) => text);
  const values = command.options.flatMap((option) => {
    if (option.long === '--stage') return [];
    option.argParser((text) => text);
    return option.mandatory ? [`${option.long}`, 'x'] : [];
  });
  const words = [...path.split(' '), ...command.registeredArguments.map(() => 'x'), ...values];
  return program
    .parseAsync([...words, ...(stage === null ? [] : ['--stage', stage])], { from: 'user' })
    .then(
      () => 'none',
      (error: unknown) => explainError(error).code,
    );
}

const paths = withStage.map(pathOf);
/** Those that read settings, and ask nothing of AWS. */
const ofSettings = ['config check', 'config show'];
const deployed = paths.filter((path) => !ofSettings.includes(path));

describe('a command with --stage', () => {
  it('is each of these, among them those that look only', () => {
    expect(paths.length).toBeGreaterThan(40);
    for (const one of [...ofSettings, 'gate', 'doctor', 'load status', 'account list']) {
      expect(paths).toContain(one);
    }
  });

  it.each(deployed)(
    '%s asks AWS for the account of the credentials and nothing else, if it is not the account of the stage',
    async (path) => {
      expect(await codeOn(path, 'prod')).toBe('other_target');
      expect(aws.asked.map(({ operation }) => operation)).toEqual(['GetCallerIdentity']);
    },
  );

  it.each(ofSettings)('%s asks nothing of AWS', async (path) => {
    expect(await codeOn(path, 'test')).toBe('none');
    expect(aws.asked).toEqual([]);
  });

  it.each(paths)('%s asks nothing of AWS for a stage that the settings lack', async (path) => {
    expect(await codeOn(path, 'prd')).toBe(
      ofSettings.includes(path) ? 'invalid_settings' : 'usage',
    );
    expect(aws.asked).toEqual([]);
  });

  it('gate checks the account of the stage that it means without --stage too', async () => {
    expect(await codeOn('gate', null)).toBe('other_target');
    expect(aws.asked.map(({ operation }) => operation)).toEqual(['GetCallerIdentity']);
  });

  it('goes on with the credentials of the stage, and without settings', async () => {
    expect(await codeOn('load status', 'test')).toBe('aws_not_found');
    const { err } = await run(['load', 'status', '--stage', 'prd'], {}, join(folder, 'none'));
    expect(err).toContain('The stack bag-adres-prd-data does not exist in this account and region');
  });

  it('says which stages exist', async () => {
    const { exit, err } = await runWith(['load', 'status', '--stage', 'prd'], {}, folder);
    expect([exit, err]).toEqual([
      2,
      'bag-adres: bag-adres.json has no stage prd, only test, prod. Correct --stage, or run the command in a folder without that file.',
    ]);
  });
});

describe('AWS_PROFILE', () => {
  const config = join(folder, 'config');
  const files = { AWS_CONFIG_FILE: config, AWS_SHARED_CREDENTIALS_FILE: join(folder, 'none') };
  const status = async (env: NodeJS.ProcessEnv, where = folder) =>
    (await runWith(['load', 'status', '--stage', 'test'], { ...files, ...env }, where)).err;

  beforeAll(() =>
    writeFile(config, '[default]\nregion = eu-west-1\n\n[profile beheer]\nregion=eu-west-1\n'),
  );

  it.each([
    ['credentials', folder],
    ['a region', join(folder, 'none')],
  ])('is named as the cause if no file has that profile, and so no %s', async (_, where) => {
    expect(await status({ AWS_PROFILE: 'nope' }, where)).toBe(
      `bag-adres: AWS_PROFILE is nope, a profile that ${config} and ${join(folder, 'none')} do not have. They have default, beheer: correct or unset AWS_PROFILE.`,
    );
  });

  it.each([
    ['a profile that exists', { AWS_PROFILE: 'beheer' }],
    ['none', {}],
  ])('is not blamed for %s without credentials', async (_, env) => {
    expect(await status(env)).toMatch(/^bag-adres: No AWS credentials found\./);
  });
});
