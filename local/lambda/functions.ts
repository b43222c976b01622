import { type Integration, IntegrationTimeoutError } from '../gateway/gateway.ts';
import type { Route } from '../gateway/http-api.ts';
import type { FunctionSettings, LocalApp } from '../template/local-app.ts';
import { FunctionError, type Instance, startInstance } from './instance.ts';

/**
 * A function and its execution environments: another one starts when all are busy, up to a limit; further events queue.
 */
export type Pool = {
  invoke(event: string, requestId: string): Promise<string>;
  stop(): Promise<void>;
};

/** Enough to keep two or three cores busy; each takes about 30 MB. */
const maxInstances = 2;

/**
 * An environment takes one event at a time, as in Lambda. Where all of them only wait for a store that hangs, an event
 * that has queued this long is given to one of them all the same: Lambda would have started another environment, and
 * every request has to be answered within 5 seconds. Environments that compute are left alone: more events at once
 * would slow all of them down until their calls to the store time out (decision 0117).
 */
const maxQueueMilliseconds = 250;
const maxEventsPerInstance = 64;
/** The share of its time that an environment computes, above which it counts as busy computing. */
const computingUtilization = 0.5;
const queueCheckMilliseconds = 100;
/**
 * An event that has queued this long is refused with a 503, as Lambda refuses one when it has no environment for it:
 * its function takes another second at least to find out that the store hangs, and every request is answered within 5
 * seconds.
 */
const longestQueueMilliseconds = 2_400;

type QueuedEvent = { since: number; start: (instance: Instance) => void; fail: (error: Error) => void };

/**
 * Starts a function with one warm environment.
 * @throws FunctionError when its module does not load
 */
export async function startPool(settings: FunctionSettings, log: (line: string) => void): Promise<Pool> {
  const first = await startInstance(settings, log);
  /** The number of events that each environment is handling. */
  const active = new Map<Instance, number>([[first, 0]]);
  const idle: Instance[] = [first];
  const queue: QueuedEvent[] = [];
  let starting = 0;
  let stopped = false;
  let watch: NodeJS.Timeout | undefined;

  function grow(): void {
    if (stopped || active.size + starting >= maxInstances) return;
    starting++;
    startInstance(settings, log)
      .then(
        (instance) => {
          active.set(instance, 0);
          next(instance);
        },
        (error) => queue.shift()?.fail(error),
      )
      .finally(() => {
        starting--;
      });
  }

  function assign(instance: Instance): Instance {
    active.set(instance, (active.get(instance) ?? 0) + 1);
    return instance;
  }

  function release(instance: Instance): void {
    const left = (active.get(instance) ?? 1) - 1;
    if (active.has(instance)) active.set(instance, left);
    if (left === 0) next(instance);
    else if (!instance.alive && queue.length > 0) grow();
  }

  /** Starts the next queued event in an environment that is free. */
  function next(instance: Instance): void {
    if (stopped || !instance.alive) {
      active.delete(instance);
      void instance.stop();
      if (queue.length > 0) grow();
      return;
    }
    const event = queue.shift();
    if (event) event.start(assign(instance));
    else idle.push(instance);
  }

  function acquire(): Promise<Instance> {
    for (let instance = idle.pop(); instance !== undefined; instance = idle.pop()) {
      if (instance.alive) return Promise.resolve(assign(instance));
      active.delete(instance);
    }
    const turn = new Promise<Instance>((start, fail) => queue.push({ since: performance.now(), start, fail }));
    grow();
    watchQueue();
    return turn;
  }

  function watchQueue(): void {
    if (watch) return;
    for (const instance of active.keys()) instance.utilization(); // resets the measurement
    watch = setInterval(shareWaitingInstances, queueCheckMilliseconds).unref();
  }

  function refuseOverdue(): void {
    const overdue = performance.now() - longestQueueMilliseconds;
    while (queue[0] && queue[0].since <= overdue) {
      queue.shift()?.fail(new IntegrationTimeoutError(`No environment was free within ${longestQueueMilliseconds} ms`));
    }
  }

  function shareWaitingInstances(): void {
    refuseOverdue();
    const instances = [...active.keys()].filter(({ alive }) => alive);
    const utilization = instances.map((instance) => instance.utilization());
    if (queue.length === 0) {
      clearInterval(watch);
      watch = undefined;
    }
    if (utilization.some((share) => share > computingUtilization)) return;
    const overdue = performance.now() - maxQueueMilliseconds;
    while (queue[0] && queue[0].since <= overdue) {
      const [least] = instances.sort((a, b) => (active.get(a) ?? 0) - (active.get(b) ?? 0));
      if (!least || (active.get(least) ?? 0) >= maxEventsPerInstance) return;
      queue.shift()?.start(assign(least));
    }
  }

  return {
    invoke: async (event, requestId) => {
      if (stopped) throw new FunctionError(`${settings.name} was stopped`);
      const instance = await acquire();
      try {
        return await instance.invoke(event, requestId);
      } finally {
        release(instance);
      }
    },
    stop: async () => {
      stopped = true;
      clearInterval(watch);
      for (const { fail } of queue.splice(0)) fail(new FunctionError(`${settings.name} was stopped`));
      await Promise.all([...active.keys()].map((instance) => instance.stop()));
    },
  };
}

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
