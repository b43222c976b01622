import { type Engine, EngineError, startEngine, startEngineOn } from '../engine.ts';
import { finishImport } from './database-files.ts';

/** The embedded engine on a file, which can be taken away from it for a while. */
export interface PausableEngine extends Engine {
  /**
   * Stops the engine, does the work, and starts the engine again at the same endpoint, also when the work fails. The
   * signal is aborted when the engine shall end for good meanwhile.
   */
  pause(work: (signal: AbortSignal) => Promise<void>): Promise<void>;
}

/**
 * Starts the embedded engine on a file, after an import that died there is finished or forgotten.
 * @throws EngineMissingError, EngineError
 */
export async function startPausableEngine(file: string): Promise<PausableEngine> {
  await finishImport(file);
  let engine = await startEngine(file);
  const { endpoint } = engine;
  const stopping = new AbortController();
  let paused: Promise<void> | undefined;
  const ended = Promise.withResolvers<void>();
  const watch = () => {
    void engine.ended.then(() => {
      if (!paused) ended.resolve();
    });
  };
  watch();

  const pause = async (work: (signal: AbortSignal) => Promise<void>) => {
    await engine.stop();
    try {
      stopping.signal.throwIfAborted();
      await work(stopping.signal);
    } finally {
      if (!stopping.signal.aborted) {
        engine = await startEngineOn(Number(new URL(endpoint).port), file);
        watch();
      }
    }
  };
  return {
    endpoint,
    ended: ended.promise,
    async pause(work) {
      paused = pause(work);
      try {
        await paused;
      } finally {
        paused = undefined;
      }
    },
    async stop() {
      stopping.abort(new EngineError('The embedded DynamoDB engine was stopped.'));
      await paused?.catch(() => undefined);
      await engine.stop();
      ended.resolve();
    },
  };
}
