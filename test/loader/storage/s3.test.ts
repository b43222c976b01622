import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  PutObjectCommand,
  S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { mockClient } from 'aws-sdk-client-mock';
import { s3Source, s3Storage } from '../../../loader/storage/s3.ts';
import { startS3 } from '../../support/s3.ts';
import { startForTests } from '../../support/start-for-tests.ts';

const s3 = startForTests(() => startS3('extracts'));

const put = (Key: string, Body: string) =>
  s3.client.send(new PutObjectCommand({ Bucket: s3.bucket, Key, Body: Buffer.from(Body) }));

describe('an extract in a bucket', () => {
  it.each([
    'a.zip',
    'a#b.zip',
    'a?b=c.zip',
    '100%.zip',
    'a%20b.zip',
    'a b.zip',
    'a+b.zip',
    'x//../é.zip',
    '/a.zip',
  ])('is the object with literally the given key: %s', async (key) => {
    // What a reader of URLs would take some of these keys for.
    for (const other of ['a', 'a b.zip', 'é.zip', 'a.zip']) await put(other, 'another');
    await put(key, `at ${key}`);
    const source = await s3Source(s3.client, `s3://extracts/${key}`);
    const text = `at ${key}`;
    expect(source?.access?.size).toBe(Buffer.byteLength(text));
    expect(String(await source?.access?.read(0, Buffer.byteLength(text)))).toBe(text);
  });

  it('is read only when it was replaced', async () => {
    await put('known.zip', 'one');
    const location = 's3://extracts/known.zip';
    const source = await s3Source(s3.client, location);
    expect(await s3Source(s3.client, location, source?.version)).toBeNull();
    await put('known.zip', 'two');
    expect(await s3Source(s3.client, location, source?.version)).not.toBeNull();
  });

  it.each([
    ['no key', 's3://extracts/', /write s3:\/\/BUCKET\/KEY/],
    ['no bucket', 's3:///a.zip', /write s3:\/\/BUCKET\/KEY/],
    [
      'an object that is not there',
      's3://extracts/gone#1.zip',
      /gone#1\.zip can't be read.*permission/,
    ],
  ])('is refused with what to do: %s', async (_, location, message) => {
    await expect(s3Source(s3.client, location)).rejects.toThrow(message);
  });
});

const client = new S3Client({});
const mock = mockClient(client);
beforeEach(() => {
  mock.reset();
  mock.on(CreateMultipartUploadCommand).resolves({ UploadId: 'upload' });
  mock.on(UploadPartCommand).callsFake(({ PartNumber }) => ({
    ETag: `etag ${PartNumber}`,
    ChecksumCRC32: `crc ${PartNumber}`,
  }));
});

const upload = (chunks: AsyncIterable<Buffer>) =>
  s3Storage(client, 'bucket').putStream('whole', chunks);

async function* megabytes(count: number, end?: Error): AsyncGenerator<Buffer> {
  for (let sent = 0; sent < count; sent++) yield Buffer.alloc(1024 * 1024);
  if (end) throw end;
}

describe('an upload in parts', () => {
  // S3 refuses a part with a checksum that the upload did not declare, and a completion without the
  // parts' checksums.
  it('declares the checksum of its parts, and repeats each on completion', async () => {
    await upload(megabytes(21));
    expect(
      mock.commandCalls(CreateMultipartUploadCommand)[0]?.args[0].input.ChecksumAlgorithm,
    ).toBe('CRC32');
    const parts = mock.commandCalls(UploadPartCommand).map(({ args }) => args[0].input);
    expect(parts.map(({ ChecksumAlgorithm }) => ChecksumAlgorithm)).toEqual([
      'CRC32',
      'CRC32',
      'CRC32',
    ]);
    expect(
      mock.commandCalls(CompleteMultipartUploadCommand)[0]?.args[0].input.MultipartUpload?.Parts,
    ).toEqual(
      [1, 2, 3].map((PartNumber) => ({
        PartNumber,
        ETag: `etag ${PartNumber}`,
        ChecksumCRC32: `crc ${PartNumber}`,
      })),
    );
  });

  it("is aborted when its source fails, and throws the source's error even if the abort fails", async () => {
    mock.on(AbortMultipartUploadCommand).rejects(new Error('access denied'));
    await expect(upload(megabytes(21, new Error('the source changed')))).rejects.toThrow(
      'the source changed',
    );
    expect(mock.commandCalls(AbortMultipartUploadCommand)[0]?.args[0].input.UploadId).toBe(
      'upload',
    );
    expect(mock.commandCalls(CompleteMultipartUploadCommand)).toEqual([]);
  });
});
