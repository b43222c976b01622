import { GetObjectCommand, paginateListObjectsV2, type S3Client } from '@aws-sdk/client-s3';
import { StateError } from './errors.ts';
import { evaluateInteger, evaluateText, type Names } from './evaluate.ts';
import type { Json } from './json.ts';
import type { ItemReader } from './schema.ts';

const mostItems = 100_000_000;

/** The items of a Distributed Map, and where they are from as `$states.context.Map.Item.Source` has it. */
export type ReadItems = { items: Json[]; source: string };

/**
 * Reads the items from S3: a JSON array, JSON lines or a listing.
 * @throws StateError States.ItemReaderFailed
 */
export async function readItems(reader: ItemReader, s3: S3Client, names: Names): Promise<ReadItems> {
  const { Arguments, ReaderConfig, Resource } = reader;
  const Bucket = await evaluateText(Arguments.Bucket, names, 'ItemReader/Arguments/Bucket');
  const most = await evaluateInteger(ReaderConfig.MaxItems ?? mostItems, names, 'ItemReader/MaxItems', [1, mostItems]);
  try {
    if (Resource.endsWith(':listObjectsV2')) {
      const Prefix = await evaluateText(Arguments.Prefix ?? '', names, 'ItemReader/Arguments/Prefix');
      return { items: (await list(s3, Bucket, Prefix)).slice(0, most), source: `S3://${Bucket}` };
    }
    const Key = await evaluateText(Arguments.Key ?? '', names, 'ItemReader/Arguments/Key');
    const { Body } = await s3.send(new GetObjectCommand({ Bucket, Key }));
    const text = (await Body?.transformToString()) ?? '';
    const items = ReaderConfig.InputType === 'JSONL' ? text.split('\n').filter(Boolean).map(parse) : parse(text);
    if (!Array.isArray(items)) throw new Error(`s3://${Bucket}/${Key} is no JSON array`);
    return { items: items.slice(0, most), source: `S3://${Bucket}/${Key}` };
  } catch (error) {
    if (error instanceof StateError) throw error;
    const { name, message } = error as Error;
    throw new StateError('States.ItemReaderFailed', `${name}: ${message}`);
  }
}

function parse(text: string): Json {
  return JSON.parse(text) as Json;
}

async function list(client: S3Client, Bucket: string, Prefix: string): Promise<Json[]> {
  const items: Json[] = [];
  for await (const page of paginateListObjectsV2({ client }, { Bucket, Prefix })) {
    for (const { ETag = '', Key = '', LastModified, Size = 0, StorageClass = 'STANDARD' } of page.Contents ?? []) {
      items.push({ Etag: ETag, Key, LastModified: (LastModified?.getTime() ?? 0) / 1000, Size, StorageClass });
    }
  }
  return items;
}
