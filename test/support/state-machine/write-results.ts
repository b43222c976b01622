import { PutObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import { StateError } from './errors.ts';
import { evaluateText, type Names } from './evaluate.ts';
import type { Json, JsonObject } from './json.ts';
import type { MapState } from './schema.ts';

/** How one child execution ended. */
export type ChildResult = {
  status: 'SUCCEEDED' | 'FAILED' | 'ABORTED' | 'PENDING';
  /** The execution as the service describes it. */
  described: JsonObject;
};

/**
 * Writes the results by status, and a manifest that names the files; gives what the Map hands on instead of results.
 * @throws StateError States.ResultWriterFailed
 */
export async function writeResults(
  results: readonly ChildResult[],
  writer: MapState['ResultWriter'],
  s3: S3Client,
  names: Names,
  { mapRunArn, id }: { mapRunArn: string; id: string },
): Promise<Json> {
  const Bucket = await evaluateText(writer.Arguments.Bucket, names, 'ResultWriter/Arguments/Bucket');
  const folder = `${await evaluateText(writer.Arguments.Prefix, names, 'ResultWriter/Arguments/Prefix')}/${id}`;
  const files: Record<'SUCCEEDED' | 'FAILED' | 'PENDING', Json[]> = { SUCCEEDED: [], FAILED: [], PENDING: [] };
  try {
    for (const status of ['SUCCEEDED', 'FAILED', 'PENDING'] as const) {
      const some = results.filter(
        (result) => result.status === status || (status === 'FAILED' && result.status === 'ABORTED'),
      );
      if (some.length === 0) continue;
      const Body = JSON.stringify(some.map(({ described }) => described));
      const Key = `${folder}/${status}_0.json`;
      await s3.send(new PutObjectCommand({ Bucket, Key, Body }));
      files[status].push({ Key, Size: Buffer.byteLength(Body) });
    }
    const manifest = { DestinationBucket: Bucket, MapRunArn: mapRunArn, ResultFiles: files };
    const Key = `${folder}/manifest.json`;
    await s3.send(new PutObjectCommand({ Bucket, Key, Body: JSON.stringify(manifest) }));
    return { MapRunArn: mapRunArn, ResultWriterDetails: { Bucket, Key } };
  } catch (error) {
    const { name, message } = error as Error;
    throw new StateError('States.ResultWriterFailed', `${name}: ${message}`);
  }
}
