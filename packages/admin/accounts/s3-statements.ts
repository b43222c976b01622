import { GetObjectCommand, ListObjectsV2Command, PutObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import type { StatementStore } from './monthly-statements.ts';

/** Statements in the bucket of a deployment, which keeps every version, or locks each object, as configured. */
export function s3Statements(client: S3Client, bucket: string): StatementStore {
  const read: StatementStore['read'] = async (key) => {
    try {
      const { Body } = await client.send(new GetObjectCommand({ Bucket: bucket, Key: key }));
      return (await Body?.transformToByteArray()) ?? null;
    } catch (error) {
      if (['NoSuchKey', 'NotFound'].includes((error as Error).name)) return null;
      throw error;
    }
  };
  return {
    read,
    async create(key, bytes) {
      // S3 checks the condition; some servers that stand in for it don't.
      if (await read(key)) return false;
      try {
        await client.send(new PutObjectCommand({ Bucket: bucket, Key: key, Body: bytes, IfNoneMatch: '*' }));
        return true;
      } catch (error) {
        if (['PreconditionFailed', 'ConditionalRequestConflict'].includes((error as Error).name)) return false;
        throw error;
      }
    },
    async list(prefix) {
      const keys: string[] = [];
      let ContinuationToken: string | undefined;
      do {
        const page = await client.send(
          // The files of a month are below its name.
          new ListObjectsV2Command({ Bucket: bucket, Prefix: prefix, Delimiter: '/', ContinuationToken }),
        );
        keys.push(...(page.Contents ?? []).flatMap(({ Key }) => Key ?? []));
        ContinuationToken = page.NextContinuationToken;
      } while (ContinuationToken);
      return keys;
    },
  };
}
