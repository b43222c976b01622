import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { folderForNow } from '../../support/folder-for-now.ts';
import { run as runHere } from '../command-line.ts';

const folders = folderForNow('bag-adres-config-');

/** A folder with these files, and the command line in it. */
function folderWith(files: Record<string, unknown>) {
  const folder = mkdtempSync(join(folders, 'a-'));
  for (const [name, contents] of Object.entries(files)) {
    writeFileSync(join(folder, name), JSON.stringify(contents));
  }
  const run = (...args: string[]) => runHere(args, {}, folder);
  return { folder, run };
}

const account = '123456789012';
const settings = {
  shared: { alarmEmail: 'b@example.nl', throttle: { ratePerSecond: 50, burst: 60 } },
  stages: { test: { account, throttle: { burst: 20 } }, prod: { account, tags: { cost: '12' } } },
};

describe('config show', () => {
  it('prints every effective setting of a stage and where it is from', async () => {
    const { run } = folderWith({ 'bag-adres.json': settings });
    const { exit, out } = await run('config', 'show', '--stage', 'test', '--json');
    expect(exit).toBe(0);
    const { stage, settings: effective, origins } = JSON.parse(out);
    expect([stage, effective.throttle.burst, effective.throttle.ratePerSecond]).toEqual([
      'test',
      20,
      50,
    ]);
    expect(origins).toMatchObject({
      stage: 'stages.test',
      alarmEmail: 'shared',
      'throttle.burst': 'stages.test',
      'throttle.ratePerSecond': 'shared',
      logRetentionDays: 'default',
    });
    expect((await run('config', 'show')).out).toMatch(/tags\.cost +12 +stages\.prod/);
  });
});

describe('config check', () => {
  it('checks every stage, or the one that is named', async () => {
    const { run } = folderWith({
      'bag-adres.json': {
        ...settings,
        stages: { ...settings.stages, acceptance: { account, logRetentionDays: 31 } },
      },
    });
    const { exit, out, err } = await run('config', 'check');
    expect([exit, err]).toEqual([1, '']);
    expect(out).toMatch(/\nThe settings of acceptance are not valid\. Correct them\.$/);
    expect(out).toContain(
      'test: valid\nprod: valid\nacceptance: not valid\n  - logRetentionDays is 31. Allowed:',
    );
    expect(await run('config', 'check', '--stage', 'prod')).toMatchObject({
      exit: 0,
      out: 'prod: valid',
    });
    const faults = JSON.parse((await run('config', 'check', '--json')).out);
    expect(faults.stages.at(-1)).toMatchObject({
      stage: 'acceptance',
      faults: [expect.any(String)],
    });
  });

  it('reports a logo that is not there, relative to the folder of the settings', async () => {
    const { run } = folderWith({
      'bag-adres.json': { ...settings, shared: { branding: { logo: 'logo.svg' } } },
    });
    const { exit, out } = await run('config', 'check', '--stage', 'prod');
    expect([exit, out]).toEqual([
      1,
      expect.stringMatching(/branding\.logo is "logo\.svg", but .+ is not a file\./),
    ]);
  });

  it.each([
    [{}, ['config', 'check'], /no bag-adres\.json here.*"npx bag-adres init"/],
    [
      { 'bag-adres.json': settings },
      ['config', 'check', '--stage', 'pord'],
      /There is no stage "pord"/,
    ],
    [
      { 'bag-adres.json': settings },
      ['config', 'show', '--stage', 'pord'],
      /There is no stage "pord"/,
    ],
    [{ 'bag-adres.json': { stages: [] } }, ['config', 'show'], /stages must be an object/],
  ])('of %j by %j says what to do', async (files, args, message) => {
    expect(await folderWith(files).run(...args)).toMatchObject({
      exit: 1,
      err: expect.stringMatching(message),
    });
  });
});

describe('init', () => {
  it('--yes writes settings that config check accepts once each stage has an account', async () => {
    const { run, folder } = folderWith({});
    const { exit, out } = await run('init', '--yes', '--account', 'prod=123456789012');
    expect([exit, out]).toEqual([0, expect.stringContaining('wrote    bag-adres.json')]);
    const checked = await run('config', 'check');
    expect([checked.exit, checked.out]).toEqual([
      1,
      expect.stringMatching(/account is missing.*stages\.test.*\nprod: valid/),
    ]);
    const settings = join(folder, 'bag-adres.json');
    writeFileSync(
      settings,
      readFileSync(settings, 'utf8').replace('"test": {}', '"test": { "account": "111111111111" }'),
    );
    expect(await run('config', 'check')).toMatchObject({
      exit: 0,
      out: 'test: valid\nprod: valid',
    });
    expect(readFileSync(join(folder, '.github/workflows/deploy.yml'), 'utf8')).toContain(
      'npx cdk deploy --all',
    );
    expect((await run('init', '--yes')).out).not.toMatch(/wrote|changed/);
  });

  it('writes nothing where it can not ask, or is called wrongly', async () => {
    const { run, folder } = folderWith({});
    expect(await run('init')).toMatchObject({ exit: 1, err: expect.stringContaining('add --yes') });
    expect(await run('init', '--yes', '--account', 'prod=1')).toMatchObject({ exit: 2 });
    expect(existsSync(join(folder, 'package.json'))).toBe(false);
  });
});
