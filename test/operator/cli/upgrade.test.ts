import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { templates } from '../../lib/synthesized.ts';
import { folderForNow } from '../../support/folder-for-now.ts';
import { inSweep } from '../../support/in-sweep.ts';
import { sweep } from '../../support/sweep.ts';
import { run as runHere, runWith } from '../command-line.ts';
import { startFakeAws, templateAnswer, useAws } from '../fake-aws.ts';

const { version } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'));
const work = folderForNow('bag-adres-upgrade-');
const account = '123456789012';
/** An operator's folder, with the templates of an earlier deployment in `former`. */
let folder: string;

const run = (...args: string[]) => runHere(args, {}, folder);

beforeAll(async () => {
  folder = mkdtempSync(join(work, 'operator-'));
  writeFileSync(
    join(folder, 'bag-adres.json'),
    JSON.stringify({ stages: { test: { account }, prod: { account }, nowhere: {} } }),
  );
  const { stack, names } = await templates({ stage: 'test', account });
  mkdirSync(join(folder, 'former'));
  for (const name of Object.values(names)) {
    const text = JSON.stringify(stack(name).template).replaceAll(`"${version}"`, '"0.9.0"');
    writeFileSync(join(folder, 'former', `${name}.template.json`), text);
  }
}, 60_000);

describe('upgrade', () => {
  /** Runs the command where CloudFormation has the templates that `deployed` returns. */
  async function upgradeFrom(deployed: (stack: string) => string, ...options: string[]) {
    const answer = ({ StackName }: { StackName: string }) =>
      templateAnswer(deployed(StackName).replaceAll('&', '&amp;').replaceAll('<', '&lt;'));
    const aws = await startFakeAws({}, { GetTemplate: answer });
    const leaveAws = useAws(aws.endpoint);
    try {
      const ended = await run('upgrade', '--stage', 'test', ...options);
      return { ...ended, asked: aws.asked.map(({ operation }) => operation) };
    } finally {
      leaveAws();
      await aws.stop();
    }
  }
  const former = (stack: string) => readFileSync(join(folder, 'former', `${stack}.template.json`), 'utf8');
  /** A portal that the settings don't have, and a table with another key. */
  const other = (stack: string) =>
    stack.endsWith('portal') ? '{}' : former(stack).replace('"KeyType":"RANGE"', '"KeyType":"HASH"');

  it('shows each stack of CloudFormation with both versions, and ends with 1 for what would be lost', async () => {
    const { exit, out, err, asked } = await upgradeFrom(other);
    expect([exit, err]).toEqual([1, expect.stringContaining('must not be deployed as it is')]);
    expect(out).toContain(`Stage test: 0.9.0 is deployed, ${version} is installed.`);
    expect(out).toMatch(/bag-adres-test-service +0\.9\.0/);
    expect(out).toContain('npx cdk deploy --all -c bagAdres.stage=test');
    expect(out).toMatch(/Obstacle: bag-adres-test-data: Accounts\w+ \(AWS::DynamoDB::Table\) has another KeySchema/);
    expect(out).toContain('Obstacle: bag-adres-test-portal is deployed, but no longer in the settings');
    expect(asked).toEqual(Array(4).fill('GetTemplate'));
  }, 60_000);

  inSweep(
    'reads templates from a folder instead',
    async () => {
      const { exit, out, asked } = await upgradeFrom(other, '--from', 'former', '--json');
      expect([exit, asked]).toEqual([0, []]);
      expect(JSON.parse(out)).toMatchObject({ deployed: '0.9.0', installed: version, obstacles: [] });
    },
    60_000,
  );

  it('asks AWS before the synthesis, so that missing credentials cost no time', async () => {
    const broken = mkdtempSync(join(work, 'broken-'));
    writeFileSync(join(broken, 'bag-adres.json'), JSON.stringify({ stages: { test: { account } } }));
    // The synthesis would end with this.
    writeFileSync(join(broken, 'cdk.json'), 'no JSON');
    const { err } = await runWith(['upgrade', '--stage', 'test'], {}, broken);
    expect(err).toMatch(/credentials/i);
  });

  it.each([
    [['upgrade', '--from', 'nowhere'], /has no templates\. Name a folder/],
    [['upgrade', '--stage', 'nowhere'], /account is missing.*to stages\.nowhere/],
    [['upgrade', '--stage', 'pord'], /There is no stage "pord"/],
    [['rollback-code'], /There is no release before|back to/],
    [['rollback-code', '--to', 'latest'], /"latest" is no version/],
    [['rollback-code', '--to', '0.9.0'], /There is no release 0\.9\.0 up to .*Choose one of/],
    [['rollback-code', '--to', './none.tgz'], /none\.tgz does not exist/],
  ])('%j says what to do', async (args, message) => {
    const { exit, err } = await run(...args);
    expect([exit, err]).toEqual([1, expect.stringMatching(message)]);
  });
});

describe('rollback-code', () => {
  it('prints the steps and does nothing', async () => {
    const { exit, out, err } = await run('rollback-code', '--stage', 'prod', '--to', version);
    expect([exit, err]).toEqual([0, 'Nothing was done. To run these steps, add --apply.']);
    expect(out).toContain(`1. npm install --save-exact bag-adres@${version}`);
    expect(out).toContain('npx cdk deploy bag-adres-prod-service --exclusively');
  });
});

describe('a command with --apply', () => {
  /** What the steps called, one on each line, and before which of them the process of the step is killed. */
  const [log, dies] = [join(work, 'calls'), join(work, 'dies')];
  const { PATH } = process.env;
  let aws: Awaited<ReturnType<typeof startFakeAws>>;
  let leaveAws: () => void;

  beforeAll(async () => {
    aws = await startFakeAws({}, {});
    leaveAws = useAws(aws.endpoint);
    const bin = join(work, 'bin');
    mkdirSync(bin);
    for (const name of ['npm', 'npx']) {
      const script = `#!/bin/sh
[ -e "${dies}" ] && [ "$(cat "${log}" 2>/dev/null | wc -l)" -ge "$(cat "${dies}")" ] && kill -9 $$
echo "${name} $*" >> "${log}"
`;
      writeFileSync(join(bin, name), script, { mode: 0o755 });
    }
    process.env.PATH = [bin, PATH].join(delimiter);
  });
  afterAll(async () => {
    process.env.PATH = PATH;
    leaveAws();
    await aws.stop();
  });

  /** The steps that a run got through; with `killed` it ends before that one. */
  async function steps(args: readonly string[], killed?: number) {
    rmSync(log, { force: true });
    rmSync(dies, { force: true });
    if (killed !== undefined) writeFileSync(dies, String(killed));
    const { exit, err } = await run(...args, '--stage', 'test', '--apply');
    const called = existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n') : [];
    return { exit, err, called };
  }

  const applied: [command: string, args: string[], count: number][] = [
    ['rollback-code', ['rollback-code', '--to', version], 4],
    ['upgrade', ['upgrade', '--from', 'former'], 1],
  ];
  it.each(sweep(applied, 1))(
    '%s says where, and does the same steps when it is run again after a kill between any two',
    async (_, args, count) => {
      const whole = await steps(args);
      expect([whole.exit, whole.called.length]).toEqual([0, count]);
      expect(whole.err).toMatch(/^Into: bag-adres-test in account 123456789012/m);
      for (let killed = 0; killed < count; killed++) {
        const { exit, err, called } = await steps(args, killed);
        expect([exit, called]).toEqual([1, whole.called.slice(0, killed)]);
        expect(err).toContain('failed. Correct what it reports');
        expect(await steps(args)).toEqual({ ...whole, err: expect.stringContaining('Into: bag-adres-test') });
      }
    },
    120_000,
  );
});
