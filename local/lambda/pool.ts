import { IntegrationTimeoutError } from '../gateway/gateway.ts';
import type { FunctionSettings } from '../template/local-app.ts';
import { FunctionError, type HandedOver, type Instance, startInstance } from './instance.ts';

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

type QueuedEvent = {
  readonly event: string;
  readonly requestId: string;
  readonly since: number;
  readonly answer: PromiseWithResolvers<string>;
};

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
  const handedOver = new Map<Instance, { queued: QueuedEvent; call: HandedOver }>();
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
        (error) => queue.shift()?.answer.reject(error),
      )
      .finally(() => {
        starting--;
      });
  }

  function start(instance: Instance, queued: QueuedEvent): void {
    follow(instance, queued, instance.invoke(queued.event, queued.requestId));
  }

  /** Passes the answer on, and gives the environment its next event then. */
  function follow(instance: Instance, { answer }: QueuedEvent, answered: Promise<string>): void {
    active.set(instance, (active.get(instance) ?? 0) + 1);
    answered.then(answer.resolve, answer.reject).finally(() => release(instance));
    handOver(instance);
  }

  /** Gives an environment that is busy an event in advance, so that it need not wait for one when it has answered. */
  function handOver(instance: Instance): void {
    if (!instance.alive || active.get(instance) !== 1 || handedOver.has(instance)) return;
    const [queued] = queue;
    const call = queued && instance.handOver(queued.event, queued.requestId);
    if (!call) return;
    queue.shift();
    handedOver.set(instance, { queued, call });
  }

  /** Puts events that were handed over, but not begun, back at the head of the queue. */
  function takeBack(instances: Iterable<Instance>): void {
    for (const instance of instances) {
      const handed = handedOver.get(instance);
      if (!handed?.call.takeBack()) continue;
      handedOver.delete(instance);
      queue.unshift(handed.queued);
    }
    queue.sort((a, b) => a.since - b.since);
  }

  function release(instance: Instance): void {
    const left = (active.get(instance) ?? 1) - 1;
    if (active.has(instance)) active.set(instance, left);
    if (!instance.alive) takeBack([instance]);
    const handed = handedOver.get(instance);
    if (handed) {
      handedOver.delete(instance);
      follow(instance, handed.queued, handed.call.answer());
    } else if (left === 0) next(instance);
    else if (!instance.alive && queue.length > 0) grow();
  }

  /** Starts the next queued event in an environment that is free, also one that another environment has not begun. */
  function next(instance: Instance): void {
    if (stopped || !instance.alive) {
      active.delete(instance);
      void instance.stop();
      if (queue.length > 0) grow();
      return;
    }
    if (queue.length === 0) takeBack([...handedOver.keys()]);
    const queued = queue.shift();
    if (queued) start(instance, queued);
    else idle.push(instance);
  }

  function enqueue(queued: QueuedEvent): void {
    for (let instance = idle.pop(); instance !== undefined; instance = idle.pop()) {
      if (instance.alive) {
        start(instance, queued);
        return;
      }
      active.delete(instance);
    }
    queue.push(queued);
    grow();
    watchQueue();
    for (const instance of active.keys()) handOver(instance);
  }

  function watchQueue(): void {
    if (watch) return;
    for (const instance of active.keys()) instance.utilization(); // resets the measurement
    watch = setInterval(shareWaitingInstances, queueCheckMilliseconds).unref();
  }

  function refuseOverdue(): void {
    const overdue = performance.now() - longestQueueMilliseconds;
    while (queue[0] && queue[0].since <= overdue) {
      queue
        .shift()
        ?.answer.reject(new IntegrationTimeoutError(`No environment was free within ${longestQueueMilliseconds} ms`));
    }
  }

  function shareWaitingInstances(): void {
    takeBack([...handedOver.keys()]);
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
      const queued = queue.shift();
      if (queued) start(least, queued);
    }
  }

  return {
    invoke: async (event, requestId) => {
      if (stopped) throw new FunctionError(`${settings.name} was stopped`);
      const answer = Promise.withResolvers<string>();
      enqueue({ event, requestId, since: performance.now(), answer });
      return answer.promise;
    },
    stop: async () => {
      stopped = true;
      clearInterval(watch);
      const waiting = [...queue.splice(0), ...[...handedOver.values()].map(({ queued }) => queued)];
      for (const { answer } of waiting) answer.reject(new FunctionError(`${settings.name} was stopped`));
      await Promise.all([...active.keys()].map((instance) => instance.stop()));
    },
  };
}
