import type { Problem } from '../bag/problem-report.ts';
import { extractName } from '../dataset/load.ts';
import { ObjectsOfNums, writeAddressRow } from '../register/join-records.ts';
import { numLayout, segmentDigits, separator, zero } from '../register/layouts.ts';
import { idIn, occurrence } from '../register/record.ts';
import type { RowsByNumber } from '../register/rows.ts';
import {
  gatherRows,
  type JoinInput,
  joinBucket,
  joinInput,
  rowsOf,
  type Sending,
  type StoredRows,
} from '../storage/stored-register.ts';
import { type BucketItem, joinedBuckets } from '../storage/work.ts';
import { lambdaOfItems } from './lambda-step.ts';
import type { StepOfItems } from './step.ts';

const kinds = 'nummeraanduidingen';

/** `objecten`: the stored rows of their objects; absent in a dataset without objects. */
type JoinedWith = JoinInput & { objecten?: StoredRows[] };

/**
 * Sends the addresses of nummeraanduidingen to the segments of their postcodes, with their objects.
 */
function addressesTo(rows: RowsByNumber, objects: ObjectsOfNums | null, file: string): Sending {
  const problems: Problem[] = [];
  const reach = new Set<string>();
  const later: string[] = [];
  const keyAt = (bytes: Buffer, at: number) => occurrence.valuesAt(bytes, at) + numLayout.length;
  /** A key without a postcode begins with its separator. */
  const hasPostcode = (bytes: Buffer, key: number) => bytes[key] !== separator;
  return {
    reach,
    current(records, found) {
      const { bytes } = records;
      const key = keyAt(bytes, found.at);
      const ofNum = objects?.take(idIn(bytes, found.start)) ?? '';
      if (!hasPostcode(bytes, key)) {
        problems.push({ kind: 'no_postcode', file, identificatie: idIn(bytes, found.start) });
        return;
      }
      const segment = 10 * ((bytes[key] as number) - zero) + (bytes[key + 1] as number) - zero;
      writeAddressRow(rows.of(segment), records, found, ofNum);
    },
    later({ bytes }, start, at) {
      const key = keyAt(bytes, at);
      if (hasPostcode(bytes, key)) {
        reach.add(bytes.toString('latin1', key, key + segmentDigits));
      }
      if (objects) later.push(idIn(bytes, start));
    },
    end() {
      for (const num of later) objects?.take(num);
      return [...problems, ...(objects?.missing(file) ?? [])];
    },
  };
}

/** Joins the nummeraanduidingen with their objects. */
export const step: StepOfItems<BucketItem, unknown, JoinedWith> = {
  async share(storage, load) {
    const input = await joinInput(storage, load, kinds);
    if (!input.load.objecten) return input;
    return {
      ...input,
      objecten: rowsOf(load, 'objecten', await joinedBuckets(storage, load, 'objecten')),
    };
  },
  async each({ storage }, _, { bucket }, { objecten, ...shared }) {
    await joinBucket(storage, shared, kinds, bucket, async (rows) => {
      const objects = objecten
        ? new ObjectsOfNums(await gatherRows(storage, objecten, bucket))
        : null;
      return addressesTo(rows, objects, extractName(shared.load));
    });
    return { bucket };
  },
};

export const handler = /* @__PURE__ */ lambdaOfItems('join', step);
