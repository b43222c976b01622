import type { FunctionSettings } from './function-settings.ts';
import { FunctionError, type Instance, startInstance } from './instance.ts';

/** A function with as many environments as its callers at one time need, up to a limit; past that they wait in turn. */
export interface Pool {
  invoke(event: string, requestId: string): Promise<string>;
  stop(): Promise<void>;
}

/** Enough to keep this machine's cores busy; each costs about 40 MB. */
const mostInstances = 4;

/**
 * Starts a function with one warm environment.
 * @throws FunctionError where its module does not load
 */
export async function startPool(settings: FunctionSettings, log: (line: string) => void): Promise<Pool> {
  const idle: Instance[] = [await startInstance(settings, log)];
  const waiting: { take: (instance: Instance) => void; fail: (error: Error) => void }[] = [];
  const all = new Set<Instance>(idle);
  let starting = 0;
  let stopped = false;

  function grow(): void {
    if (stopped || all.size + starting >= mostInstances) return;
    starting++;
    startInstance(settings, log)
      .then(
        (instance) => {
          all.add(instance);
          release(instance);
        },
        (error) => waiting.shift()?.fail(error),
      )
      .finally(() => {
        starting--;
      });
  }

  function release(instance: Instance): void {
    if (stopped || !instance.alive) {
      all.delete(instance);
      void instance.stop();
      if (waiting.length > 0) grow();
      return;
    }
    const next = waiting.shift();
    if (next) next.take(instance);
    else idle.push(instance);
  }

  function acquire(): Promise<Instance> {
    for (let instance = idle.pop(); instance !== undefined; instance = idle.pop()) {
      if (instance.alive) return Promise.resolve(instance);
      all.delete(instance);
    }
    const turn = new Promise<Instance>((take, fail) => waiting.push({ take, fail }));
    grow();
    return turn;
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
      for (const { fail } of waiting.splice(0)) fail(new FunctionError(`${settings.name} was stopped`));
      await Promise.all([...all].map((instance) => instance.stop()));
    },
  };
}
