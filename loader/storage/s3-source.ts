import { GetObjectCommand, HeadObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import type { SourceVersion } from '../dataset/source-version.ts';
import { readS3Range } from './s3-range.ts';
import { type Source, SourceError } from './source.ts';

/** An extract in a bucket, `s3://bucket/key`; `null` when it is still `known`. @throws SourceError */
export async function s3Source(client: S3Client, location: string, known?: SourceVersion): Promise<Source | null> {
  const place = placeOf(location);
  const head = await client.send(new HeadObjectCommand(place)).catch((error: Error) => {
    const why = `${location} can't be read (${error.name}). Check the address and the permission to read it.`;
    throw new SourceError(why, { cause: error });
  });
  const size = head.ContentLength ?? 0;
  const version: SourceVersion = { location, size, etag: head.ETag ?? null, lastModified: null };
  if (known?.location === location && known.etag !== null && known.etag === version.etag) return null;
  const read = (position: number, length: number) =>
    readS3Range(client, { ...place, IfMatch: head.ETag }, position, length);
  return {
    version,
    isRemote: true,
    access: { size, read },
    async *stream() {
      const { Body } = await client.send(new GetObjectCommand({ ...place, IfMatch: head.ETag }));
      if (Body) yield* Body as unknown as AsyncIterable<Uint8Array>;
    },
    close: async () => undefined,
  };
}

/** As the AWS command line has it: what follows the bucket is the key to the letter, and no part of it an escape. */
function placeOf(location: string): { Bucket: string; Key: string } {
  const [, Bucket, Key] = /^s3:\/\/([^/]+)\/(.+)$/is.exec(location) ?? [];
  if (!Bucket || !Key) throw new SourceError(`${location} does not name an object; write s3://BUCKET/KEY.`);
  return { Bucket, Key };
}
