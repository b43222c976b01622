import * as z from 'zod';

/**
 * The part of Amazon States Language (with JSONata) that is interpreted. Every object is strict: a field that is not
 * here is refused. Source: states-language.net and the Step Functions developer guide.
 */
const expression = z.string().regex(/^\{%[\s\S]+%\}$/, 'must be a number or a JSONata expression');
const integer = (least: number, most: number) => z.union([z.int().min(least).max(most), expression]);
const json = z.json();
const assign = z.record(z.string().regex(/^[\p{L}_][\p{L}\p{N}_]{0,79}$/u, 'is no name of a variable'), json);

const longestDelay = 31_622_400;
const retrier = z.strictObject({
  Comment: z.string().optional(),
  ErrorEquals: z.array(z.string()).min(1),
  IntervalSeconds: z.int().min(1).max(99_999_999).default(1),
  MaxAttempts: z.int().min(0).max(99_999_999).default(3),
  BackoffRate: z.number().min(1).default(2),
  MaxDelaySeconds: z.int().min(1).max(longestDelay).optional(),
  JitterStrategy: z.enum(['FULL', 'NONE']).default('NONE'),
});
const catcher = z.strictObject({
  Comment: z.string().optional(),
  ErrorEquals: z.array(z.string()).min(1),
  Next: z.string(),
  Assign: assign.optional(),
  Output: json.optional(),
});

const common = {
  Comment: z.string().optional(),
  QueryLanguage: z.literal('JSONata').optional(),
  Assign: assign.optional(),
  Output: json.optional(),
};
const onward = { Next: z.string().optional(), End: z.literal(true).optional() };
const mayFail = { Retry: z.array(retrier).default([]), Catch: z.array(catcher).default([]) };
const { Assign: _, ...withoutAssign } = common;

const task = z.strictObject({
  Type: z.literal('Task'),
  ...common,
  ...onward,
  ...mayFail,
  Resource: z.string(),
  Arguments: json,
  TimeoutSeconds: integer(1, 99_999_999).optional(),
});
const pass = z.strictObject({ Type: z.literal('Pass'), ...common, ...onward });
const wait = z
  .strictObject({
    Type: z.literal('Wait'),
    ...common,
    ...onward,
    Seconds: integer(0, 99_999_999).optional(),
    Timestamp: z.string().optional(),
  })
  .refine(({ Seconds, Timestamp }) => (Seconds === undefined) !== (Timestamp === undefined), {
    error: 'needs either Seconds or Timestamp',
  });
const choice = z.strictObject({
  Type: z.literal('Choice'),
  ...common,
  Choices: z
    .array(
      z.strictObject({
        Comment: z.string().optional(),
        Condition: z.union([z.boolean(), expression]),
        Next: z.string(),
        Assign: assign.optional(),
        Output: json.optional(),
      }),
    )
    .min(1),
  Default: z.string().optional(),
});
const succeed = z.strictObject({ Type: z.literal('Succeed'), ...withoutAssign });
const fail = z.strictObject({
  Type: z.literal('Fail'),
  Comment: z.string().optional(),
  QueryLanguage: z.literal('JSONata').optional(),
  Error: z.string().optional(),
  Cause: z.string().optional(),
});

const bucketed = z.strictObject({ Bucket: json, Key: json.optional(), Prefix: json.optional() });
const itemReader = z.strictObject({
  Resource: z.enum(['arn:aws:states:::s3:getObject', 'arn:aws:states:::s3:listObjectsV2']),
  Arguments: bucketed,
  ReaderConfig: z
    .strictObject({ InputType: z.enum(['JSON', 'JSONL']).optional(), MaxItems: integer(1, 100_000_000).optional() })
    .default({}),
});
const itemBatcher = z.strictObject({
  MaxItemsPerBatch: integer(1, 100_000_000).optional(),
  MaxInputBytesPerBatch: integer(1, 262_144).optional(),
  BatchInput: json.optional(),
});
const resultWriter = z.strictObject({
  Resource: z.literal('arn:aws:states:::s3:putObject').optional(),
  Arguments: bucketed.optional(),
  WriterConfig: z
    .strictObject({
      Transformation: z.enum(['NONE', 'COMPACT', 'FLATTEN']).default('NONE'),
      OutputType: z.enum(['JSON', 'JSONL']).default('JSON'),
    })
    .optional(),
});

/** An interface, so that a state may hold states. */
type States = {
  [name: string]: State;
};
const states: z.ZodType<States> = z.lazy(() => z.record(z.string().min(1).max(80), state));
const branchFields = { Comment: z.string().optional(), StartAt: z.string(), States: states };
const branch = z.strictObject(branchFields);
const parallel = z.strictObject({
  Type: z.literal('Parallel'),
  ...common,
  ...onward,
  ...mayFail,
  Arguments: json.optional(),
  Branches: z.array(branch).min(1),
});
const map = z.strictObject({
  Type: z.literal('Map'),
  ...common,
  ...onward,
  ...mayFail,
  Items: z.union([expression, z.array(json)]).optional(),
  ItemReader: itemReader.optional(),
  ItemSelector: json.optional(),
  ItemBatcher: itemBatcher.optional(),
  ItemProcessor: z.strictObject({
    ...branchFields,
    ProcessorConfig: z
      .discriminatedUnion('Mode', [
        z.strictObject({ Mode: z.literal('INLINE') }),
        z.strictObject({ Mode: z.literal('DISTRIBUTED'), ExecutionType: z.enum(['STANDARD', 'EXPRESS']) }),
      ])
      .default({ Mode: 'INLINE' }),
  }),
  MaxConcurrency: integer(0, 10_000).default(0),
  ToleratedFailureCount: integer(0, 100_000_000).optional(),
  ToleratedFailurePercentage: integer(0, 100).optional(),
  ResultWriter: resultWriter.optional(),
  Label: z
    .string()
    .max(40)
    .regex(/^[\w.-]+$/, 'has a character that a label may not have')
    .optional(),
});
const state = z.discriminatedUnion('Type', [task, pass, wait, choice, succeed, fail, parallel, map]);

/** A whole definition, with the defaults of the service filled in. */
export const machineSchema = z.strictObject({
  ...branchFields,
  QueryLanguage: z.literal('JSONata'),
  TimeoutSeconds: z.int().min(1).max(99_999_999).optional(),
  Version: z.literal('1.0').optional(),
});

export type Machine = z.infer<typeof machineSchema>;
export type Branch = z.infer<typeof branch>;
export type State = z.infer<typeof state>;
export type Task = z.infer<typeof task>;
export type Choice = z.infer<typeof choice>;
export type Wait = z.infer<typeof wait>;
export type Parallel = z.infer<typeof parallel>;
export type MapState = z.infer<typeof map>;
export type ItemReader = z.infer<typeof itemReader>;
export type ItemBatcher = z.infer<typeof itemBatcher>;
export type ResultWriter = z.infer<typeof resultWriter>;
export type Retrier = z.infer<typeof retrier>;
