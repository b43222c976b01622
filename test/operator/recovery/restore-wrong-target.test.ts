import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { commandLine } from '../../../bin/bag-adres.ts';
import { accountsTable } from '../../../core/names.ts';
import type { CliCommand } from '../../../operator/cli/command.ts';
import { newAccount, testChecksumSecret } from '../../support/address-service.ts';
import { type HttpService, startHttpService } from '../../support/http-service.ts';
import { startS3, type TestS3 } from '../../support/s3.ts';
import { sweep } from '../../support/sweep.ts';
import { accountsTemplate, tableControl } from '../../support/table-control.ts';
import { run } from '../command-line.ts';
import { type AwsOperations, startFakeAws, templateAnswer, useAws } from '../fake-aws.ts';
import { deploymentStacks, isChange, OneFailure, startNewDeployment, writeKeyPair } from './recovery-bench.ts';

let service: HttpService;
let s3: TestS3;
let folder: string;
/** The deployment that the set is of. */
let source: Awaited<ReturnType<typeof startFakeAws>>;
/** The deployment that a set is restored into. */
let other: Awaited<ReturnType<typeof startNewDeployment>>;
let leaveAws: () => void;
const failure = new OneFailure();
const operations: AwsOperations = {};

beforeAll(async () => {
  service = await startHttpService();
  s3 = await startS3('snapshots');
  source = await startFakeAws(deploymentStacks(service.baseUrl), operations, service.endpoint);
  other = await startNewDeployment(service.baseUrl, failure);
  for (const [name, stack] of Object.entries(other.stacks)) other.stacks[name.replace('a-', 'b-')] = stack;
  folder = await mkdtemp(join(tmpdir(), 'sets-'));
  await writeKeyPair(folder);
  leaveAws = useAws(source.endpoint, { AWS_ENDPOINT_URL_S3: s3.endpoint });
  await newAccount(service, { day: 1e6 });
  await newAccount(service, { day: 1e6 });
  operations.GetSecretValue = () => ({ value: { SecretString: testChecksumSecret } });
  await run(['backup', 'create', '--stack', 'a', '--to', folder, '--public-key', join(folder, 'public.pem')]);
}, 60_000);
afterAll(async () => {
  leaveAws();
  for (const one of [source, other, service, s3]) await one.stop();
  await rm(folder, { recursive: true });
});
beforeEach(async () => {
  failure.left = null;
  await other.reset();
  const control = tableControl(service);
  control.adopt('accounts', { expiry: accountsTable.expires, tags: {} });
  await control.remember('accounts', new Date(at));
  Object.assign(operations, control.operations);
  operations.GetTemplate = () => templateAnswer(accountsTemplate({}));
  source.asked.length = 0;
  other.asked.length = 0;
});

const at = new Date(Math.floor(Date.now() / 1000) * 1000 - 1000).toISOString().replace('.000', '');

/** Puts into the new deployment what is not of the set. */
async function occupy(): Promise<void> {
  await other.admin.plans.put({ code: 'of-others', limits: { day: 5 } });
  await other.admin.accounts.create({ id: 'of-others', plan: 'of-others' });
}

/** Every command that replaces or deletes what a deployment holds: on a target that holds what is not of it. */
const commands: Record<string, { where: 'source' | 'other'; args: () => string[] }> = {
  'restore lost-account': { where: 'other', args: () => fromSet },
  'restore lost-region': { where: 'other', args: () => fromSet },
  'restore wrong-contents': { where: 'source', args: () => ['--at', at] },
  drill: { where: 'source', args: () => [] },
};
let fromSet: string[];

/** Runs one of the commands, and says what it changed. */
async function on(command: string, ...more: string[]) {
  fromSet = ['--from', folder, '--private-key', join(folder, 'private.pem')];
  const { where, args } = commands[command] ?? { where: 'other' as const, args: () => [] };
  const aws = where === 'source' ? source : other;
  process.env.AWS_ENDPOINT_URL = aws.endpoint;
  process.env.AWS_REGION = command === 'restore lost-region' ? 'eu-central-1' : 'eu-west-1';
  aws.asked.length = 0;
  const stack = more.includes('--stack') ? [] : ['--stack', 'a'];
  const ended = await run([...command.split(' '), ...args(), ...stack, ...more]);
  return { ...ended, changes: aws.asked.map(({ operation }) => operation).filter(isChange) };
}

describe('a command that replaces or deletes what a deployment holds', () => {
  it('is one of these, which have --into', () => {
    const quiet = { out: () => undefined, err: () => undefined, env: {} };
    const leaves = (command: CliCommand, path: string): string[] => [
      ...(command.options.some(({ long }) => long === '--into') ? [path] : []),
      ...command.commands.flatMap((one) => leaves(one as CliCommand, `${path} ${one.name()}`.trim())),
    ];
    // take-down.test.ts has the other one, which needs no set.
    expect(leaves(commandLine(quiet), '').sort()).toEqual([...Object.keys(commands), 'take-down'].sort());
  });

  it.each(Object.keys(commands))(
    '%s says where, what is there now and from where, and changes nothing',
    async (command) => {
      await occupy();
      const { exit, out, err, changes } = await on(command);
      expect([exit, changes]).toEqual([0, []]);
      expect(err).toMatch(
        /Into: a in account 123456789012, eu-(west|central)-1\nThere now: \d plans, \d accounts, .*register/,
      );
      if (command !== 'drill') expect(err).toMatch(/\nFrom: .*(set of \d{4}-|point-in-time recovery of accounts, at)/);
      expect(out + err).toContain('--into a.');
    },
  );

  it.each(Object.keys(commands))('%s is refused with --yes alone, before its first write', async (command) => {
    await occupy();
    const { exit, err, changes } = await on(command, '--yes');
    expect([exit, changes]).toEqual([1, []]);
    expect(err).toMatch(/replaces what a in account 123456789012, eu-.* has: \d+ plans, .*add --into a\./);
  });

  it.each(Object.keys(commands))('%s is refused where --into names another deployment', async (command) => {
    await occupy();
    const { exit, err, changes } = await on(command, '--yes', '--into', 'bag-adres-test');
    expect([exit, changes]).toEqual([1, []]);
    expect(err).toContain('--stack selects a, --into names bag-adres-test. Nothing was changed.');
  });
});

describe('restore lost-account', () => {
  const restore = (...more: string[]) => on('restore lost-account', '--yes', ...more);

  it('replaces no secret where a plan differs from the set, also with --into', async () => {
    const { plans } = await service.admin.backup.export();
    await other.admin.plans.put({ code: `${plans[0]?.code}`, limits: { day: 5 } });
    const { exit, err, changes } = await restore('--into', 'a');
    expect([exit, changes]).toEqual([1, []]);
    expect(err).toContain('exists and differs from the backup; nothing was imported');
  });

  it('replaces the secret of a deployment that has the accounts of the set only with --into', async () => {
    await other.admin.backup.import(await service.admin.backup.export());
    const refused = await restore();
    expect([refused.exit, refused.changes]).toEqual([1, []]);
    expect((await restore('--into', 'a')).changes).toContain('PutSecretValue');
  });

  it('restores a set of another deployment only with --into', async () => {
    const refused = await restore('--stack', 'b');
    expect([refused.exit, refused.changes]).toEqual([1, []]);
    expect((await restore('--stack', 'b', '--into', 'b')).err).toContain('Step 3/4');
  });

  it('goes on after it was killed between any two changes, without --into', async () => {
    const expected = (await service.admin.backup.export()).accounts;
    const { changes } = await restore();
    expect(changes.length).toBeGreaterThan(8);
    for (const left of sweep(changes.keys(), 3)) {
      await other.reset();
      failure.left = left;
      expect((await restore()).exit).toBe(1);
      failure.left = null;
      expect((await restore()).err).toContain('"checksumSecretVersions": ["v2"]');
      expect((await other.admin.backup.export()).accounts).toEqual(expected);
    }
  }, 60_000);
});
