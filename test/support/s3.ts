import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3';
import { startFauxqs } from 'fauxqs';

/** A real S3 protocol on a free port, with one empty bucket. */
export type TestS3 = {
  readonly endpoint: string;
  readonly client: S3Client;
  readonly bucket: string;
  stop(): Promise<void>;
};

/** Starts an S3 server in this process; `stop` in `afterAll`. */
export async function startS3(bucket = 'snapshots'): Promise<TestS3> {
  const server = await startFauxqs({ port: 0, logger: false });
  const endpoint = `http://127.0.0.1:${server.port}`;
  const client = new S3Client({
    endpoint,
    region: 'eu-west-1',
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
    forcePathStyle: true,
  });
  await client.send(new CreateBucketCommand({ Bucket: bucket }));
  return {
    endpoint,
    client,
    bucket,
    stop: async () => {
      client.destroy();
      await server.stop();
    },
  };
}
