import { type Integration, IntegrationTimeoutError } from '../gateway/gateway.ts';
import type { Route } from '../gateway/http-api.ts';
import type { FunctionSettings, LocalApp } from '../template/local-app.ts';
import { FunctionError, type Instance, startInstance } from './instance.ts';

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
  const startAnother = () => startInstance(settings, log);
  return new Pool(settings.name, await startAnother(), startAnother);
}

/**
 * A function and its execution environments: another one starts when all are busy, up to a limit; further events queue.
 */
export class Pool {
  readonly #name: string;
  readonly #startInstance: () => Promise<Instance>;
  /** The number of events that each environment is handling. */
  readonly #active: Map<Instance, number>;
  readonly #queue: QueuedEvent[] = [];
  #starting = 0;
  #stopped = false;
  #watch: NodeJS.Timeout | undefined;

  constructor(name: string, first: Instance, startAnother: () => Promise<Instance>) {
    this.#name = name;
    this.#startInstance = startAnother;
    this.#active = new Map([[first, 0]]);
  }

  /** Resolves with what the function returned. @throws FunctionError, IntegrationTimeoutError */
  async invoke(event: string, requestId: string): Promise<string> {
    if (this.#stopped) throw new FunctionError(`${this.#name} was stopped`);
    const instance = await new Promise<Instance>((start, fail) => {
      this.#queue.push({ since: performance.now(), start, fail });
      this.#dispatch();
    });
    try {
      return await instance.invoke(event, requestId);
    } finally {
      this.#active.set(instance, (this.#active.get(instance) ?? 1) - 1);
      this.#dispatch();
    }
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    clearInterval(this.#watch);
    for (const { fail } of this.#queue.splice(0)) fail(new FunctionError(`${this.#name} was stopped`));
    await Promise.all([...this.#active.keys()].map((instance) => instance.stop()));
  }

  /** Gives queued events to the environments that are free, and starts another environment if some are left. */
  #dispatch(): void {
    if (this.#stopped) return;
    for (const [instance, events] of this.#active) {
      if (events > 0) continue;
      if (instance.alive) this.#giveNext(instance);
      else {
        this.#active.delete(instance);
        void instance.stop();
      }
    }
    if (this.#queue.length === 0) return;
    this.#grow();
    this.#watchQueue();
  }

  #giveNext(instance: Instance): void {
    const event = this.#queue.shift();
    if (!event) return;
    this.#active.set(instance, (this.#active.get(instance) ?? 0) + 1);
    event.start(instance);
  }

  #grow(): void {
    if (this.#active.size + this.#starting >= maxInstances) return;
    this.#starting++;
    const started = (instance: Instance) => {
      this.#starting--;
      this.#active.set(instance, 0);
      if (this.#stopped) void instance.stop();
      else this.#dispatch();
    };
    const failed = (error: Error) => {
      this.#starting--;
      this.#queue.shift()?.fail(error);
    };
    this.#startInstance().then(started, failed);
  }

  #watchQueue(): void {
    if (this.#watch) return;
    for (const instance of this.#active.keys()) instance.utilization(); // resets the measurement
    this.#watch = setInterval(() => this.#checkQueue(), queueCheckMilliseconds).unref();
  }

  /** Refuses events that have queued for too long, and shares environments that only wait. */
  #checkQueue(): void {
    while (this.#hasQueued(longestQueueMilliseconds)) {
      const error = new IntegrationTimeoutError(`No environment was free within ${longestQueueMilliseconds} ms`);
      this.#queue.shift()?.fail(error);
    }
    const instances = [...this.#active.keys()].filter(({ alive }) => alive);
    const utilization = instances.map((instance) => instance.utilization());
    if (this.#queue.length === 0) {
      clearInterval(this.#watch);
      this.#watch = undefined;
    }
    if (utilization.some((share) => share > computingUtilization)) return;
    const events = (instance: Instance) => this.#active.get(instance) ?? 0;
    while (this.#hasQueued(maxQueueMilliseconds)) {
      const [least] = instances.sort((a, b) => events(a) - events(b));
      if (!least || events(least) >= maxEventsPerInstance) return;
      this.#giveNext(least);
    }
  }

  /** Whether the first event has queued for this long. */
  #hasQueued(milliseconds: number): boolean {
    const [first] = this.#queue;
    return first !== undefined && first.since <= performance.now() - milliseconds;
  }
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
