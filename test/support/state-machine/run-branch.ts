import { within } from './deadline.ts';
import { runDistributedMap } from './distributed-map.ts';
import { NotInterpretedError, StateError } from './errors.ts';
import { evaluate, evaluateInteger, evaluateText, queryError } from './evaluate.ts';
import { type Entered, type Frame, leave, limited, namesAt, type Outcome } from './frame.ts';
import type { Json } from './json.ts';
import { withRetries } from './retries.ts';
import type { Branch, Choice, State, Task } from './schema.ts';

/** No execution that is tested takes this many states; a loop that never ends does. */
const mostStates = 20_000;

/** Runs the states from `StartAt` to an end; gives the output of the last. @throws StateError */
export async function runBranch(branch: Branch, input: Json, frame: Frame): Promise<Json> {
  let name = branch.StartAt;
  let data = input;
  for (;;) {
    frame.signal.throwIfAborted();
    const { events } = frame.run;
    if (events.length > mostStates) throw new NotInterpretedError([`more than ${mostStates} events: an endless loop?`]);
    events.push({ kind: 'entered', state: name });
    const { output, assigned, next } = await runState(branch.States[name] as State, name, data, frame);
    Object.assign(frame.variables, assigned);
    if (next === null) return output;
    name = next;
    data = output;
  }
}

async function runState(state: State, name: string, input: Json, frame: Frame): Promise<Outcome> {
  const entered: Entered = { name, input, enteredTime: new Date().toISOString(), retryCount: 0 };
  const names = namesAt(frame, entered);
  switch (state.Type) {
    case 'Task':
      return withRetries(state, entered, frame, (attempt) => runTask(state, attempt, frame));
    case 'Map':
      return withRetries(state, entered, frame, (attempt) => runDistributedMap(state, attempt, frame));
    case 'Choice':
      return choose(state, entered, frame);
    case 'Wait':
      frame.run.events.push({
        kind: 'waited',
        state: name,
        seconds: await evaluateInteger(state.Seconds, names, 'Seconds', [0, 99_999_999]),
      });
      return leave(state, input, names, state.Next ?? null);
    case 'Pass':
      return leave(state, input, names, state.Next ?? null);
    case 'Succeed':
      return leave(state, input, names, null);
    case 'Fail':
      throw new StateError(
        await evaluateText(state.Error ?? '', names, 'Error'),
        await evaluateText(state.Cause ?? '', names, 'Cause'),
      );
  }
}

async function runTask(state: Task, entered: Entered, frame: Frame): Promise<Json> {
  const { run } = frame;
  const names = namesAt(frame, entered);
  const integration = run.integrations[state.Resource];
  if (!integration) throw new NotInterpretedError([`${entered.name}: ${state.Resource} is not known`]);
  const parameters = limited(await evaluate(state.Arguments, names, 'Arguments'), 'Arguments');
  const call = integration.call(parameters);
  if (state.TimeoutSeconds === undefined) return limited(await call, 'result of the task');
  const seconds = await evaluateInteger(state.TimeoutSeconds, names, 'TimeoutSeconds', [1, 99_999_999]);
  const timeout = () => new StateError('States.Timeout', `The task took more than ${seconds} seconds.`);
  return limited(await within(call, seconds * run.millisecondsPerSecond, timeout), 'result of the task');
}

async function choose(state: Choice, entered: Entered, frame: Frame): Promise<Outcome> {
  const names = namesAt(frame, entered);
  for (const [index, rule] of state.Choices.entries()) {
    const holds = await evaluate(rule.Condition, names, `Choices[${index}]/Condition`);
    if (typeof holds !== 'boolean') {
      throw queryError(`The Condition of Choices[${index}] gave ${JSON.stringify(holds)}, which is no boolean.`);
    }
    if (holds) return leave(rule, entered.input, names, rule.Next, `Choices[${index}]/`);
  }
  if (state.Default === undefined)
    throw new StateError('States.Runtime', 'No choice matched, and there is no Default.');
  return leave(state, entered.input, names, state.Default);
}
