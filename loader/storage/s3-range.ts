import { GetObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import { SourceChangedError } from './source.ts';

/**
 * Exactly `length` bytes of an S3 object from `position`. The client retries what passes.
 * @throws SourceChangedError when `IfMatch` no longer does
 */
export async function readS3Range(
  client: S3Client,
  place: { Bucket: string; Key: string; IfMatch: string | undefined },
  position: number,
  length: number,
): Promise<Buffer> {
  if (length === 0) return Buffer.alloc(0);
  try {
    const range = `bytes=${position}-${position + length - 1}`;
    const { Body } = await client.send(new GetObjectCommand({ ...place, Range: range }));
    const bytes = Buffer.from((await Body?.transformToByteArray()) ?? []);
    if (bytes.length !== length) throw new SourceChangedError(`s3://${place.Bucket}/${place.Key}`);
    return bytes;
  } catch (error) {
    if ((error as Error).name === 'PreconditionFailed') {
      throw new SourceChangedError(`s3://${place.Bucket}/${place.Key}`, { cause: error });
    }
    throw error;
  }
}
