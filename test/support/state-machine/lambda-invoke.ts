import { randomUUID } from 'node:crypto';
import { StateError, StoppedError } from './errors.ts';
import type { Integration } from './frame.ts';
import { asJson, isJsonObject, type Json } from './json.ts';

/** What a Lambda handler is told beside its event; what this project's handlers may use. */
type Invocation = { functionName: string; awsRequestId: string };
export type Handler = (event: never, context: never) => unknown;

/** The resource that `lambdaInvoke` stands for. */
export const lambdaInvokeArn = 'arn:aws:states:::lambda:invoke';

const fields = ['FunctionName', 'Payload'];

/**
 * Calls real handlers by the names of their functions. What goes in and comes out is JSON; an error that a handler
 * throws is one of the state, under the error's own name, as Lambda's Node runtime reports it.
 */
export function lambdaInvoke(handlers: Readonly<Record<string, Handler>>): Integration {
  return {
    check(template) {
      if (!isJsonObject(template)) return ['the Arguments of lambda:invoke are an object'];
      const issues = Object.keys(template)
        .filter((field) => !fields.includes(field))
        .map((field) => `${field} is no known argument of lambda:invoke`);
      if (!handlers[String(template.FunctionName)]) issues.push(`there is no function ${template.FunctionName}`);
      return issues;
    },
    async call(parameters) {
      const { FunctionName, Payload = {} } = parameters as { FunctionName: string; Payload?: Json };
      const handler = handlers[FunctionName] as (event: Json, context: Invocation) => unknown;
      try {
        const answer = await handler(asJson(Payload), { functionName: FunctionName, awsRequestId: randomUUID() });
        return { ExecutedVersion: '$LATEST', Payload: asJson(answer), StatusCode: 200 };
      } catch (error) {
        throw error instanceof StateError || error instanceof StoppedError ? error : functionError(error);
      }
    },
  };
}

function functionError(error: unknown): StateError {
  const { name, message } = error instanceof Error ? error : { name: typeof error, message: String(error) };
  return new StateError(name, JSON.stringify({ errorType: name, errorMessage: message, trace: [] }));
}
