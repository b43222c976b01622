import { PutObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import { StateError } from './errors.ts';
import { evaluateText, type Names } from './evaluate.ts';
import type { Json, JsonObject } from './json.ts';
import type { ResultWriter } from './schema.ts';

/** How one child execution ended; one that failed has no output. */
export type ChildResult = {
  status: 'SUCCEEDED' | 'FAILED' | 'ABORTED' | 'PENDING';
  output: Json;
  /** The execution as the service describes it. */
  described: JsonObject;
};

/** What the Map hands on of its children when it writes nothing: their outputs, and failures as they were. */
export function resultsOf(results: readonly ChildResult[], config: ResultWriter['WriterConfig']): Json[] {
  const { Transformation = 'COMPACT' } = config ?? {};
  return results.flatMap(({ status, output, described }): Json[] => {
    if (Transformation === 'NONE' || status !== 'SUCCEEDED') return [described];
    return Transformation === 'FLATTEN' && Array.isArray(output) ? output : [output];
  });
}

/**
 * Writes the results by status, and a manifest that names the files; gives what the Map hands on instead of results.
 * @throws StateError States.ResultWriterFailed
 */
export async function writeResults(
  results: readonly ChildResult[],
  writer: ResultWriter,
  s3: S3Client,
  names: Names,
  { mapRunArn, id }: { mapRunArn: string; id: string },
): Promise<Json> {
  const { Bucket: bucket = null, Prefix: prefix = '' } = writer.Arguments ?? {};
  const Bucket = await evaluateText(bucket, names, 'ResultWriter/Arguments/Bucket');
  const folder = `${await evaluateText(prefix, names, 'ResultWriter/Arguments/Prefix')}/${id}`;
  const { OutputType = 'JSON' } = writer.WriterConfig ?? {};
  const config = writer.WriterConfig ?? { Transformation: 'NONE', OutputType };
  const files: Record<'SUCCEEDED' | 'FAILED' | 'PENDING', Json[]> = { SUCCEEDED: [], FAILED: [], PENDING: [] };
  try {
    for (const status of ['SUCCEEDED', 'FAILED', 'PENDING'] as const) {
      const some = results.filter(
        (result) => result.status === status || (status === 'FAILED' && result.status === 'ABORTED'),
      );
      if (some.length === 0) continue;
      const values = resultsOf(some, config);
      const Body =
        OutputType === 'JSON' ? JSON.stringify(values) : values.map((value) => JSON.stringify(value)).join('\n');
      // The name ends so for JSON lines too.
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
