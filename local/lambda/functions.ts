import { type Integration, IntegrationTimeoutError } from '../gateway/gateway.ts';
import type { Route } from '../gateway/http-api.ts';
import type { LocalApp } from '../template/local-app.ts';
import { type Pool, startPool } from './pool.ts';

/** The routes of the API, each connected to its running function. */
export type FunctionRoutes = {
  readonly routes: readonly Route<Integration>[];
  stop(): Promise<void>;
};

export type FunctionRoutesOptions = {
  /** Added to the variables of the template: the endpoint of the DynamoDB engine, and credentials for it. */
  readonly environment: Readonly<Record<string, string>>;
  readonly log: (line: string) => void;
};

/**
 * Starts every function of the app and resolves when all are warm.
 * @throws FunctionError when a module does not load
 */
export async function startFunctions(app: LocalApp, options: FunctionRoutesOptions): Promise<FunctionRoutes> {
  const started = await Promise.allSettled(
    app.functions.map(async ({ environment, ...settings }) => {
      const own = { ...runtimeEnvironment(settings), ...environment, ...options.environment };
      return [settings.name, await startPool({ ...settings, environment: own }, options.log)] as const;
    }),
  );
  const pools = new Map(started.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : [])));
  const stop = async () => {
    await Promise.all([...pools.values()].map((pool) => pool.stop()));
  };
  const failure = started.find((result) => result.status === 'rejected');
  if (failure) {
    await stop();
    throw failure.reason;
  }
  const routes = app.routes.map(({ key, functionName, timeoutMilliseconds }) => {
    const pool = pools.get(functionName);
    if (pool === undefined) throw new Error(`The template has no function ${functionName}, the target of route ${key}`);
    return { key, target: withTimeout(pool, timeoutMilliseconds) };
  });
  return { routes, stop };
}

/** The gateway stops waiting after the integration's timeout; the function may run on until its own. */
function withTimeout(pool: Pool, milliseconds: number): Integration {
  return async (event, requestId) => {
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(
        () => reject(new IntegrationTimeoutError(`No response within ${milliseconds} ms`)),
        milliseconds,
      );
    });
    try {
      return await Promise.race([pool.invoke(event, requestId), timeout]);
    } finally {
      clearTimeout(timer);
    }
  };
}

/** The variables of the Lambda runtime that the SDK and the logger read. */
function runtimeEnvironment({ name, memoryMegabytes }: { name: string; memoryMegabytes: number }) {
  return {
    AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs24.x',
    AWS_LAMBDA_FUNCTION_MEMORY_SIZE: `${memoryMegabytes}`,
    AWS_LAMBDA_FUNCTION_NAME: name,
    AWS_LAMBDA_FUNCTION_VERSION: '$LATEST',
    TZ: ':UTC',
  };
}
