import { generateKeyPairSync } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { readApiKey } from '../../../core/accounts/api-key.ts';
import { restoreFromSet } from '../../../operator/recovery/restore-account.ts';
import { newAccount, testChecksumSecret } from '../../support/address-service.ts';
import { type HttpService, startHttpService } from '../../support/http-service.ts';
import { startS3, type TestS3 } from '../../support/s3.ts';
import { storedItems } from '../../support/stored-items.ts';
import { sweep } from '../../support/sweep.ts';
import { run } from '../command-line.ts';
import { startFakeAws, testCaller, useAws } from '../fake-aws.ts';
import { deploymentStacks, OneFailure, startNewDeployment, writeKeyPair } from '../recovery/recovery-bench.ts';

let service: HttpService;
let aws: Awaited<ReturnType<typeof startFakeAws>>;
let other: Awaited<ReturnType<typeof startNewDeployment>>;
let s3: TestS3;
let folder: string;
let key: string;
let leaveAws: () => void;
const failure = new OneFailure();

beforeAll(async () => {
  service = await startHttpService();
  s3 = await startS3('snapshots');
  const operations = { GetSecretValue: () => ({ value: { SecretString: testChecksumSecret } }) };
  aws = await startFakeAws(deploymentStacks(service.baseUrl), operations, service.endpoint);
  other = await startNewDeployment(service.baseUrl, failure);
  folder = await mkdtemp(join(tmpdir(), 'sets-'));
  await writeKeyPair(folder);
  leaveAws = useAws(aws.endpoint, { AWS_ENDPOINT_URL_S3: s3.endpoint });
  const account = await newAccount(service, { day: 1e6 });
  ({ key } = account);
  await service.admin.members.add({ account: account.id, person: 'jo@example.nl', role: 'admin' });
}, 60_000);
afterAll(async () => {
  leaveAws();
  for (const one of [aws, other, service, s3]) await one.stop();
  await rm(folder, { recursive: true });
});

const sets = () => join(folder, 'sets');
const create = (to = sets()) =>
  run(['backup', 'create', '--stack', 'a', '--to', to, '--public-key', join(folder, 'public.pem')]);
const check = (from = sets(), file = 'private.pem') =>
  run(['backup', 'check', '--from', from, '--private-key', join(folder, file)]);

describe('a backup set', () => {
  beforeEach(() => {
    process.env.AWS_ENDPOINT_URL = aws.endpoint;
  });

  it('holds accounts and secrets, which only the private key opens', async () => {
    expect(await create()).toMatchObject({
      exit: 0,
      out: expect.stringMatching(/^Wrote a\/.*Z\/: a in eu-west-1, 1 plans, 1 accounts/),
    });
    const files = await readdir(sets(), { recursive: true });
    const texts = await Promise.all(
      files.filter((file) => /\.\w+$/.test(file)).map((file) => readFile(join(sets(), file), 'utf8')),
    );
    expect(texts).toHaveLength(3);
    for (const text of texts) {
      expect(text).not.toContain(testChecksumSecret);
      expect(text).not.toContain('jo@example.nl');
    }
    expect(await check()).toMatchObject({ exit: 0, out: expect.stringContaining('is complete') });
    const list = await run(['backup', 'list', '--from', sets()]);
    expect(list.out).toContain('1 accounts, 1 active keys, 1 members');
  });

  it('is refused when it is damaged, incomplete, or of another key', async () => {
    const [set = ''] = (await readdir(join(sets(), 'a'))).map((name) => join(sets(), 'a', name));
    const pair = generateKeyPairSync('rsa', { modulusLength: 2048 });
    await writeFile(join(folder, 'another.pem'), pair.privateKey.export({ type: 'pkcs8', format: 'pem' }));
    expect(await check(set, 'another.pem')).toMatchObject({
      exit: 1,
      err: expect.stringContaining('not the one of the set'),
    });
    expect(await check(set, 'public.pem')).toMatchObject({
      exit: 1,
      err: expect.stringContaining('BEGIN PRIVATE KEY'),
    });
    expect(await check(folder, 'none.pem')).toMatchObject({ exit: 1, err: expect.stringContaining("Can't read") });
    const part = join(set, 'accounts.jsonl.gz.jwe');
    const bytes = await readFile(part);
    await writeFile(part, bytes.subarray(1));
    expect(await check(set)).toMatchObject({ exit: 1, err: expect.stringContaining('is damaged. Use another set.') });
    await rm(part);
    expect(await check(set)).toMatchObject({ exit: 1, err: expect.stringContaining('is missing. Use another set.') });
    await writeFile(part, bytes);
    expect(await check(join(folder, 'nothing'))).toMatchObject({
      exit: 1,
      err: expect.stringContaining('no backup set'),
    });
    const wrong = ['backup', 'create', '--stack', 'a', '--to', sets(), '--public-key', join(folder, 'private.pem')];
    expect(await run(wrong)).toMatchObject({ exit: 1, err: expect.stringContaining('no RSA key in PEM form') });
  });
});

describe('restore lost-account', () => {
  const restoreSet = (execute: boolean, lost: 'account' | 'region') =>
    restoreFromSet({
      stack: 'a',
      execute,
      lost,
      key: undefined,
      print: () => undefined,
      from: sets(),
      privateKey: join(folder, 'private.pem'),
    });

  beforeEach(async () => {
    process.env.AWS_ENDPOINT_URL = other.endpoint;
    process.env.AWS_REGION = 'eu-west-1';
    failure.next = null;
    await other.reset();
  });

  const losses = [
    ['a new account, when the answer about the secret was lost', { call: 1, when: 'after' as const }, 'account'],
    ['a new account, when the secret could not be put', { call: 1, when: 'before' as const }, 'account'],
    ['another region', null, 'region'],
    ['a new account, when nothing fails', null, 'account'],
  ] as const;
  it.each(sweep(losses, 2))(
    'makes every key work in %s',
    async (_, fault, lost) => {
      failure.next = fault && { ...fault };
      if (lost === 'region') process.env.AWS_REGION = 'eu-central-1';
      const restore = (execute: boolean) => restoreSet(execute, lost);
      const planned = await restore(false);
      expect(planned.remaining).toHaveLength(4);
      expect([other.versions.size, planned.took]).toEqual([1, []]);
      if (fault) await expect(restore(true)).rejects.toThrow(/Step 1\/4 failed/);
      // It stops where the operator has to deploy, and says with which version.
      await expect(restore(true)).rejects.toThrow(`set "checksumSecretVersions": ["v2"]`);
      other.deployed.push('v2');
      await expect(restore(true)).rejects.toThrow('run "load run --stack a"');
      await other.load();
      expect((await other.admin.backup.export()).accounts).toEqual((await service.admin.backup.export()).accounts);
      const entries = await storedItems(other.client, other.accountsTable, 'service#');
      // A secret that was not put, or whose answer was lost, leaves an entry that does not say what became of it.
      const secret = { version: 'v1' };
      const accounts = expect.objectContaining({ accounts: 0 });
      const expected: [unknown, string?][] = [
        [secret, 'done'],
        [accounts, 'done'],
      ];
      if (fault?.when === 'before') expected.unshift([secret, undefined]);
      if (fault?.when === 'after') expected[0] = [secret, undefined];
      expect(entries).toEqual(
        expected.map(([before, outcome]) =>
          expect.objectContaining({
            action: `restore lost-${lost}`,
            actor: testCaller,
            detail: expect.objectContaining({ set: expect.any(String), of: 'a', before }),
            ...(outcome && { outcome }),
          }),
        ),
      );
      expect(entries.map(({ outcome }) => outcome)).toEqual(expected.map(([, outcome]) => outcome));
      expect(readApiKey(key, other.versions.get('v2') ?? '')).not.toBeNull();
      const ended = await restore(true);
      expect(ended.summary.join('\n')).toMatch(/Now: 1 plans, 1 accounts, 1 active keys and 1 members/);
      expect(ended.took).toEqual([]);
    },
    60_000,
  );

  it('is refused as lost-region in the region of the set', async () => {
    await expect(restoreSet(false, 'region')).rejects.toThrow('Deploy it in another region');
  });

  it.each(['account', 'region'])('lost-%s without a set or its key says what to do first, in order', async (lost) => {
    const { exit, out, err } = await run(['restore', `lost-${lost}`, '--stack', 'a'], {}, folder);
    expect([exit, out]).toEqual([2, '']);
    expect(err).toMatch(
      /Give --from.*1\. Deploy the stacks into .*2\. Find the sets: "backup".*3\. Get the private key.*4\./,
    );
    expect(err).toContain(lost === 'region' ? 'AWS_REGION' : 'the new account');
  });

  it('takes the place of the sets from the settings of the stage', async () => {
    const settings = { shared: {}, stages: { a: { backup: { bucket: 'adres-sets/prod/', publicKey: 'MII' } } } };
    await writeFile(join(folder, 'bag-adres.json'), JSON.stringify(settings));
    const args = ['restore', 'lost-region', '--stack', 'bag-adres-a'];
    expect((await run(args, {}, folder)).err).toContain('Give --private-key, the file');
    for (const [name, stack] of Object.entries(other.stacks)) other.stacks[`bag-adres-${name}`] = stack;
    // The file of the key is read next.
    const { exit, err } = await run([...args, '--private-key', join(folder, 'none.pem')], {}, folder);
    expect([exit, err]).toEqual([1, expect.stringContaining("Can't read")]);
  });
});
