import { generateKeyPairSync } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DeleteTableCommand } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { readApiKey } from '../../../core/accounts/api-key.ts';
import { dynamoDbAddressTable } from '../../../loader/storage/address-table.ts';
import { restoreFromSet } from '../../../operator/recovery/restore-account.ts';
import { createAdmin } from '../../../packages/admin/admin.ts';
import { newAccount, testChecksumSecret, testTables } from '../../support/address-service.ts';
import { createTables, startDynamoDb, type TestDynamoDb } from '../../support/dynamodb.ts';
import { type HttpService, startHttpService } from '../../support/http-service.ts';
import { startS3, type TestS3 } from '../../support/s3.ts';
import { storedItems } from '../../support/stored-items.ts';
import { underLock } from '../../support/under-lock.ts';
import { run } from '../command-line.ts';
import { type AwsOperations, type FakeStack, startFakeAws, templateAnswer, testCaller, useAws } from '../fake-aws.ts';

let service: HttpService;
let aws: Awaited<ReturnType<typeof startFakeAws>>;
let other: TestDynamoDb;
let otherAws: typeof aws;
let s3: TestS3;
let folder: string;
let key: string;
let leaveAws: () => void;
const stacks: Record<string, FakeStack> = {};
const otherStacks: Record<string, FakeStack> = {};
/** The secrets of the new deployment, each version by its id, and the versions that its service was deployed with. */
const versions = new Map([['v1', 'generated with the new stack']]);
let deployed: string[] = [];
let failure: { call: number; when: 'before' | 'after' } | null = null;

const operations: AwsOperations = {
  GetSecretValue: () => ({ value: { SecretString: testChecksumSecret } }),
};
const currentId = () => [...versions.keys()].at(-1) ?? '';
const otherOperations: AwsOperations = {
  GetSecretValue: () => ({ value: { SecretString: versions.get(currentId()) } }),
  DescribeSecret: () => ({ value: { VersionIdsToStages: { [currentId()]: ['AWSCURRENT'] } } }),
  PutSecretValue: ({ SecretString }: { SecretString: string }) => {
    if (failure && --failure.call === 0 && failure.when === 'before') return { error: 'InternalServiceError' };
    versions.set(`v${versions.size + 1}`, SecretString);
    return failure?.call === 0 ? { error: 'InternalServiceError' } : { value: {} };
  },
  GetTemplate: () => {
    const body = deployed.map((id) => `KEY_CHECKSUM_SECRET: {{resolve:secretsmanager:x:SecretString:::${id}}}`).join();
    return templateAnswer(body);
  },
};

beforeAll(async () => {
  service = await startHttpService();
  s3 = await startS3('snapshots');
  other = await startDynamoDb();
  aws = await startFakeAws(stacks, operations, service.endpoint);
  otherAws = await startFakeAws(otherStacks, otherOperations, other.endpoint);
  folder = await mkdtemp(join(tmpdir(), 'sets-'));
  const pair = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  await writeFile(join(folder, 'public.pem'), pair.publicKey);
  await writeFile(join(folder, 'private.pem'), pair.privateKey);
  leaveAws = useAws(aws.endpoint, { AWS_ENDPOINT_URL_S3: s3.endpoint });
  const data = (name: string) => ({
    outputs: { AccountsTableName: name, AddressesTableName: testTables.addresses, KeyChecksumSecretArn: 'checksum' },
  });
  const loader = { outputs: { SnapshotBucketName: 'snapshots', StateMachineArn: 'x' } };
  const ofService = { outputs: { BaseUrl: service.baseUrl } };
  Object.assign(stacks, { 'a-data': data(testTables.accounts), 'a-loader': loader, 'a-service': ofService });
  Object.assign(otherStacks, { 'a-data': data('accounts-b'), 'a-loader': loader, 'a-service': ofService });
  const account = await newAccount(service, { day: 1e6 });
  ({ key } = account);
  await service.admin.members.add({ account: account.id, person: 'jo@example.nl', role: 'admin' });
}, 60_000);
afterAll(async () => {
  leaveAws();
  await aws.stop();
  await otherAws.stop();
  await other.stop();
  await service.stop();
  await s3.stop();
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
    process.env.AWS_ENDPOINT_URL = otherAws.endpoint;
    process.env.AWS_REGION = 'eu-west-1';
    versions.clear();
    versions.set('v1', 'generated with the new stack');
    deployed = [];
    failure = null;
  });

  it.each([
    ['a new account, when nothing fails', null, 'account'],
    ['a new account, when the secret could not be put', { call: 1, when: 'before' as const }, 'account'],
    ['a new account, when the answer about the secret was lost', { call: 1, when: 'after' as const }, 'account'],
    ['another region', null, 'region'],
  ] as const)(
    'makes every key work in %s',
    async (_, fault, lost) => {
      failure = fault;
      if (lost === 'region') process.env.AWS_REGION = 'eu-central-1';
      const restore = (execute: boolean) => restoreSet(execute, lost);
      const tables = { addresses: testTables.addresses, accounts: 'accounts-b' };
      for (const TableName of Object.values(tables))
        await other.client.send(new DeleteTableCommand({ TableName })).catch(() => undefined);
      await createTables(other.client, tables);
      const planned = await restore(false);
      expect(planned.remaining).toHaveLength(4);
      expect([versions.size, planned.took]).toEqual([1, []]);
      if (fault) await expect(restore(true)).rejects.toThrow(/Step 1\/4 failed/);
      // It stops where the operator has to deploy, and says with which version.
      await expect(restore(true)).rejects.toThrow(`set "checksumSecretVersions": ["v2"]`);
      deployed = ['v2'];
      await expect(restore(true)).rejects.toThrow('run "load run --stack a"');
      const addresses = dynamoDbAddressTable(other.client, testTables.addresses);
      await underLock(addresses, (fence) => addresses.setDataset({ peildatum: '2026-11-08', load: 'one' }, fence));
      const admin = createAdmin({
        client: DynamoDBDocumentClient.from(other.client),
        table: 'accounts-b',
        checksumSecret: 'x',
      });
      expect((await admin.backup.export()).accounts).toEqual((await service.admin.backup.export()).accounts);
      const entries = await storedItems(DynamoDBDocumentClient.from(other.client), 'accounts-b', 'service#');
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
      expect(readApiKey(key, versions.get('v2') ?? '')).not.toBeNull();
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
    const named = Object.entries(otherStacks).map(([name, stack]) => [`bag-adres-${name}`, stack]);
    Object.assign(otherStacks, Object.fromEntries(named));
    // The file of the key is read next.
    const { exit, err } = await run([...args, '--private-key', join(folder, 'none.pem')], {}, folder);
    expect([exit, err]).toEqual([1, expect.stringContaining("Can't read")]);
  });
});
