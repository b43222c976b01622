import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { mockClient } from 'aws-sdk-client-mock';
import { s3Storage } from '../../../loader/storage/s3.ts';

const mock = mockClient(S3Client);
beforeEach(() => {
  mock.reset();
  mock.on(CreateMultipartUploadCommand).resolves({ UploadId: 'upload' });
  mock.on(UploadPartCommand).callsFake(({ PartNumber }) => ({
    ETag: `etag ${PartNumber}`,
    ChecksumCRC32: `crc ${PartNumber}`,
  }));
});

const upload = (chunks: AsyncIterable<Buffer>) => s3Storage(new S3Client({}), 'bucket').putStream('whole', chunks);

async function* megabytes(count: number, end?: Error): AsyncGenerator<Buffer> {
  for (let sent = 0; sent < count; sent++) yield Buffer.alloc(1024 * 1024);
  if (end) throw end;
}

describe('an upload in parts', () => {
  // S3 refuses a part with a checksum that the upload did not declare, and a completion without the parts' checksums.
  it('declares the checksum of its parts, and repeats each on completion', async () => {
    await upload(megabytes(21));
    expect(mock.commandCalls(CreateMultipartUploadCommand)[0]?.args[0].input.ChecksumAlgorithm).toBe('CRC32');
    const parts = mock.commandCalls(UploadPartCommand).map(({ args }) => args[0].input);
    expect(parts.map(({ ChecksumAlgorithm }) => ChecksumAlgorithm)).toEqual(['CRC32', 'CRC32', 'CRC32']);
    expect(mock.commandCalls(CompleteMultipartUploadCommand)[0]?.args[0].input.MultipartUpload?.Parts).toEqual(
      [1, 2, 3].map((PartNumber) => ({
        PartNumber,
        ETag: `etag ${PartNumber}`,
        ChecksumCRC32: `crc ${PartNumber}`,
      })),
    );
  });

  it("is aborted when its source fails, and throws the source's error even if the abort fails", async () => {
    mock.on(AbortMultipartUploadCommand).rejects(new Error('access denied'));
    await expect(upload(megabytes(21, new Error('the source changed')))).rejects.toThrow('the source changed');
    expect(mock.commandCalls(AbortMultipartUploadCommand)[0]?.args[0].input.UploadId).toBe('upload');
    expect(mock.commandCalls(CompleteMultipartUploadCommand)).toEqual([]);
  });
});
