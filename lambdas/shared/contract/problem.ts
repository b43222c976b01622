import * as z from 'zod/mini';

/** The members of every problem (RFC 9457). */
export const problemSchema = z.object({
  type: z.string(),
  title: z.string(),
  status: z.int(),
  detail: z.string(),
  request_id: z.string(),
});

export const inputFaultSchema = z.object({
  parameter: z.enum(['postcode', 'huisnummer', 'toevoeging']),
  code: z.enum(['missing', 'duplicate', 'invalid']),
  detail: z.string(),
});

/** One fault of the input; `code` is stable and documented. */
export type InputFault = z.infer<typeof inputFaultSchema>;

export const invalidInputSchema = z.extend(problemSchema, {
  errors: z.array(inputFaultSchema).check(z.minLength(1)),
});

export const quotaExceededSchema = z.extend(problemSchema, {
  violated_windows: z.array(z.enum(['minute', 'hour', 'day', 'month'])).check(z.minLength(1)),
});

/** The body of a refusal. */
export type ProblemBody = z.infer<typeof problemSchema> &
  Partial<z.infer<typeof invalidInputSchema> & z.infer<typeof quotaExceededSchema>>;
