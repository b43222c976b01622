import { describe, expect, it } from '@jest/globals';
import { StateError } from './errors.ts';
import { lambdaInvoke, lambdaInvokeArn } from './lambda-invoke.ts';
import { runStateMachine } from './run-state-machine.ts';
import { invoke, tinyMachine } from './tiny-machine.ts';

class BusyError extends Error {
  override readonly name = 'BusyError';
}

/** Fails as told, once a call, then answers what it got. */
function flaky(...errors: Error[]) {
  return async (event: unknown) => {
    const error = errors.shift();
    if (error) throw error;
    return { got: event };
  };
}

async function run(definition: unknown, handlers: Record<string, (event: never) => unknown> = {}, input: unknown = {}) {
  const integrations = { [lambdaInvokeArn]: lambdaInvoke(handlers) };
  return runStateMachine(definition, { input, integrations, functionErrors: ['BusyError'], millisecondsPerSecond: 20 });
}

const pass = (more: Record<string, unknown> = {}) => ({ Type: 'Pass', End: true, ...more });
const busy = (more: Record<string, unknown> = {}) => ({ ErrorEquals: ['BusyError'], ...more });
const inputText = (letters: number) => ({ text: 'x'.repeat(letters) });

describe('a Task', () => {
  it('sends JSON to the function and reads JSON from it', async () => {
    const given = { at: new Date(0), left: undefined, kept: null };
    let seen: unknown;
    const see = (event: unknown) => {
      seen = event;
      return { seen, none: undefined };
    };
    const machine = tinyMachine({ A: invoke('F', '{% $states.input %}', { Output: '{% $states.result.Payload %}' }) });
    const execution = await run(machine, { F: see }, given);
    expect(seen).toEqual({ at: '1970-01-01T00:00:00.000Z', kept: null });
    expect(execution).toMatchObject({ output: { seen } });
  });

  it('returns null for a function without a result', async () => {
    const machine = tinyMachine({ A: invoke('F', {}, { Output: '{% $states.result %}' }) });
    expect(await run(machine, { F: () => undefined })).toMatchObject({
      output: { Payload: null, StatusCode: 200, ExecutedVersion: '$LATEST' },
    });
  });

  it('fails with the name of the thrown error, with JSON in the cause', async () => {
    const execution = await run(tinyMachine({ A: invoke('F') }), { F: flaky(new BusyError('no time')) });
    expect(execution).toMatchObject({ status: 'FAILED', error: 'BusyError' });
    const { cause } = execution as { cause: string };
    expect(JSON.parse(cause)).toEqual({ errorType: 'BusyError', errorMessage: 'no time', trace: [] });
  });

  it('retries as the retrier says, with delays up to the maximum', async () => {
    const Retry = [
      busy({ IntervalSeconds: 2, MaxAttempts: 4, BackoffRate: 3, MaxDelaySeconds: 20, JitterStrategy: 'FULL' }),
    ];
    const errors = Array.from({ length: 4 }, () => new BusyError('busy'));
    const retryCount = '{% $states.context.State.RetryCount %}';
    const machine = tinyMachine({ A: invoke('F', retryCount, { Retry, Output: '{% $states.result.Payload %}' }) });
    const { events, ...execution } = await run(machine, { F: flaky(...errors) });
    expect(execution).toMatchObject({ status: 'SUCCEEDED', output: { got: 4 } });
    const delays = events.flatMap((event) => (event.kind === 'retried' ? [[event.attempt, event.delaySeconds]] : []));
    expect(delays).toEqual([
      [1, 2],
      [2, 6],
      [3, 18],
      [4, 20],
    ]);
  });

  it('counts the attempts of each retrier separately, by default three', async () => {
    const Retry = [busy(), { ErrorEquals: ['Lambda.ServiceException'], MaxAttempts: 1 }];
    const service = () => new StateError('Lambda.ServiceException', 'oops');
    const machine = tinyMachine({ A: invoke('F', {}, { Retry }) });
    const errors = [new BusyError('1'), service(), new BusyError('2'), new BusyError('3')];
    expect(await run(machine, { F: flaky(...errors) })).toMatchObject({ status: 'SUCCEEDED' });
    expect(await run(machine, { F: flaky(service(), service()) })).toMatchObject({ error: 'Lambda.ServiceException' });
  });

  const failing = { F: () => Promise.reject(new BusyError('busy')) };
  const after = { B: pass({ Output: '{% $states.input %}' }) };
  const catching = (ErrorEquals: string[], more: Record<string, unknown> = {}) =>
    invoke('F', {}, { Catch: [{ ErrorEquals, Next: 'B', ...more }] });

  it.each([['BusyError'], ['States.ALL'], ['States.TaskFailed']])('is caught as %s', async (name) => {
    const execution = await run(tinyMachine({ A: catching([name]), ...after }), failing);
    expect(execution).toMatchObject({ status: 'SUCCEEDED', output: { Error: 'BusyError', Cause: expect.any(String) } });
  });

  it("applies the catcher's Assign and Output when it is caught", async () => {
    const more = {
      Assign: { why: '{% $states.errorOutput.Error %}' },
      Output: { of: '{% $states.input.name %}', why: '{% $parse($states.errorOutput.Cause).errorMessage %}' },
    };
    const states = { A: catching(['States.ALL'], more), B: pass({ Output: '{% [$states.input, $why] %}' }) };
    expect(await run(tinyMachine(states), failing, { name: 'Weesp' })).toMatchObject({
      output: [{ of: 'Weesp', why: 'busy' }, 'BusyError'],
    });
  });

  it('is retried before it is caught', async () => {
    const task = { ...catching(['States.ALL']), Retry: [busy({ MaxAttempts: 2 })] };
    const { events } = await run(tinyMachine({ A: task, ...after }), failing);
    expect(events.map(({ kind }) => kind)).toEqual(['entered', 'retried', 'retried', 'caught', 'entered']);
  });

  it('is retried and caught for failing expressions too, also in its output', async () => {
    const Retry = [{ ErrorEquals: ['States.QueryEvaluationError'], MaxAttempts: 1 }];
    const task = { ...catching(['States.QueryEvaluationError']), Retry, Output: '{% $states.result.Payload.other %}' };
    let calls = 0;
    const execution = await run(tinyMachine({ A: task, ...after }), { F: () => ({ call: ++calls }) });
    expect(calls).toBe(2);
    expect(execution).toMatchObject({ output: { Error: 'States.QueryEvaluationError' } });
  });

  it.each([
    ['States.ALL', 'FAILED'],
    ['States.TaskFailed', 'FAILED'],
    ['States.DataLimitExceeded', 'SUCCEEDED'],
  ])('with a result that is too large and a catcher for %s has %s', async (name, status) => {
    const execution = await run(tinyMachine({ A: catching([name]), ...after }), { F: () => inputText(262_144) });
    expect(execution.status).toBe(status);
  });

  const slow = { F: () => new Promise((resolve) => setTimeout(resolve, 400)) };

  it.each([
    ['States.Timeout', 'SUCCEEDED'],
    ['States.ALL', 'SUCCEEDED'],
    ['States.TaskFailed', 'FAILED'],
  ])('that times out and has a catcher for %s has %s', async (name, status) => {
    const states = { A: { ...catching([name]), TimeoutSeconds: '{% 1 + 1 %}' }, ...after };
    expect((await run(tinyMachine(states), slow)).status).toBe(status);
  });

  it('ends when the state machine times out, whatever it catches', async () => {
    const execution = await run(tinyMachine({ A: catching(['States.ALL']), ...after }, { TimeoutSeconds: 2 }), slow);
    expect(execution).toMatchObject({ status: 'TIMED_OUT', error: 'States.Timeout' });
  });
});
