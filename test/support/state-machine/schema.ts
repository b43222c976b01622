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
const wait = z.strictObject({
  Type: z.literal('Wait'),
  ...common,
  ...onward,
  Seconds: integer(0, 99_999_999),
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

/** An interface, so that a state may hold states. */
type States = {
  [name: string]: State;
};
const states: z.ZodType<States> = z.lazy(() => z.record(z.string().min(1).max(80), state));
const branchFields = { Comment: z.string().optional(), StartAt: z.string(), States: states };
const branch = z.strictObject(branchFields);
/** A Distributed Map as this project has them: every field is needed, and no failed item is tolerated. */
const map = z.strictObject({
  Type: z.literal('Map'),
  ...common,
  ...onward,
  ...mayFail,
  ItemReader: z.strictObject({
    Resource: z.literal('arn:aws:states:::s3:getObject'),
    Arguments: z.strictObject({ Bucket: json, Key: json }),
    ReaderConfig: z.strictObject({ InputType: z.literal('JSON') }),
  }),
  ItemBatcher: z.strictObject({ MaxItemsPerBatch: integer(1, 100_000_000), BatchInput: json }),
  ItemProcessor: z.strictObject({
    ...branchFields,
    ProcessorConfig: z.strictObject({ Mode: z.literal('DISTRIBUTED'), ExecutionType: z.literal('STANDARD') }),
  }),
  MaxConcurrency: integer(0, 10_000),
  ResultWriter: z.strictObject({
    Resource: z.literal('arn:aws:states:::s3:putObject'),
    Arguments: z.strictObject({ Bucket: json, Prefix: json }),
  }),
  Label: z
    .string()
    .max(40)
    .regex(/^[\w.-]+$/, 'has a character that a label may not have'),
});
const state = z.discriminatedUnion('Type', [task, pass, wait, choice, succeed, fail, map]);

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
export type MapState = z.infer<typeof map>;
export type Retrier = z.infer<typeof retrier>;
