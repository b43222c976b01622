import type { Readable } from 'node:stream';
import { Worker } from 'node:worker_threads';
import type { FunctionSettings } from '../template/local-app.ts';

/** The message that starts an invocation in a worker. */
export type SentInvocation = {
  /** Matches the answer to its invocation. */
  readonly number: number;
  readonly requestId: string;
  /** JSON text. */
  readonly event: string;
  /** When the function times out, in epoch milliseconds. */
  readonly deadline: number;
};

/** The message with the outcome of an invocation, and what the function wrote since the message before. */
type InstanceAnswer = {
  readonly number: number;
  readonly outcome: Outcome;
  readonly printed: string;
};

/** What a worker sends. */
export type InstanceMessage = 'ready' | InstanceAnswer | { readonly printed: string };

/** What the handler returned, as JSON text, or what it threw. */
export type Outcome = { readonly payload: string } | { readonly failure: string };

/** The function threw, timed out, or its environment crashed. */
export class FunctionError extends Error {
  override name = 'FunctionError';
}

/**
 * V8 would let the heap of a thread grow to hundreds of MB before it collects what nothing refers to any more. A
 * function takes some 20 MB; one that leaks ends with an error, as it would in Lambda. A lookup allocates 0.4 MB: with
 * a young generation of 3 MB, every third one has to wait for a collection.
 */
const memoryLimits = { maxYoungGenerationSizeMb: 12, maxOldGenerationSizeMb: 40 };

/**
 * A time-out is counted in this many parts, one after the other. While this process is suspended or has no processor at
 * most one of them passes, so a function still gets to answer by its own deadline afterwards.
 */
const timeoutParts = 6;

/** One execution environment: a worker thread. */
export type Instance = {
  /** False once it has crashed, been stopped, or an event has timed out: it then finishes the others. */
  readonly alive: boolean;
  /** The share of the time since the previous call that it was computing rather than waiting, 0 to 1. */
  utilization(): number;
  /** Resolves with what the handler returned, as JSON text. @throws FunctionError */
  invoke(event: string, requestId: string): Promise<string>;
  stop(): Promise<void>;
};

/**
 * Starts an environment and resolves when the function's module is loaded.
 * @param log gets every line that the function writes
 * @throws FunctionError when the module does not load
 */
export async function startInstance(settings: FunctionSettings, log: (line: string) => void): Promise<Instance> {
  const { NODE_COMPILE_CACHE } = process.env;
  const worker = new Worker(new URL('environment.js', import.meta.url), {
    workerData: settings,
    // The cache of compiled code saves half of the start of a thread; `environment.js` removes the variable again.
    env: { ...settings.environment, ...(NODE_COMPILE_CACHE !== undefined && { NODE_COMPILE_CACHE }) },
    execArgv: [],
    resourceLimits: memoryLimits,
    stdout: true,
    stderr: true,
  });
  /** Calls without a response yet. Racing them against one promise for the worker's end would leak every response. */
  const pending = new Map<number, PromiseWithResolvers<Outcome>>();
  const ready = Promise.withResolvers<void>();
  let ended: FunctionError | undefined;
  function end(error: FunctionError): void {
    ended ??= error;
    ready.reject(ended);
    for (const call of pending.values()) call.reject(ended);
  }
  worker.on('error', (error) => end(failed(settings, log, String(error))));
  worker.on('exit', () => end(new FunctionError(`The environment of ${settings.name} ended`)));
  for (const stream of [worker.stdout, worker.stderr]) eachLine(stream, log);
  const logPrinted = lineSplitter(log);
  worker.on('message', (message: InstanceMessage) => {
    if (message === 'ready') {
      ready.resolve();
      return;
    }
    if (message.printed !== '') logPrinted(message.printed);
    if ('outcome' in message) pending.get(message.number)?.resolve(message.outcome);
  });
  await ready.promise;
  let invocations = 0;
  let measured = worker.performance.eventLoopUtilization();

  async function invoke(event: string, requestId: string): Promise<string> {
    if (ended) throw ended;
    const deadline = Date.now() + settings.timeoutMilliseconds;
    const number = invocations++;
    const call = Promise.withResolvers<Outcome>();
    pending.set(number, call);
    worker.postMessage({ number, requestId, event, deadline } satisfies SentInvocation);
    let partsLeft = timeoutParts;
    const timer = setInterval(() => {
      if (--partsLeft > 0) return;
      const seconds = (settings.timeoutMilliseconds / 1000).toFixed(2);
      const error = failed(settings, log, `${requestId} Task timed out after ${seconds} seconds`);
      // Lambda has one event in an environment; here several that wait share one, and only this one has timed out.
      ended ??= error;
      call.reject(error);
    }, settings.timeoutMilliseconds / timeoutParts);
    try {
      const outcome = await call.promise;
      if ('failure' in outcome) throw failed(settings, log, outcome.failure);
      return outcome.payload;
    } finally {
      clearInterval(timer);
      pending.delete(number);
      if (ended && pending.size === 0) void worker.terminate();
    }
  }

  return {
    get alive() {
      return ended === undefined;
    },
    utilization: () => {
      const before = measured;
      measured = worker.performance.eventLoopUtilization();
      return worker.performance.eventLoopUtilization(measured, before).utilization;
    },
    invoke,
    stop: async () => {
      end(new FunctionError(`${settings.name} was stopped`));
      await worker.terminate();
    },
  };
}

/** Logs the reason, as Lambda does; API clients only see a fixed text. */
function failed(settings: FunctionSettings, log: (line: string) => void, reason: string): FunctionError {
  log(JSON.stringify({ level: 'ERROR', function: settings.name, message: reason }));
  return new FunctionError(reason);
}

/** Passes on each complete line of the chunks, and at the end what is left. */
function lineSplitter(log: (line: string) => void) {
  let rest = '';
  return (chunk: string, isEnd = false): void => {
    const lines = (rest + chunk).split('\n');
    rest = isEnd ? '' : (lines.pop() ?? '');
    for (const line of lines) if (!isEnd || line !== '') log(line);
  };
}

/** Passes on each line of a stream, also a last one without an end. */
function eachLine(stream: Readable, log: (line: string) => void): void {
  const split = lineSplitter(log);
  stream.setEncoding('utf8').on('data', split);
  stream.on('close', () => split('', true));
}
