import { type Integration, IntegrationTimeoutError } from '../gateway/gateway.ts';
import type { Route } from '../gateway/router.ts';
import type { LocalApp } from '../template/local-app.ts';
import { type Pool, startPool } from './pool.ts';

/** The routes of the API, each with its running function behind it. */
export interface FunctionRoutes {
  readonly routes: readonly Route<Integration>[];
  stop(): Promise<void>;
}

export interface FunctionRoutesOptions {
  /** Over and above what the template gives each function: where the engine is, and credentials for it. */
  readonly environment: Readonly<Record<string, string>>;
  readonly log: (line: string) => void;
}

/**
 * Starts every function and resolves when all are warm.
 * @throws FunctionError where one does not load
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
    if (pool === undefined) throw new Error(`The route ${key} leads to ${functionName}, which is not in the template`);
    return { key, target: withTimeout(pool, timeoutMilliseconds) };
  });
  return { routes, stop };
}

/** The gateway stops waiting after its own timeout; the function may go on until its. */
function withTimeout(pool: Pool, milliseconds: number): Integration {
  return async (event, requestId) => {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => reject(new IntegrationTimeoutError(`No answer in ${milliseconds} ms`)), milliseconds);
    });
    try {
      return await Promise.race([pool.invoke(event, requestId), late]);
    } finally {
      clearTimeout(timer);
    }
  };
}

/** What the Lambda runtime itself sets, as far as the SDK and the logger read it. */
function runtimeEnvironment({ name, memoryMegabytes }: { name: string; memoryMegabytes: number }) {
  return {
    AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs24.x',
    AWS_LAMBDA_FUNCTION_MEMORY_SIZE: `${memoryMegabytes}`,
    AWS_LAMBDA_FUNCTION_NAME: name,
    AWS_LAMBDA_FUNCTION_VERSION: '$LATEST',
    TZ: ':UTC',
  };
}
