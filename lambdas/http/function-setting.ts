import type { Context } from 'aws-lambda';
import { type ChargingClient, createStoreClient } from '../../core/dynamodb.ts';
import type { Environment } from '../../core/environment.ts';
import type { Answer, RequestEvent } from './middleware.ts';
import { type RequestLog, requestLog } from './observe.ts';

/**
 * A function's surroundings, from Lambda or from the process that it shares with other functions.
 */
export type FunctionSetting = {
  variables: Environment;
  client: ChargingClient;
  log: RequestLog;
};

/** A module with the handler of a function. */
export type HandlerModule = {
  createHandler(
    setting: FunctionSetting,
  ): (event: RequestEvent, context: Context) => Promise<Answer>;
};

/**
 * The setting of a function in Lambda. Only `lambda.ts` of each function reads the variables of the
 * process.
 */
export function lambdaSetting(variables: Environment): FunctionSetting {
  return { variables, client: createStoreClient(), log: requestLog(variables) };
}
