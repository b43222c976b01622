/** What explains an address and repairs a table: the stored records, lines and deliveries. */

export { unpackWrites } from '../addresses/change-file.ts';
export { packSegment, unpackSegment } from '../addresses/line-segment.ts';
export { relatieFile } from '../bag/gemeente-relaties.ts';
export { readMutationDelivery } from '../bag/mutation-delivery.ts';
export type { Mutation } from '../bag/mutations.ts';
export {
  type AdresseerbaarVoorkomen,
  type AnyVoorkomen,
  dayOf,
  dayText,
  type GemeenteRelatie,
  type NumVoorkomen,
  noEind,
  type Span,
} from '../bag/voorkomen.ts';
export { numKeysOf, objectKey } from '../register/apply-mutations.ts';
export {
  isRecordKind,
  keyOfNum,
  parseRecord,
  type RegisterVoorkomen,
  recordName,
  recordsWith,
} from '../register/record.ts';
export { occurrencesIn, relatiesIn, unpackReference } from '../register/reference-file.ts';
export { nameOfNumber, unpackRecords } from '../register/rows.ts';
export { packLines, segmentOf, unpackLines } from '../register/stored-form.ts';
export { bucketOfName, recordKeys } from '../storage/stored-records.ts';
export { bufferAccess } from '../zip/random-access.ts';
