import * as z from 'zod';
import type { Part } from '../dataset/load.ts';

/** The load that the step works on. */
const ofLoad = z.object({ load: z.string() });

/** The owner of the lock that the step works under: the ARN of the execution. */
const ofOwner = z.object({ owner: z.string() });

/** The input from a Distributed Map with an ItemBatcher: the values shared by all batches, and this batch's items. */
function batchOf<T, C>(item: z.ZodType<T>, common: z.ZodType<C>): z.ZodType<{ Items: T[]; BatchInput: C }> {
  return z.object({ Items: z.array(item), BatchInput: common });
}

/** An item of `parts.json`. */
const partItem: z.ZodType<Part> = z.object({
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

const ofLoadAndOwner = z.object({ ...ofLoad.shape, ...ofOwner.shape });

/** The event of each step of the state machine. */
const stepInputs = {
  discover: ofOwner.extend({
    /** An extract to load instead of the configured one. */
    source: z.string().optional(),
    /** A date or a load to roll back to, instead of loading an extract. */
    rollback: z.string().optional(),
    /** Lists, folders or zips of mutations to apply, instead of the configured one. */
    mutations: z.array(z.string()).optional(),
    again: z.boolean().optional(),
    planOnly: z.boolean().optional(),
    /** Without a source or a rollback: the load to continue from the guard on. */
    approve: z.string().optional(),
    /** A refused load whose contents are not to be loaded again, instead of loading anything. */
    reject: z.string().optional(),
  }),
  stage: ofLoad,
  reference: ofLoad,
  extract: batchOf(partItem, ofLoad),
  collect: ofLoad,
  mutate: ofLoad,
  merge: batchOf(z.object({ segment: z.string() }), ofLoad),
  guard: ofLoadAndOwner.extend({
    planOnly: z.boolean().optional(),
    /** The id of a load that may continue despite its objections. */
    approve: z.string().optional(),
  }),
  apply: batchOf(z.object({ changes: z.string(), writes: z.number() }), ofLoadAndOwner),
  publish: ofLoadAndOwner,
  release: ofOwner,
} as const;

export type StepName = keyof typeof stepInputs;
export type StepInput<Name extends StepName> = z.infer<(typeof stepInputs)[Name]>;

/** The validated event of a step. @throws ZodError */
export function parseInput<Name extends StepName>(name: Name, event: unknown): StepInput<Name> {
  return stepInputs[name].parse(event) as StepInput<Name>;
}
