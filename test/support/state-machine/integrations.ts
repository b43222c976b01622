import { randomUUID } from 'node:crypto';
import { eventSource } from '../../../core/event-types.ts';
import { faultsOfEvent } from '../event-schema.ts';
import { asJson, isJsonObject, type Json, type JsonObject } from './expressions.ts';
import { StateError, StoppedError } from './state-error.ts';

/**
 * What a Task calls, given its arguments. A StateError that it throws is what the state fails with.
 */
export type Integration = (parameters: JsonObject) => Promise<unknown>;

export type Handler = (event: never, context: never) => unknown;
/** What a Lambda handler is told beside its event; what this project's handlers may use. */
type Invocation = { functionName: string; awsRequestId: string };

/** An event as EventBridge takes it: its detail is an object. */
export type PutEvent = {
  source: string;
  type: string;
  bus: string | undefined;
  detail: Record<string, Json>;
};

/**
 * The resources that our state machine names: `handlers` by the names of their functions, `put` for
 * each event, and `unreserved` for the functions that the account can run at once beside reserved
 * ones.
 */
export function integrations(
  handlers: Readonly<Record<string, Handler>>,
  put: (event: PutEvent) => void,
  unreserved: () => number,
): Readonly<Record<string, Integration>> {
  return {
    'arn:aws:states:::lambda:invoke': ({ FunctionName, Payload = {} }) =>
      invoke(handlers, `${FunctionName}`, Payload),
    'arn:aws:states:::events:putEvents': async ({ Entries }) => {
      if (!Array.isArray(Entries) || Entries.length === 0) {
        throw new StateError('EventBridge.ValidationException', 'Entries');
      }
      for (const entry of Entries) put(eventOf(entry));
      return { FailedEntryCount: 0, Entries: Entries.map(() => ({ EventId: 'event' })) };
    },
    'arn:aws:states:::aws-sdk:lambda:getAccountSettings': async () => ({
      AccountLimit: { UnreservedConcurrentExecutions: unreserved() },
    }),
  };
}

/**
 * Calls a real handler. What goes in and comes out is JSON; an error that it throws is one of the
 * state, under the error's own name, as Lambda's Node runtime reports it.
 */
async function invoke(
  handlers: Readonly<Record<string, Handler>>,
  functionName: string,
  payload: Json,
) {
  const handler = handlers[functionName] as
    | ((event: Json, context: Invocation) => unknown)
    | undefined;
  if (!handler) throw new Error(`There is no function ${functionName}.`);
  try {
    const answer = await handler(asJson(payload), { functionName, awsRequestId: randomUUID() });
    return { ExecutedVersion: '$LATEST', Payload: asJson(answer), StatusCode: 200 };
  } catch (error) {
    if (error instanceof StateError || error instanceof StoppedError) throw error;
    const { name, message } = error as Error;
    throw new StateError(
      name,
      JSON.stringify({ errorType: name, errorMessage: message, trace: [] }),
    );
  }
}

/**
 * An entry of another form is an error, as in EventBridge; so is an event that
 * `docs/events.schema.json` refuses.
 */
function eventOf(entry: Json): PutEvent {
  const { Source, DetailType, Detail, EventBusName, ...other } = isJsonObject(entry) ? entry : {};
  const isValid =
    typeof Source === 'string' && typeof DetailType === 'string' && isJsonObject(Detail);
  if (!isValid || Object.keys(other).length > 0) {
    throw new StateError('EventBridge.ValidationException', JSON.stringify(entry));
  }
  const faults = Source === eventSource ? faultsOfEvent(DetailType, Detail) : [];
  if (faults.length > 0) throw new Error(`${DetailType} is not as published: ${faults.join(', ')}`);
  return {
    source: Source,
    type: DetailType,
    bus: EventBusName as string | undefined,
    detail: Detail,
  };
}
