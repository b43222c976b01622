import { Logger } from '@aws-lambda-powertools/logger';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import * as z from 'zod';
import { requireEnvironment } from '../../lambdas/shared/environment.ts';
import { environment } from '../../lambdas/shared/tables.ts';
import { type Thresholds, usualThresholds } from '../dataset/guard.ts';
import { loaderEnvironment } from '../names.ts';
import type { AddressTable } from '../storage/address-table.ts';
import { type BatchWriterOptions, dynamoDbAddressTable } from '../storage/dynamodb-address-table.ts';
import { s3Client, s3Storage } from '../storage/s3.ts';
import type { Storage } from '../storage/storage.ts';
import type { Part } from './reference.ts';

/**
 * A Lambda of the state machine: checks its input, does its work, and writes one line with both. An error is thrown as
 * it is: the state machine knows it by its name.
 */
export function lambdaStep<T, R>(
  name: string,
  input: z.ZodType<T>,
  work: (input: T) => Promise<R>,
): (event: unknown) => Promise<R> {
  const logger = new Logger({ serviceName: name });
  return async (event) => {
    const parsed = input.parse(event);
    const startedAt = performance.now();
    try {
      const result = await work(parsed);
      logger.info('done', { input: parsed, result, seconds: secondsSince(startedAt) });
      return result;
    } catch (error) {
      logger.error('failed', { input: parsed, error: error as Error, seconds: secondsSince(startedAt) });
      throw error;
    }
  };
}

function secondsSince(startedAt: number): number {
  return Math.round(performance.now() - startedAt) / 1000;
}

/** The step works on this load. */
export const ofLoad = z.object({ load: z.string() });

/** The step works under the lock of this owner: the execution's name. */
export const ofOwner = z.object({ owner: z.string() });

/** What a Distributed Map with an ItemBatcher gives: what is common to all batches, and the items of this one. */
export function batchOf<T, C>(item: z.ZodType<T>, common: z.ZodType<C>): z.ZodType<{ Items: T[]; BatchInput: C }> {
  return z.object({ Items: z.array(item), BatchInput: common });
}

/** An item of `parts.json`. */
export const partItem: z.ZodType<Part> = z.object({
  part: z.string(),
  member: z.number().int(),
  files: z.array(
    z.object({
      name: z.string(),
      method: z.enum(['stored', 'deflated', 'encrypted', 'unknown']),
      compressedSize: z.number(),
      size: z.number(),
      crc32: z.number(),
      headerOffset: z.number(),
    }),
  ),
});

/** The bucket of this deployment. */
export function bucketStorage(): Storage {
  return s3Storage(s3Client(), requireEnvironment(loaderEnvironment.snapshotBucket));
}

/** The addresses table of this deployment. */
export function addressTable(options?: BatchWriterOptions): AddressTable {
  return dynamoDbAddressTable(new DynamoDBClient({}), requireEnvironment(environment.addressesTable), options);
}

/** An object of the bucket, for an ItemReader. */
export function itemsAt(key: string): { bucket: string; key: string } {
  return { bucket: requireEnvironment(loaderEnvironment.snapshotBucket), key };
}

/** A whole number from the environment, or `otherwise`. */
export function numberSetting(name: string, otherwise: number): number {
  return z.coerce
    .number()
    .int()
    .positive()
    .parse(process.env[name] ?? otherwise);
}

const share = z.number().min(0);
const thresholdsSchema = z.strictObject({
  minimumAddresses: z.number().int().min(0),
  maximumRemovedShare: share,
  maximumChangedShare: share,
  maximumAddedShare: share,
  maximumProblemShare: share,
  alwaysAllowed: z.number().int().min(0),
}) satisfies z.ZodType<Thresholds>;

/** The usual thresholds, and over them those of this deployment. */
export function thresholdSettings(): Thresholds {
  const own = thresholdsSchema.partial().parse(JSON.parse(process.env[loaderEnvironment.thresholds] ?? '{}'));
  return { ...usualThresholds, ...own } as Thresholds;
}
