import { createHash, randomUUID } from 'node:crypto';
import {
  NoSuchBucket,
  NoSuchKey,
  NoSuchUpload,
  NotFound,
  S3Client,
  S3ServiceException,
} from '@aws-sdk/client-s3';

type Stored = { bytes: Buffer; etag: string; modified: Date };
type Place = { Bucket: string; Key: string };
type Put = { Body?: Uint8Array | string; IfMatch?: string; IfNoneMatch?: string };
type Parts = { Parts: { PartNumber: number; ETag: string }[] };

/** The members of each command's input that have an effect here, or none anywhere. */
const members: Readonly<Record<string, string>> = {
  GetObjectCommand: 'Bucket Key Range IfMatch',
  HeadObjectCommand: 'Bucket Key',
  PutObjectCommand: 'Bucket Key Body IfMatch IfNoneMatch',
  ListObjectsV2Command: 'Bucket Prefix ContinuationToken',
  DeleteObjectsCommand: 'Bucket Delete',
  CreateMultipartUploadCommand: 'Bucket Key ChecksumAlgorithm',
  UploadPartCommand: 'Bucket Key UploadId PartNumber Body ChecksumAlgorithm',
  CompleteMultipartUploadCommand: 'Bucket Key UploadId MultipartUpload',
  AbortMultipartUploadCommand: 'Bucket Key UploadId',
};
const $metadata = {};
const pageSize = 1000;

/**
 * Buckets in memory that answer the commands of S3 clients, which make no request of them: an S3
 * server in the same process takes a hundred times as long for each. The tests of the storage hold
 * this one and a server to the same behaviour.
 */
export class MemoryS3 {
  readonly #buckets = new Map<string, Map<string, Stored>>();
  readonly #uploads = new Map<string, Map<number, Stored>>();

  /** A client of these buckets. */
  newClient(): S3Client {
    const client = new S3Client({
      region: 'eu-west-1',
      credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
    });
    this.answer(client);
    return client;
  }

  /** From now on this client sends its commands here, past its middlewares. */
  answer(client: S3Client): void {
    client.send = async ({
      input,
      constructor: { name },
    }: {
      input: object;
      constructor: { name: string };
    }) => {
      const answer = this.#answers[name];
      const known = members[name]?.split(' ') ?? [];
      const unknown = Object.entries(input).find(
        ([member, value]) => value !== undefined && !known.includes(member),
      );
      if (!answer || unknown) {
        throw new Error(`${name} ${unknown?.[0] ?? ''} is not implemented in memory.`);
      }
      return { $metadata, ...answer(input as never) };
    };
  }

  createBucket(name: string): void {
    this.#buckets.set(name, new Map());
  }

  /** Makes a bucket that holds what this one does. */
  copyBucket(from: string, to: string): void {
    this.#buckets.set(to, new Map(this.#bucket(from)));
  }

  readonly #answers: Record<string, (input: never) => object> = {
    GetObjectCommand: ({
      Range,
      IfMatch,
      ...place
    }: Place & { Range?: string; IfMatch?: string }) => {
      const { bytes, ...stored } = this.#object(place, NoSuchKey);
      if (IfMatch !== undefined && IfMatch !== stored.etag) {
        throw refusal('PreconditionFailed', 412);
      }
      const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(Range ?? '') ?? [];
      if (Number(first) >= bytes.length) throw refusal('InvalidRange', 416);
      const range = first === undefined ? bytes : bytes.subarray(Number(first), Number(last) + 1);
      return { ...described({ bytes: range, ...stored }), Body: bodyOf(range) };
    },
    HeadObjectCommand: (place: Place) => described(this.#object(place, NotFound)),
    PutObjectCommand: ({ Bucket, Key, Body = '', IfMatch, IfNoneMatch }: Place & Put) => {
      const old = this.#bucket(Bucket).get(Key);
      if ((IfMatch !== undefined && IfMatch !== old?.etag) || (IfNoneMatch === '*' && old)) {
        throw refusal('PreconditionFailed', 412);
      }
      const stored = newObject(Buffer.from(Body as Uint8Array));
      this.#bucket(Bucket).set(Key, stored);
      return { ETag: stored.etag };
    },
    ListObjectsV2Command: (input: {
      Bucket: string;
      Prefix?: string;
      ContinuationToken?: string;
    }) => {
      const { Bucket, Prefix = '', ContinuationToken: after = '' } = input;
      const found = [...this.#bucket(Bucket)].filter(
        ([key]) => key.startsWith(Prefix) && key > after,
      );
      found.sort(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
      const page = found.slice(0, pageSize);
      return {
        Contents: page.map(([Key, { bytes, etag, modified }]) => {
          return { Key, Size: bytes.length, ETag: etag, LastModified: modified };
        }),
        ...(found.length > pageSize && { NextContinuationToken: page.at(-1)?.[0] }),
      };
    },
    DeleteObjectsCommand: ({
      Bucket,
      Delete,
    }: {
      Bucket: string;
      Delete: { Objects: { Key: string }[] };
    }) => {
      if (Delete.Objects.length > 1000) throw refusal('MalformedXML', 400);
      for (const { Key } of Delete.Objects) this.#bucket(Bucket).delete(Key);
      return {};
    },
    CreateMultipartUploadCommand: () => {
      const UploadId = randomUUID();
      this.#uploads.set(UploadId, new Map());
      return { UploadId };
    },
    UploadPartCommand: (input: { UploadId: string; PartNumber: number; Body: Uint8Array }) => {
      const part = newObject(Buffer.from(input.Body));
      this.#upload(input.UploadId).set(input.PartNumber, part);
      return { ETag: part.etag };
    },
    CompleteMultipartUploadCommand: (
      input: Place & { UploadId: string; MultipartUpload: Parts },
    ) => {
      const { Bucket, Key, UploadId, MultipartUpload } = input;
      const parts = MultipartUpload.Parts.map(({ PartNumber, ETag }) => {
        const part = this.#upload(UploadId).get(PartNumber);
        if (part?.etag !== ETag) throw refusal('InvalidPart', 400);
        return part.bytes;
      });
      const whole = newObject(Buffer.concat(parts));
      this.#bucket(Bucket).set(Key, whole);
      this.#uploads.delete(UploadId);
      return { ETag: whole.etag };
    },
    AbortMultipartUploadCommand: ({ UploadId }: { UploadId: string }) => {
      this.#uploads.delete(UploadId);
      return {};
    },
  };

  #bucket(name: string): Map<string, Stored> {
    const bucket = this.#buckets.get(name);
    if (!bucket) throw new NoSuchBucket({ $metadata, message: name });
    return bucket;
  }

  #object({ Bucket, Key }: Place, Missing: typeof NoSuchKey | typeof NotFound): Stored {
    const stored = this.#bucket(Bucket).get(Key);
    if (stored) return stored;
    // Loads look for many objects that are not there, and the long stack of a test takes longer
    // than all the rest.
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    try {
      throw new Missing({ $metadata, message: Key });
    } finally {
      Error.stackTraceLimit = stackTraceLimit;
    }
  }

  #upload(id: string): Map<number, Stored> {
    const upload = this.#uploads.get(id);
    if (!upload) throw new NoSuchUpload({ $metadata, message: id });
    return upload;
  }
}

function newObject(bytes: Buffer): Stored {
  return {
    bytes,
    etag: `"${createHash('md5').update(bytes).digest('hex')}"`,
    modified: new Date(),
  };
}

function described({ bytes, etag, modified }: Stored) {
  return { ContentLength: bytes.length, ETag: etag, LastModified: modified };
}

/** The part of the SDK's stream that the loader reads. Each reader gets bytes of its own. */
function bodyOf(bytes: Buffer) {
  return {
    transformToByteArray: async () => Buffer.from(bytes),
    transformToString: async () => bytes.toString(),
    async *[Symbol.asyncIterator]() {
      yield Buffer.from(bytes);
    },
  };
}

function refusal(name: string, httpStatusCode: number): Error {
  return new S3ServiceException({
    name,
    $fault: 'client',
    $metadata: { httpStatusCode },
    message: name,
  });
}
