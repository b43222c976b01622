import * as z from 'zod';
import type { Part } from '../reference.ts';

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
