import type { StateMachineBench } from '../loader/state-machine-bench.ts';
import type { AwsOperations } from './fake-aws.ts';

const machineArn = 'arn:aws:states:eu-west-1:123456789012:stateMachine:Load';
const executionArn = 'arn:aws:states:eu-west-1:123456789012:execution:Load';
const steps = [
  'Discover',
  'Stage',
  'Reference',
  'Extract',
  'Mutate',
  'Merge',
  'Guard',
  'Apply',
  'Publish',
];
const maps = ['Extract', 'Merge', 'Apply'];

type Event = Record<string, unknown>;
type Running = {
  events: Event[];
  status: string;
  output?: string;
  error?: string;
  cause?: string;
  done: Promise<void>;
};

/**
 * Step Functions' interface in front of the real state machine with its real handlers: what the
 * command line asks of it.
 */
export function stepFunctionsOver(loader: StateMachineBench) {
  const executions = new Map<string, Running>();
  let current: Running | undefined;
  const mapped = new Map<string, { state: string; succeeded: number }>();
  const failing = new Map<string, Error>();
  const failedItems: { error: string; cause: string }[] = [];

  for (const state of steps) {
    loader.replace(state.toLowerCase(), async (event, real) => {
      await gate.promise;
      const events = current?.events ?? [];
      const isAgain = maps.includes(state)
        ? events.some((one) => one.stateEnteredEventDetails && nameOf(one) === state)
        : events.at(-1)?.type === 'TaskFailed';
      const isNew = !isAgain;
      if (isNew) {
        events.push({ type: 'TaskStateEntered', stateEnteredEventDetails: { name: state } });
      }
      const arn = `${machineArn.replace('stateMachine', 'mapRun')}/${state}:${executions.size}`;
      if (isNew && maps.includes(state)) {
        mapped.set(arn, { state, succeeded: 0 });
        events.push({ type: 'MapRunStarted', mapRunStartedEventDetails: { mapRunArn: arn } });
      }
      try {
        const failure = failing.get(state);
        if (failure) throw failure;
        if (passing?.state === state) {
          const { error, over } = passing;
          passing = undefined;
          gate.promise = over;
          throw error;
        }
        const output = await real(event);
        const run = mapped.get(arn);
        if (run) run.succeeded++;
        else {
          events.push({ stateExitedEventDetails: { name: state, output: JSON.stringify(output) } });
        }
        return output;
      } catch (error) {
        const { name, message } = error as Error;
        const failure = {
          error: name,
          cause: JSON.stringify({ errorType: name, errorMessage: message, trace: [] }),
        };
        if (maps.includes(state)) failedItems.push(failure);
        else {
          events.push({ type: 'TaskFailed', taskFailedEventDetails: failure });
        }
        throw error;
      }
    });
  }

  function start(name: string, input: string): void {
    const execution: Running = { events: [], status: 'RUNNING', done: Promise.resolve() };
    current = execution;
    execution.done = loader.run(JSON.parse(input)).then((ended) => {
      if (ended.status === 'SUCCEEDED') execution.output = JSON.stringify(ended.output);
      if ('error' in ended) Object.assign(execution, { error: ended.error, cause: ended.cause });
      if (ended.status === 'FAILED') {
        execution.events.push({ stateEnteredEventDetails: { name: 'ReleaseAfterFailure' } });
      }
      execution.status = ended.status;
    });
    executions.set(name, execution);
  }

  const described = (arn: string) => {
    const name = arn.split(':').at(-1) ?? '';
    const {
      events: _,
      done: __,
      ...execution
    } = executions.get(name) ?? { events: [], done: null };
    if (!('status' in execution)) return { error: 'ExecutionDoesNotExist' };
    return { value: { executionArn: arn, name, startDate: 1_790_000_000, ...execution } };
  };

  const operations: AwsOperations = {
    StartExecution({
      input,
      name = `execution-${executions.size + 1}`,
    }: {
      input: string;
      name?: string;
    }) {
      start(name, input);
      return { value: { executionArn: `${executionArn}:${name}`, startDate: 1_790_000_000 } };
    },
    DescribeExecution: ({ executionArn: arn }: { executionArn: string }) =>
      arn === 'failed item'
        ? { value: { executionArn: arn, ...failedItems.at(-1) } }
        : described(arn),
    GetExecutionHistory: ({ executionArn: arn }: { executionArn: string }) => ({
      value: {
        events: executions
          .get(arn.split(':').at(-1) ?? '')
          ?.events.map((event, id) => ({ ...event, id, timestamp: 1 })),
      },
    }),
    ListExecutions: ({
      mapRunArn,
      statusFilter,
    }: {
      mapRunArn?: string;
      statusFilter?: string;
    }) => {
      if (mapRunArn) {
        return { value: { executions: [{ executionArn: 'failed item', name: 'item' }] } };
      }
      const found = [...executions].filter(
        ([, { status }]) => statusFilter === undefined || status === statusFilter,
      );
      const list = found.map(([name, { status }]) => {
        return { executionArn: `${executionArn}:${name}`, name, status, startDate: 1_790_000_000 };
      });
      return { value: { executions: list.reverse() } };
    },
    DescribeMapRun: ({ mapRunArn }: { mapRunArn: string }) => ({
      value: { mapRunArn, itemCounts: { total: 4, succeeded: mapped.get(mapRunArn)?.succeeded } },
    }),
  };

  let passing: { state: string; error: Error; over: Promise<void> } | undefined;
  const gate = { promise: Promise.resolve() };
  return {
    machineArn,
    operations,
    /** Lets no step go on until what it gives is called. */
    hold(): () => void {
      const { promise, resolve } = Promise.withResolvers<void>();
      gate.promise = promise;
      return resolve;
    },
    /** From now on a step fails in this way; without an error it works again. */
    fail: (state: string, error?: Error) =>
      error ? failing.set(state, error) : failing.delete(state),
    /** A step fails once in this way; it is tried again when what this gives is called. */
    failOnce(state: string, error: Error): () => void {
      const { promise, resolve } = Promise.withResolvers<void>();
      passing = { state, error, over: promise };
      return resolve;
    },
    /** Ends when every execution has. */
    settled: async () => {
      for (const { done } of executions.values()) await done;
    },
  };
}

function nameOf(event: Event): unknown {
  return (event.stateEnteredEventDetails as { name?: unknown }).name;
}
