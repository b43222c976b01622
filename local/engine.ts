import { type ChildProcess, spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { engineBinary } from './engine-binary.ts';
import { freePort } from './free-port.ts';

/** A running embedded DynamoDB engine. */
export interface Engine {
  /** `http://127.0.0.1:PORT` */
  readonly endpoint: string;
  /** Settles when the engine has ended, asked for or not; never rejects. */
  readonly ended: Promise<void>;
  /** Ends the engine and resolves when its process is gone; calling it twice is harmless. */
  stop(): Promise<void>;
}

/** The engine did not start; the message holds what it said. */
export class EngineError extends Error {
  override name = 'EngineError';
}

/**
 * The engine must not outlive us, not even when we are killed with SIGKILL. Our end of the pipe on the shell's standard
 * input closes whatever way we go; the shell's `read` returns then, and it ends the engine.
 */
const guardedRun = `
exec 3<&0
"$@" </dev/null 3<&- &
engine=$!
{ read -r _ <&3; kill "$engine"; } 2>/dev/null &
guard=$!
wait "$engine"
code=$?
kill "$guard" 2>/dev/null
exit "$code"
`;

const startAttempts = 5;
const startMilliseconds = 10_000;
const stopMilliseconds = 5_000;

/**
 * Starts the embedded engine on a free loopback port and resolves when it answers.
 * @param file its database; in memory when left out
 * @throws EngineMissingError, EngineError
 */
export async function startEngine(file?: string): Promise<Engine> {
  const binary = engineBinary();
  for (let attempt = 1; ; attempt++) {
    const port = await freePort();
    try {
      return await startOn(binary, port, file);
    } catch (error) {
      const portTaken = error instanceof EngineError && error.message.includes('already in use');
      if (!portTaken || attempt === startAttempts) throw error;
    }
  }
}

async function startOn(binary: string, port: number, file: string | undefined): Promise<Engine> {
  const database = file === undefined ? [] : ['--db-path', file];
  // A session of its own, so that Ctrl-C in a terminal reaches us only: we end the engine after the last request.
  const child = spawn('/bin/sh', ['-c', guardedRun, 'engine', binary, 'serve', '--port', `${port}`, ...database], {
    detached: true,
    stdio: ['pipe', 'ignore', 'pipe'],
  });
  const said = collect(child);
  const ended = new Promise<void>((resolve) => {
    child.once('error', () => resolve());
    child.once('close', () => resolve());
  });
  child.stdin?.on('error', () => undefined);
  const engine = { endpoint: `http://127.0.0.1:${port}`, ended, stop: () => stop(child, ended) };
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

async function stop(child: ChildProcess, ended: Promise<void>): Promise<void> {
  child.stdin?.end();
  const { pid } = child;
  const kill = setTimeout(() => {
    // The whole group: the shell, its guard and the engine.
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  }, stopMilliseconds);
  await ended;
  clearTimeout(kill);
}

/** The last of what the engine wrote on standard error, which is where it says that it listens, or why it doesn't. */
function collect(child: ChildProcess): () => string {
  let text = '';
  child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
    text = (text + chunk).slice(-2_000);
  });
  return () => text;
}
