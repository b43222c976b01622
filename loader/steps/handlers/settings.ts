import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import * as z from 'zod';
import { requireEnvironment } from '../../../lambdas/shared/settings.ts';
import { environment } from '../../../lambdas/shared/tables.ts';
import { type Thresholds, usualThresholds } from '../../dataset/guard.ts';
import { loaderEnvironment } from '../../names.ts';
import type { AddressTable } from '../../storage/address-table.ts';
import type { BatchWriterOptions } from '../../storage/batch-writer.ts';
import { dynamoDbAddressTable } from '../../storage/dynamodb-address-table.ts';
import { s3Client } from '../../storage/s3-client.ts';
import { s3Storage } from '../../storage/s3-storage.ts';
import type { Storage } from '../../storage/storage.ts';

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
