import {
  AbortMultipartUploadCommand,
  type CompletedPart,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  DeleteObjectsCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  NoSuchKey,
  NotFound,
  PutObjectCommand,
  type S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { readS3Range } from './s3-range.ts';
import type { Storage, StoredObject } from './storage.ts';

/** S3 wants at least 5 MB a part and at most 10,000 parts: 10 MB takes 100 GB, in 20 MB of memory. */
const partBytes = 10 * 1024 * 1024;

/** A storage in an S3 bucket, below `prefix` (`''` or ending in `/`). */
export function s3Storage(client: S3Client, bucket: string, prefix = ''): Storage {
  const place = (key: string) => ({ Bucket: bucket, Key: prefix + key });

  return {
    async get(key) {
      try {
        const { Body } = await client.send(new GetObjectCommand(place(key)));
        return Buffer.from((await Body?.transformToByteArray()) ?? []);
      } catch (error) {
        return nullWhenMissing(error);
      }
    },
    async open(key) {
      try {
        const { ContentLength, ETag } = await client.send(new HeadObjectCommand(place(key)));
        return {
          size: ContentLength ?? 0,
          read: (position, length) => readS3Range(client, { ...place(key), IfMatch: ETag }, position, length),
        };
      } catch (error) {
        return nullWhenMissing(error);
      }
    },
    async put(key, bytes) {
      await client.send(new PutObjectCommand({ ...place(key), Body: bytes }));
    },
    putStream: (key, chunks) => upload(client, place(key), chunks),
    async list(start) {
      const objects: StoredObject[] = [];
      let ContinuationToken: string | undefined;
      do {
        const page = await client.send(
          new ListObjectsV2Command({ Bucket: bucket, Prefix: prefix + start, ContinuationToken }),
        );
        for (const { Key = '', Size = 0 } of page.Contents ?? []) {
          objects.push({ key: Key.slice(prefix.length), size: Size });
        }
        ContinuationToken = page.NextContinuationToken;
      } while (ContinuationToken);
      return objects;
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

/** One part at a time: the network is the limit, and memory stays two parts. */
async function upload(client: S3Client, place: ObjectPlace, chunks: AsyncIterable<Uint8Array>): Promise<void> {
  const parts = inParts(chunks);
  const first = await parts.next();
  const second = await parts.next();
  if (second.done) {
    await client.send(new PutObjectCommand({ ...place, Body: first.value ?? Buffer.alloc(0) }));
    return;
  }
  const { UploadId } = await client.send(new CreateMultipartUploadCommand(place));
  try {
    const Parts: CompletedPart[] = [];
    const uploadPart = async (Body: Buffer) => {
      const PartNumber = Parts.length + 1;
      const { ETag } = await client.send(new UploadPartCommand({ ...place, UploadId, PartNumber, Body }));
      Parts.push({ ETag, PartNumber });
    };
    await uploadPart(first.value as Buffer);
    await uploadPart(second.value);
    for await (const part of parts) await uploadPart(part);
    await client.send(new CompleteMultipartUploadCommand({ ...place, UploadId, MultipartUpload: { Parts } }));
  } catch (error) {
    // What can't be aborted either is left to the bucket's rule for incomplete uploads.
    await client.send(new AbortMultipartUploadCommand({ ...place, UploadId })).catch(() => undefined);
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
  if (error instanceof NoSuchKey || error instanceof NotFound) return null;
  throw error;
}
