import { randomUUID } from 'node:crypto';
import type { S3Client } from '@aws-sdk/client-s3';
import { parseMachine } from './check-definition.ts';
import { within } from './deadline.ts';
import { StateError, StoppedError } from './errors.ts';
import { type Frame, type Integration, limited, type Run, type RunEvent } from './frame.ts';
import { asJson, type Json } from './json.ts';
import { runBranch } from './run-branch.ts';
import type { Machine } from './schema.ts';

export type RunOptions = {
  input?: unknown;
  /** By resource, `arn:aws:states:::lambda:invoke`. */
  integrations?: Readonly<Record<string, Integration>>;
  /** For what Distributed Maps read and write. */
  s3?: S3Client;
  /** The error names that Retry and Catch may use beside those of the service: what the functions throw. */
  functionErrors?: readonly string[];
  name?: string;
  /** How long a second of TimeoutSeconds is. Nothing else takes time: waits and delays are only told. */
  millisecondsPerSecond?: number;
};

/** How an execution ended, and what happened in it. */
export type Execution = { arn: string; events: RunEvent[] } & (
  | { status: 'SUCCEEDED'; output: Json }
  | { status: 'FAILED' | 'TIMED_OUT'; error: string; cause: string }
  | { status: 'ABORTED' }
);

/**
 * The parsed definition, which `runMachine` may run any number of times with these options.
 * @throws NotInterpretedError
 */
export function machineOf(
  definition: unknown,
  { integrations = {}, functionErrors = [] }: Pick<RunOptions, 'integrations' | 'functionErrors'>,
): Machine {
  return parseMachine(definition, { integrations, functionErrors });
}

/**
 * Runs a definition in Amazon States Language with JSONata as Step Functions does, as far as the documentation tells.
 * Decision 0116 says what is left out.
 */
export async function runMachine(machine: Machine, options: RunOptions): Promise<Execution> {
  const { integrations = {}, name = 'Machine', millisecondsPerSecond = 1000, s3 = null } = options;
  const events: RunEvent[] = [];
  const run: Run = { name, integrations, s3, events, millisecondsPerSecond, runBranch };
  const input = asJson(options.input ?? {});
  const id = randomUUID();
  const arn = `arn:aws:states:eu-west-1:123456789012:execution:${name}:${id}`;
  const stop = new AbortController();
  const frame: Frame = {
    run,
    variables: {},
    context: {
      Execution: {
        Id: arn,
        Input: input,
        Name: id,
        RoleArn: `arn:aws:iam::123456789012:role/${name}`,
        StartTime: new Date().toISOString(),
        RedriveCount: 0,
      },
      StateMachine: { Id: `arn:aws:states:eu-west-1:123456789012:stateMachine:${name}`, Name: name },
    },
    signal: stop.signal,
  };
  const timedOut = new StateError(
    'States.Timeout',
    'The execution took longer than the TimeoutSeconds of the machine.',
  );
  try {
    limited(input, 'input');
    const work = runBranch(machine, input, frame);
    const seconds = machine.TimeoutSeconds;
    const output = await (seconds ? within(work, seconds * millisecondsPerSecond, () => timedOut) : work);
    return { arn, status: 'SUCCEEDED', output, events };
  } catch (error) {
    if (error instanceof StoppedError) return { arn, status: 'ABORTED', events };
    if (!(error instanceof StateError)) throw error;
    const status = error === timedOut ? 'TIMED_OUT' : 'FAILED';
    return { arn, status, error: error.error, cause: error.reason, events };
  } finally {
    stop.abort();
  }
}
