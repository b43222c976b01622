import {
  AbortMultipartUploadCommand,
  type CompletedPart,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  DeleteObjectsCommand,
  GetObjectCommand,
  type GetObjectCommandOutput,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { followingProxySwitch } from '../../core/connections.ts';
import type { SourceVersion } from '../dataset/load.ts';
import { type Source, SourceChangedError, SourceError } from './source.ts';
import { ObjectChangedError, type Storage } from './storage.ts';

let client: S3Client | undefined;

/**
 * The S3 client of this process. With a custom endpoint (an emulator) it puts bucket names into the
 * path.
 */
export function s3Client(): S3Client {
  const emulated = process.env.AWS_ENDPOINT_URL_S3 ?? process.env.AWS_ENDPOINT_URL;
  client ??= new S3Client({
    forcePathStyle: emulated !== undefined,
    maxAttempts: 8,
    requestHandler: followingProxySwitch(),
  });
  return client;
}

const bytesOf = async ({ Body }: GetObjectCommandOutput) =>
  Buffer.from((await Body?.transformToByteArray()) ?? []);

/**
 * Exactly `length` bytes of an S3 object. @throws SourceChangedError when `IfMatch` no longer
 * matches
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
    const bytes = await bytesOf(
      await client.send(new GetObjectCommand({ ...place, Range: range })),
    );
    if (bytes.length !== length) throw new SourceChangedError(`s3://${place.Bucket}/${place.Key}`);
    return bytes;
  } catch (error) {
    if ((error as Error).name === 'PreconditionFailed') {
      throw new SourceChangedError(`s3://${place.Bucket}/${place.Key}`, { cause: error });
    }
    throw error;
  }
}

/** An extract in a bucket, `s3://bucket/key`; `null` if it is still `known`. @throws SourceError */
export async function s3Source(
  client: S3Client,
  location: string,
  known?: SourceVersion,
): Promise<Source | null> {
  const place = placeOf(location);
  const head = await client.send(new HeadObjectCommand(place)).catch((error: Error) => {
    const why = `${location} can't be read (${error.name}). Check the address and the permission to read it.`;
    throw new SourceError(why, { cause: error });
  });
  const size = head.ContentLength ?? 0;
  const version: SourceVersion = { location, size, etag: head.ETag ?? null, lastModified: null };
  if (known?.location === location && known.etag !== null && known.etag === version.etag) {
    return null;
  }
  const read = (position: number, length: number) =>
    readS3Range(client, { ...place, IfMatch: head.ETag }, position, length);
  return {
    version,
    access: { size, read },
    async *stream() {
      const { Body } = await client.send(new GetObjectCommand({ ...place, IfMatch: head.ETag }));
      // In Node it is a Readable; the SDK's type covers browsers too.
      if (Body) yield* Body as unknown as AsyncIterable<Uint8Array>;
    },
    close: async () => undefined,
  };
}

/** The text after the bucket is the literal key, without escapes, as in the AWS CLI. */
function placeOf(location: string): { Bucket: string; Key: string } {
  const [, Bucket, Key] = /^s3:\/\/([^/]+)\/(.+)$/is.exec(location) ?? [];
  if (!Bucket || !Key) {
    throw new SourceError(`${location} does not name an object; write s3://BUCKET/KEY.`);
  }
  return { Bucket, Key };
}

/**
 * S3 wants at least 5 MB a part and at most 10,000 parts: 10 MB takes 100 GB, in 20 MB of memory.
 */
const partBytes = 10 * 1024 * 1024;

/** A storage in an S3 bucket, below `prefix` (`''` or ending in `/`). */
export function s3Storage(client: S3Client, bucket: string, prefix = ''): Storage {
  const place = (key: string) => ({ Bucket: bucket, Key: prefix + key });

  return {
    async get(key) {
      try {
        return await bytesOf(await client.send(new GetObjectCommand(place(key))));
      } catch (error) {
        return nullWhenMissing(error);
      }
    },
    async open(key) {
      try {
        const { ContentLength, ETag } = await client.send(new HeadObjectCommand(place(key)));
        return {
          size: ContentLength ?? 0,
          read: (position, length) =>
            readS3Range(client, { ...place(key), IfMatch: ETag }, position, length),
        };
      } catch (error) {
        return nullWhenMissing(error);
      }
    },
    async put(key, bytes, expected) {
      const condition = expected === undefined ? {} : await unchanged(client, place(key), expected);
      if (!condition) throw new ObjectChangedError(key);
      await client
        .send(new PutObjectCommand({ ...place(key), ...condition, Body: bytes }))
        .catch((error: Error) => {
          const isChanged = ['PreconditionFailed', 'ConditionalRequestConflict'].includes(
            error.name,
          );
          throw isChanged ? new ObjectChangedError(key, { cause: error }) : error;
        });
    },
    putStream: (key, chunks) => upload(client, place(key), chunks),
    async list(start) {
      const keys: string[] = [];
      let ContinuationToken: string | undefined;
      do {
        const page = await client.send(
          new ListObjectsV2Command({ Bucket: bucket, Prefix: prefix + start, ContinuationToken }),
        );
        for (const { Key = '' } of page.Contents ?? []) keys.push(Key.slice(prefix.length));
        ContinuationToken = page.NextContinuationToken;
      } while (ContinuationToken);
      return keys;
    },
    async delete(keys) {
      for (let start = 0; start < keys.length; start += 1000) {
        const Objects = keys.slice(start, start + 1000).map((key) => ({ Key: prefix + key }));
        const { Errors } = await client.send(
          new DeleteObjectsCommand({ Bucket: bucket, Delete: { Objects, Quiet: true } }),
        );
        const [first] = Errors ?? [];
        if (first) throw new Error(`S3 did not delete ${first.Key}: ${first.Message}`);
      }
    },
  };
}

type ObjectPlace = { Bucket: string; Key: string };

/**
 * The condition that makes a put replace exactly `expected`; `null` if the object has already
 * changed.
 */
async function unchanged(
  client: S3Client,
  place: ObjectPlace,
  expected: Uint8Array | null,
): Promise<{ IfMatch: string | undefined } | { IfNoneMatch: '*' } | null> {
  try {
    const found = await client.send(new GetObjectCommand(place));
    return expected !== null && (await bytesOf(found)).equals(expected)
      ? { IfMatch: found.ETag }
      : null;
  } catch (error) {
    nullWhenMissing(error);
    return expected === null ? { IfNoneMatch: '*' } : null;
  }
}

/**
 * Uploads in parts, one at a time: the network is the limit, and memory stays at two parts. S3
 * verifies the checksum of each part, and on completion that no part is missing or another one
 * (decision 0110).
 */
async function upload(
  client: S3Client,
  place: ObjectPlace,
  chunks: AsyncIterable<Uint8Array>,
): Promise<void> {
  const parts = inParts(chunks);
  const first = await parts.next();
  const second = await parts.next();
  if (second.done) {
    await client.send(new PutObjectCommand({ ...place, Body: first.value ?? Buffer.alloc(0) }));
    return;
  }
  const { UploadId } = await client.send(
    new CreateMultipartUploadCommand({ ...place, ChecksumAlgorithm: 'CRC32' }),
  );
  try {
    const Parts: CompletedPart[] = [];
    const uploadPart = async (Body: Buffer) => {
      const PartNumber = Parts.length + 1;
      const { ETag, ChecksumCRC32 } = await client.send(
        new UploadPartCommand({ ...place, UploadId, PartNumber, Body, ChecksumAlgorithm: 'CRC32' }),
      );
      Parts.push({ ETag, PartNumber, ChecksumCRC32 });
    };
    await uploadPart(first.value as Buffer);
    await uploadPart(second.value);
    for await (const part of parts) await uploadPart(part);
    await client.send(
      new CompleteMultipartUploadCommand({ ...place, UploadId, MultipartUpload: { Parts } }),
    );
  } catch (error) {
    // If that fails too, the lifecycle rule of the bucket removes the parts.
    await client
      .send(new AbortMultipartUploadCommand({ ...place, UploadId }))
      .catch(() => undefined);
    throw error;
  }
}

async function* inParts(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer, undefined> {
  let waiting: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of chunks) {
    waiting.push(chunk);
    bytes += chunk.length;
    while (bytes >= partBytes) {
      const joined = Buffer.concat(waiting);
      yield joined.subarray(0, partBytes);
      waiting = [joined.subarray(partBytes)];
      bytes -= partBytes;
    }
  }
  if (bytes > 0) yield Buffer.concat(waiting);
}

function nullWhenMissing(error: unknown): null {
  // By name: the client of a portal may be of another copy of the SDK.
  if (['NoSuchKey', 'NotFound'].includes((error as Error).name)) return null;
  throw error;
}
