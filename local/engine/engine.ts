import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { type AddressInfo, createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** There is no embedded engine for this machine; the message says how to point at another one. */
export class EngineMissingError extends Error {
  override name = 'EngineMissingError';
}

/**
 * The path of the embedded DynamoDB engine for this machine, as the optional dependency installed it.
 * @throws EngineMissingError where the package does not exist for the machine or was left out of the install
 */
export function engineBinary(platform: string = process.platform, arch: string = process.arch): string {
  const name = `@dynoxide/${platform}-${arch}`;
  try {
    return createRequire(import.meta.url).resolve(`${name}/dynoxide`);
  } catch (cause) {
    throw new EngineMissingError(
      `The embedded DynamoDB engine (${name}) is not installed on this machine. ` +
        'Where the package exists for it, run "npm ci" without "--omit=optional". Otherwise start any engine that speaks ' +
        "DynamoDB's API, for instance Amazon's DynamoDB Local, and point at it: " +
        'AWS_ENDPOINT_URL_DYNAMODB=http://127.0.0.1:8000 npm start',
      { cause },
    );
  }
}

/** A TCP port of the loopback interface that was free a moment ago; the taker must be ready to find it taken. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/** A process that ends no later than we do. */
export interface GuardedProcess {
  /** Resolves with its exit code when it has ended, asked for or not; `null` when it could not be started or was killed. */
  readonly ended: Promise<number | null>;
  /** The last of what it wrote on standard error. */
  said(): string;
  /** Ends it and resolves when it is gone; calling it twice is harmless. */
  stop(): Promise<void>;
}

/**
 * The process must not outlive us, not even when we are killed with SIGKILL. Our end of the pipe on the shell's standard
 * input closes whatever way we go; the shell's `read` returns then, and it ends the process.
 */
const guardedRun = `
exec 3<&0
"$@" </dev/null 3<&- &
child=$!
{ read -r _ <&3; kill "$child"; } 2>/dev/null &
guard=$!
wait "$child"
code=$?
kill "$guard" 2>/dev/null
exit "$code"
`;

const stopMilliseconds = 5_000;
const saidCharacters = 2_000;

/** Runs a command with these variables beside our own environment. */
export function startGuarded(
  command: string,
  args: readonly string[],
  variables: NodeJS.ProcessEnv = {},
): GuardedProcess {
  // A session of its own, so that Ctrl-C in a terminal reaches us only: we end the process when nobody needs it any more.
  const child = spawn('/bin/sh', ['-c', guardedRun, 'guarded', command, ...args], {
    detached: true,
    stdio: ['pipe', 'ignore', 'pipe'],
    env: { ...process.env, ...variables },
  });
  let text = '';
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    text = (text + chunk).slice(-saidCharacters);
  });
  const ended = new Promise<number | null>((resolve) => {
    child.once('error', () => resolve(null));
    child.once('close', resolve);
  });
  child.stdin.on('error', () => undefined);
  return {
    ended,
    said: () => text,
    async stop() {
      child.stdin.end();
      const { pid } = child;
      const kill = setTimeout(() => {
        // The whole group: the shell, its guard and the process.
        if (pid !== undefined) process.kill(-pid, 'SIGKILL');
      }, stopMilliseconds);
      await ended;
      clearTimeout(kill);
    },
  };
}

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
