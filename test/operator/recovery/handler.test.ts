import { generateKeyPairSync } from 'node:crypto';
import { Metrics } from '@aws-lambda-powertools/metrics';
import { CreateBucketCommand, GetObjectCommand, ListObjectsV2Command, PutObjectCommand } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { backupEnvironment, environment } from '../../../core/names.ts';
import { emptyManifest } from '../../../loader/dataset/manifest.ts';
import { checkedJson } from '../../../loader/dataset/stored-form.ts';
import { parseLines } from '../../../operator/recovery/backup-lines.ts';
import { openBackupSet } from '../../../operator/recovery/backup-set.ts';
import {
  type AddressService,
  newAccount,
  startAddressService,
  testChecksumSecret,
  testTables,
} from '../../support/address-service.ts';
import { faultsOfEvent } from '../../support/event-schema.ts';
import { startS3, type TestS3 } from '../../support/s3.ts';
import { type AwsOperations, startFakeAws, useAws } from '../fake-aws.ts';

let service: AddressService;
let s3: TestS3;
let aws: Awaited<ReturnType<typeof startFakeAws>>;
let leaveAws: () => void;
let secret = testChecksumSecret;
let takesEvents = true;
const pair = generateKeyPairSync('rsa', { modulusLength: 2048 });
let handler: () => Promise<{ set: string }>;

beforeAll(async () => {
  service = await startAddressService();
  s3 = await startS3('snapshots');
  const operations: AwsOperations = {
    GetSecretValue: ({ SecretId }: { SecretId: string }) => ({
      value: { SecretString: SecretId === 'session' ? 'proves cookies' : secret },
    }),
    PutEvents: () => (takesEvents ? { value: { FailedEntryCount: 0 } } : { error: 'InternalFailure' }),
  };
  aws = await startFakeAws({}, operations, service.endpoint);
  await s3.client.send(new CreateBucketCommand({ Bucket: 'sets' }));
  leaveAws = useAws(aws.endpoint, {
    AWS_ENDPOINT_URL_S3: s3.endpoint,
    [environment.accountsTable]: testTables.accounts,
    [environment.snapshotBucket]: 'snapshots',
    [environment.keyChecksumSecretArn]: 'checksum',
    [environment.portalSessionSecret]: 'session',
    [backupEnvironment.deployment]: 'bag-adres-prod',
    [backupEnvironment.destination]: 'sets/adres/',
    [backupEnvironment.publicKey]: pair.publicKey.export({ type: 'spki', format: 'der' }).toString('base64'),
  });
  ({ handler } = await import('../../../operator/recovery/handler.ts'));
}, 60_000);
afterAll(async () => {
  leaveAws();
  await aws.stop();
  await s3.stop();
  await service.stop();
});

const get = async (Key: string): Promise<Uint8Array | null> => {
  const { Body } = await s3.client.send(new GetObjectCommand({ Bucket: 'sets', Key: `adres/${Key}` }));
  return (await Body?.transformToByteArray()) ?? null;
};

/** The events since the last call. */
function sentEvents(): { type: string; detail: Record<string, unknown> }[] {
  const sent = aws.asked.splice(0).filter(({ operation }) => operation === 'PutEvents');
  return sent.flatMap(({ input }) =>
    (input.Entries as { DetailType: string; Detail: string }[]).map(({ DetailType, Detail }) => {
      const detail = JSON.parse(Detail);
      expect(faultsOfEvent(DetailType, detail)).toEqual([]);
      return { type: DetailType, detail };
    }),
  );
}

describe('the job that writes backup sets', () => {
  it('writes a set that the private key opens, with every account and where the register is', async () => {
    const { id } = await newAccount(service, { day: 10 });
    const entry = { peildatum: '2026-11-08', snapshot: { id: '2026-11-08-0123456789' } };
    const manifest = checkedJson({ ...emptyManifest, published: entry, history: [entry] }, 'manifest.json');
    await s3.client.send(new PutObjectCommand({ Bucket: 'snapshots', Key: 'manifest.json', Body: manifest }));
    const { set } = await handler();
    expect(set).toMatch(/^bag-adres-prod\/\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ\/$/);
    const key = pair.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
    const opened = await openBackupSet({ get, put: async () => undefined }, set, key);
    expect([opened.checksumSecret, opened.sessionSecret]).toEqual([testChecksumSecret, 'proves cookies']);
    expect(sentEvents()).toMatchObject([{ type: 'backup.written', detail: { set, counts: { accounts: 1 } } }]);
    expect(parseLines('set', opened.accounts).accounts.map((account) => account.id)).toEqual([id]);
    expect(opened.index.counts).toEqual({ plans: 1, accounts: 1, activeKeys: 1, members: 0 });
    expect(opened.index.snapshots).toEqual([
      { peildatum: '2026-11-08', location: 's3://snapshots/snapshots/2026-11-08-0123456789/' },
    ]);
  });

  it('fails, and leaves no set that looks complete, where the secret can not be read', async () => {
    const setsNow = async () =>
      (await s3.client.send(new ListObjectsV2Command({ Bucket: 'sets' }))).Contents?.filter(({ Key }) =>
        Key?.endsWith('set.json'),
      ).length;
    const before = await setsNow();
    secret = '';
    const metric = jest.spyOn(Metrics.prototype, 'addMetric');
    await expect(handler()).rejects.toThrow('The secret checksum is empty');
    // For its alarm.
    expect(metric).toHaveBeenCalledWith('BackupSets', 'Count', 0);
    metric.mockRestore();
    expect(await setsNow()).toBe(before);
    expect(sentEvents()).toMatchObject([{ type: 'backup.failed', detail: { failure: 'Error' } }]);
    // The set counts, not the message about it.
    secret = testChecksumSecret;
    takesEvents = false;
    expect(await handler()).toMatchObject({ set: expect.stringContaining('bag-adres-prod/') });
  });
});
