import { FunctionError, type FunctionSettings, type Instance, startInstance } from './instance.ts';

/** A function with as many environments as its callers at one time need, up to a limit; past that they wait in turn. */
export interface Pool {
  invoke(event: string, requestId: string): Promise<string>;
  stop(): Promise<void>;
}

/** Enough to keep this machine's cores busy; each costs about 40 MB. */
const mostInstances = 4;

/**
 * Who has waited this long behind events that wait themselves, for the store, joins them: Lambda would have started one
 * more environment. So a store that hangs makes nobody wait twice (decision 0117).
 */
const patienceMilliseconds = 250;
const mostAtOnce = 64;
const mostlyWaiting = 0.5;
const lookMilliseconds = 100;

type Caller = { since: number; take: (instance: Instance) => void; fail: (error: Error) => void };

/**
 * Starts a function with one warm environment.
 * @throws FunctionError where its module does not load
 */
export async function startPool(settings: FunctionSettings, log: (line: string) => void): Promise<Pool> {
  const first = await startInstance(settings, log);
  /** Every environment, with the number of events that it is at. */
  const atWork = new Map<Instance, number>([[first, 0]]);
  const idle: Instance[] = [first];
  const waiting: Caller[] = [];
  let starting = 0;
  let stopped = false;
  let watch: NodeJS.Timeout | undefined;

  function grow(): void {
    if (stopped || atWork.size + starting >= mostInstances) return;
    starting++;
    startInstance(settings, log)
      .then(
        (instance) => {
          atWork.set(instance, 0);
          next(instance);
        },
        (error) => waiting.shift()?.fail(error),
      )
      .finally(() => {
        starting--;
      });
  }

  function give(instance: Instance): Instance {
    atWork.set(instance, (atWork.get(instance) ?? 0) + 1);
    return instance;
  }

  function release(instance: Instance): void {
    const left = (atWork.get(instance) ?? 1) - 1;
    if (atWork.has(instance)) atWork.set(instance, left);
    if (left === 0 || !instance.alive) next(instance);
  }

  /** Gives an environment that is free its next event. */
  function next(instance: Instance): void {
    if (stopped || !instance.alive) {
      atWork.delete(instance);
      void instance.stop();
      if (waiting.length > 0) grow();
      return;
    }
    const caller = waiting.shift();
    if (caller) caller.take(give(instance));
    else idle.push(instance);
  }

  function acquire(): Promise<Instance> {
    for (let instance = idle.pop(); instance !== undefined; instance = idle.pop()) {
      if (instance.alive) return Promise.resolve(give(instance));
      atWork.delete(instance);
    }
    const turn = new Promise<Instance>((take, fail) => waiting.push({ since: performance.now(), take, fail }));
    grow();
    watchQueue();
    return turn;
  }

  function watchQueue(): void {
    if (watch) return;
    for (const instance of atWork.keys()) instance.utilization(); // from now on
    watch = setInterval(relieve, lookMilliseconds).unref();
  }

  function relieve(): void {
    const instances = [...atWork.keys()].filter(({ alive }) => alive);
    const utilization = instances.map((instance) => instance.utilization());
    if (waiting.length === 0) {
      clearInterval(watch);
      watch = undefined;
    }
    if (utilization.some((share) => share > mostlyWaiting)) return;
    const asked = performance.now() - patienceMilliseconds;
    while (waiting[0] && waiting[0].since <= asked) {
      const [least] = instances.sort((a, b) => (atWork.get(a) ?? 0) - (atWork.get(b) ?? 0));
      if (!least || (atWork.get(least) ?? 0) >= mostAtOnce) return;
      waiting.shift()?.take(give(least));
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
      for (const { fail } of waiting.splice(0)) fail(new FunctionError(`${settings.name} was stopped`));
      await Promise.all([...atWork.keys()].map((instance) => instance.stop()));
    },
  };
}
