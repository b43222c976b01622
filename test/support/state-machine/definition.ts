import { z } from 'zod';
import { loaderErrors } from '../../../loader/names.ts';

/**
 * The part of Amazon States Language, with JSONata, that our state machine uses. Every object is
 * strict: a field, a state or an error that isn't here is refused, so that nothing of a definition
 * is silently left out of a run.
 */
const json = z.json();
const assign = z.record(z.string(), json);
const condition = z.string().regex(/^\{%[\s\S]+%\}$/);

const errors: readonly string[] = [
  ...Object.values(loaderErrors),
  'States.TaskFailed',
  'States.ItemReaderFailed',
  'States.ResultWriterFailed',
  'Lambda.ServiceException',
  'Lambda.AWSLambdaException',
  'Lambda.SdkClientException',
  'Lambda.ClientExecutionTimeoutException',
  'Lambda.TooManyRequestsException',
];
const retriedErrors = z.string().refine((name) => errors.includes(name), 'is the name of no error');
const retrier = z.strictObject({
  ErrorEquals: z.array(retriedErrors).min(1),
  IntervalSeconds: z.int().min(1),
  MaxAttempts: z.int().min(0),
  BackoffRate: z.number().min(1),
  MaxDelaySeconds: z.int().default(Number.MAX_SAFE_INTEGER),
  JitterStrategy: z.literal('FULL').optional(),
});
const leaving = { Assign: assign.optional(), Output: json.optional() };
const catcher = z.strictObject({
  ErrorEquals: z.array(z.union([retriedErrors, z.literal('States.ALL')])).min(1),
  Next: z.string(),
  ...leaving,
});
const onward = { Next: z.string().optional(), End: z.literal(true).optional() };
const common = {
  QueryLanguage: z.literal('JSONata').optional(),
  Comment: z.string().optional(),
  ...leaving,
};
const mayFail = { Retry: z.array(retrier).default([]), Catch: z.array(catcher).default([]) };

const task = z.strictObject({
  Type: z.literal('Task'),
  ...common,
  ...onward,
  ...mayFail,
  Resource: z.string(),
  Arguments: json,
  TimeoutSeconds: z.int().min(1).optional(),
});
const pass = z.strictObject({ Type: z.literal('Pass'), ...common, ...onward });
const wait = z.strictObject({ Type: z.literal('Wait'), ...common, ...onward, Seconds: z.int() });
const choice = z.strictObject({
  Type: z.literal('Choice'),
  ...common,
  Choices: z.array(z.strictObject({ Condition: condition, Next: z.string(), ...leaving })).min(1),
  Default: z.string(),
});
const succeed = z.strictObject({ Type: z.literal('Succeed'), ...common });
const fail = z.strictObject({
  Type: z.literal('Fail'),
  ...common,
  Error: z.string(),
  Cause: z.string(),
});

/** A type of its own, as a state may hold states. */
type States = { [name: string]: State };
const branchFields = {
  StartAt: z.string(),
  States: z.lazy((): z.ZodType<States> => z.record(z.string(), state)),
};
/** A Distributed Map as this project has them: no failed item is tolerated. */
const map = z.strictObject({
  Type: z.literal('Map'),
  ...common,
  ...onward,
  ...mayFail,
  Label: z.string().max(40),
  ItemReader: z.strictObject({
    Resource: z.literal('arn:aws:states:::s3:getObject'),
    Arguments: z.strictObject({ Bucket: json, Key: json }),
    ReaderConfig: z.strictObject({ InputType: z.literal('JSON') }),
  }),
  ItemBatcher: z.strictObject({ MaxItemsPerBatch: z.int(), BatchInput: json }),
  ItemProcessor: z.strictObject({
    ...branchFields,
    ProcessorConfig: z.strictObject({
      Mode: z.literal('DISTRIBUTED'),
      ExecutionType: z.literal('STANDARD'),
    }),
  }),
  MaxConcurrency: condition,
  ResultWriter: z.strictObject({
    Resource: z.literal('arn:aws:states:::s3:putObject'),
    Arguments: z.strictObject({ Bucket: json, Prefix: json }),
  }),
});
const state = z.discriminatedUnion('Type', [task, pass, wait, choice, succeed, fail, map]);

/** A whole definition. */
export const machineSchema = z.strictObject({
  ...branchFields,
  QueryLanguage: z.literal('JSONata'),
  Comment: z.string().optional(),
  TimeoutSeconds: z.int().min(1),
});

export type Branch = { StartAt: string; States: States };
export type Machine = z.infer<typeof machineSchema>;
export type State = z.infer<typeof state>;
export type Task = z.infer<typeof task>;
export type MapState = z.infer<typeof map>;
