import { setTimeout as sleep } from 'node:timers/promises';
import { engineBinary } from './engine-binary.ts';
import { freePort } from './free-port.ts';
import { startGuarded } from './guarded-process.ts';

/** A running embedded DynamoDB engine. */
export interface Engine {
  /** `http://127.0.0.1:PORT` */
  readonly endpoint: string;
  /** Settles when the engine has ended, asked for or not; never rejects. */
  readonly ended: Promise<void>;
  /** Ends the engine and resolves when its process is gone; calling it twice is harmless. */
  stop(): Promise<void>;
}

/** The engine did not start, or did not do what it was asked; the message holds what it said. */
export class EngineError extends Error {
  override name = 'EngineError';
}

const startAttempts = 5;
const startMilliseconds = 10_000;

/**
 * Starts the embedded engine on a free loopback port and resolves when it answers.
 * @param file its database; in memory when left out
 * @throws EngineMissingError, EngineError
 */
export async function startEngine(file?: string): Promise<Engine> {
  for (let attempt = 1; ; attempt++) {
    const port = await freePort();
    try {
      return await startEngineOn(port, file);
    } catch (error) {
      const portTaken = error instanceof EngineError && error.message.includes('already in use');
      if (!portTaken || attempt === startAttempts) throw error;
    }
  }
}

/** The same on this very port. */
export async function startEngineOn(port: number, file?: string): Promise<Engine> {
  const database = file === undefined ? [] : ['--db-path', file];
  const { ended, said, stop } = startGuarded(engineBinary(), ['serve', '--port', `${port}`, ...database]);
  const engine = { endpoint: `http://127.0.0.1:${port}`, ended: ended.then(() => undefined), stop };
  try {
    await ready(engine, said);
  } catch (error) {
    await engine.stop();
    throw error;
  }
  return engine;
}

/** The engine says on standard error that it listens, and then answers a plain GET with a line of text. */
async function ready(engine: Engine, said: () => string): Promise<void> {
  let gone = false;
  void engine.ended.then(() => {
    gone = true;
  });
  const deadline = Date.now() + startMilliseconds;
  while (Date.now() < deadline) {
    if (gone) throw new EngineError(`The embedded DynamoDB engine did not start: ${said().trim() || 'no message'}`);
    if (said().includes('listening on') && (await answers(engine.endpoint))) return;
    await sleep(5);
  }
  throw new EngineError(`The embedded DynamoDB engine did not answer within ${startMilliseconds / 1000} s: ${said()}`);
}

async function answers(endpoint: string): Promise<boolean> {
  try {
    const response = await fetch(endpoint, { signal: AbortSignal.timeout(1_000) });
    return (await response.text()).startsWith('healthy');
  } catch {
    return false;
  }
}
