import * as z from 'zod/mini';

const limit = z.optional(z.nullable(z.int().check(z.gte(0))));

/** One member for each configured window. `null` is unlimited, 0 admits nothing. */
export const limitsSchema = z.object({ minute: limit, hour: limit, day: limit, month: limit });

export const validationAnswerSchema = z.object({
  valid: z.literal(true),
  key_label: z.string(),
  plan_code: z.string(),
  limits: limitsSchema,
});

/** The answer to a key that works. */
export type ValidationAnswer = z.infer<typeof validationAnswerSchema>;
