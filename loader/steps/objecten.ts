import { bucketOf, writeObjectRows } from '../register/record.ts';
import { type JoinInput, joinBucket, joinInput } from '../storage/stored-register.ts';
import type { BucketItem } from '../storage/work.ts';
import { lambdaOfItems } from './lambda-step.ts';
import type { StepOfItems } from './step.ts';

const kinds = 'objecten';

/**
 * Joins the adresseerbare objecten, and sends what counts to the nummeraanduidingen that they name.
 */
export const step: StepOfItems<BucketItem, unknown, JoinInput> = {
  share: (storage, load) => joinInput(storage, load, kinds),
  async each({ storage }, _, { bucket }, shared) {
    await joinBucket(storage, shared, kinds, bucket, (rows) => ({
      current: (found, occurrence) =>
        writeObjectRows(found, occurrence, (num) =>
          rows.of(bucketOf(found.bytes, num, shared.buckets)),
        ),
    }));
    return { bucket };
  },
};

export const handler = /* @__PURE__ */ lambdaOfItems('objecten', step);
