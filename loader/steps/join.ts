import type { Problem } from '../bag/problem-report.ts';
import { extractName } from '../dataset/load.ts';
import { ObjectsOfNums, writeAddressRow } from '../register/join-records.ts';
import { nameLength, numFields, occurrence } from '../register/record.ts';
import type { RowsByNumber } from '../register/rows.ts';
import { segmentOf } from '../register/stored-form.ts';
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

/** The first byte of a key without a postcode. */
const separator = 0x23;
const zero = 0x30;

/**
 * Sends the addresses of nummeraanduidingen to the segments of their postcodes, with their objects.
 */
function addressesTo(rows: RowsByNumber, objects: ObjectsOfNums | null, file: string): Sending {
  const problems: Problem[] = [];
  const reach = new Set<string>();
  const later: string[] = [];
  const keyAt = (bytes: Buffer, at: number) => occurrence.said(bytes, at) + numFields.key;
  const idAt = (bytes: Buffer, start: number) =>
    bytes.toString('latin1', start + 1, start + nameLength);
  return {
    reach,
    current(records, found) {
      const { bytes } = records;
      const key = keyAt(bytes, found.at);
      const ofNum = objects?.take(idAt(bytes, found.start)) ?? '';
      if (bytes[key] === separator) {
        problems.push({ kind: 'no_postcode', file, identificatie: idAt(bytes, found.start) });
        return;
      }
      const segment = 10 * ((bytes[key] as number) - zero) + (bytes[key + 1] as number) - zero;
      writeAddressRow(rows.of(segment), records, found, ofNum);
    },
    later({ bytes }, start, at) {
      const key = keyAt(bytes, at);
      if (bytes[key] !== separator) reach.add(segmentOf(bytes.toString('latin1', key, key + 2)));
      if (objects) later.push(idAt(bytes, start));
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
