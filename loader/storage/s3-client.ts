import { S3Client } from '@aws-sdk/client-s3';

let client: S3Client | undefined;

/**
 * The one S3 client of this process, set up by the usual environment. With an endpoint of its own (an emulator) bucket
 * names go into the path.
 */
export function s3Client(): S3Client {
  const emulated = process.env.AWS_ENDPOINT_URL_S3 ?? process.env.AWS_ENDPOINT_URL;
  client ??= new S3Client({ forcePathStyle: emulated !== undefined, maxAttempts: 8 });
  return client;
}
