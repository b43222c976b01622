import { GetObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import { StateError } from './errors.ts';
import { evaluateText, type Names } from './evaluate.ts';
import type { Json } from './json.ts';
import type { MapState } from './schema.ts';

/** Reads the items of a Distributed Map from S3: a JSON array. @throws StateError States.ItemReaderFailed */
export async function readItems({ Arguments }: MapState['ItemReader'], s3: S3Client, names: Names): Promise<Json[]> {
  const Bucket = await evaluateText(Arguments.Bucket, names, 'ItemReader/Arguments/Bucket');
  const Key = await evaluateText(Arguments.Key, names, 'ItemReader/Arguments/Key');
  try {
    const { Body } = await s3.send(new GetObjectCommand({ Bucket, Key }));
    const items = JSON.parse((await Body?.transformToString()) ?? '') as Json;
    if (!Array.isArray(items)) throw new Error(`s3://${Bucket}/${Key} is no JSON array`);
    return items;
  } catch (error) {
    const { name, message } = error as Error;
    throw new StateError('States.ItemReaderFailed', `${name}: ${message}`);
  }
}
