import * as z from 'zod/mini';
import { addressRequestSchema } from './address-parameters.ts';

export const placeSchema = z.object({ straat: z.string(), woonplaats: z.string() });

/** A street and the place it lies in, as the register writes them. */
export type Place = z.infer<typeof placeSchema>;

const noCandidates = z.array(placeSchema).check(z.maxLength(0));

export const foundSchema = z.object({
  status: z.literal('ok'),
  request: addressRequestSchema,
  address: placeSchema,
  candidates: noCandidates,
});

export const notFoundSchema = z.object({
  status: z.literal('not_found'),
  request: addressRequestSchema,
  address: z.null(),
  candidates: noCandidates,
});

export const ambiguousSchema = z.object({
  status: z.literal('ambiguous'),
  request: addressRequestSchema,
  address: z.null(),
  candidates: z.array(placeSchema).check(z.minLength(2)),
});

export const lookupAnswerSchema = z.discriminatedUnion('status', [foundSchema, notFoundSchema, ambiguousSchema]);

/** The answer to a lookup: one of three outcomes, told apart by `status`. */
export type LookupAnswer = z.infer<typeof lookupAnswerSchema>;
