import type { Context } from 'aws-lambda';
import type { ChargingClient } from '../core/dynamodb.ts';
import { type Environment, optionalEnvironment, requireEnvironment } from '../core/environment.ts';
import type { HandlerModule } from '../lambdas/http/function-setting.ts';
import type { RequestEvent } from '../lambdas/http/middleware.ts';
import { requestLog } from '../lambdas/http/observe.ts';
import {
  type ApiFunction,
  type ApiFunctionId,
  apiFunctions,
  apiRoutes,
  optionalVariables,
  requiredVariables,
  routeKey,
} from '../lib/shared/routes.ts';
import type { Integration } from './gateway/gateway.ts';
import type { Route } from './gateway/gateway-request.ts';

/** The surroundings in which the functions of the API run. */
export type FunctionPlace = {
  /**
   * The values of variables, by name. A function sees the variables that the table of routes lists
   * for it.
   */
  readonly values: Environment;
  readonly client: ChargingClient;
  /** Gets every line that a function writes. */
  readonly log: (line: string) => void;
};

type Handler = (event: RequestEvent, context: Context) => Promise<unknown>;

/**
 * The routes of the API, each with its handler in this process.
 * @throws Error if a variable of a function has no value
 */
export async function apiHandlers(place: FunctionPlace): Promise<Route<Integration>[]> {
  const entries = Object.entries(apiFunctions).map(
    async ([id, listed]) =>
      [id, invoker(id, listed, await createdHandler(listed, place), place.log)] as const,
  );
  const targets = Object.fromEntries(await Promise.all(entries)) as Record<
    ApiFunctionId,
    Integration
  >;
  return apiRoutes.map((route) => ({ key: routeKey(route), target: targets[route.function] }));
}

const moduleOf = ({ handler }: ApiFunction): Promise<HandlerModule> =>
  import(new URL(`../${handler}`, import.meta.url).href);

/** Loads the modules of the handlers, for a caller that has time before it wants `apiHandlers`. */
export const loadHandlers = () => Promise.all(Object.values(apiFunctions).map(moduleOf));

async function createdHandler(
  listed: ApiFunction,
  { values, client, log }: FunctionPlace,
): Promise<Handler> {
  const { createHandler } = await moduleOf(listed);
  const variables = {
    ...Object.fromEntries(
      requiredVariables(listed).map((name) => [name, requireEnvironment(name, values)]),
    ),
    ...Object.fromEntries(
      Object.keys(optionalVariables).map((name) => [name, optionalEnvironment(name, values)]),
    ),
  };
  return createHandler({ variables, client, log: requestLog(variables, log) });
}

/**
 * Calls a handler as Lambda does: it gets a context, and an answer or an error ends the call, or
 * its time limit does. The reason for an error goes to the log, as API clients only see a fixed
 * text.
 */
export function invoker(
  name: string,
  { timeoutSeconds, memoryMegabytes }: Pick<ApiFunction, 'timeoutSeconds' | 'memoryMegabytes'>,
  handler: Handler,
  log: (line: string) => void,
): Integration {
  const limit = timeoutSeconds * 1000;
  return async (event, requestId) => {
    const begun = Date.now();
    const { promise: timeout, reject } = Promise.withResolvers<never>();
    const timer = setTimeout(
      () =>
        reject(new Error(`${requestId} Task timed out after ${timeoutSeconds.toFixed(2)} seconds`)),
      limit,
    );
    const context: Context = {
      awsRequestId: requestId,
      callbackWaitsForEmptyEventLoop: true,
      functionName: name,
      functionVersion: '$LATEST',
      invokedFunctionArn: `arn:aws:lambda:eu-west-1:000000000000:function:${name}`,
      logGroupName: `/aws/lambda/${name}`,
      logStreamName: 'local',
      memoryLimitInMB: `${memoryMegabytes}`,
      getRemainingTimeInMillis: () => Math.max(0, begun + limit - Date.now()),
      done: () => undefined,
      fail: () => undefined,
      succeed: () => undefined,
    };
    try {
      return await Promise.race([handler(event as RequestEvent, context), timeout]);
    } catch (error) {
      const message = error instanceof Error ? (error.stack ?? String(error)) : String(error);
      log(JSON.stringify({ level: 'ERROR', function: name, request_id: requestId, message }));
      throw error;
    } finally {
      clearTimeout(timer);
    }
  };
}
