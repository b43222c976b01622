import { spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { type AddressInfo, createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { retryWithBackoff } from '../../core/retry.ts';

/**
 * The embedded engine is not installed, or in another version. The message says how to get it, or
 * another one.
 */
export class EngineMissingError extends Error {
  override name = 'EngineMissingError';
}

/** The version in package.json, whose database files we write: see `engineBulkImport`. */
const engineVersion: string = JSON.parse(
  readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
).optionalDependencies?.['@dynoxide/linux-x64'];

/** How a shell of the platform sets a variable before a command. */
function setVariable(platform: string, name: string, value: string): string {
  return platform === 'win32' ? `set ${name}=${value}&&` : `${name}=${value}`;
}

/**
 * The path of the embedded DynamoDB engine, which is an optional dependency.
 * @throws EngineMissingError when there is no package for this platform, it was not installed, or
 * in another version
 */
export function engineBinary(
  platform: string = process.platform,
  arch: string = process.arch,
  version: string = engineVersion,
): string {
  const name = `@dynoxide/${platform}-${arch}`;
  const require = createRequire(import.meta.url);
  let binary: string | undefined;
  let installed: string | undefined;
  try {
    binary = require.resolve(`${name}/dynoxide${platform === 'win32' ? '.exe' : ''}`);
    installed = require(`${name}/package.json`).version;
  } catch {
    // There is no such package, or only a part of it.
  }
  if (binary !== undefined && installed === version) return binary;
  const problem =
    installed === undefined
      ? 'is not installed on this machine'
      : `is version ${installed}, not ${version}`;
  throw new EngineMissingError(
    `The embedded DynamoDB engine (${name}) ${problem}. ` +
      `Install it ("npm ci" without "--omit=optional"), or paste the first line and the last two:\n` +
      `  npm install --no-save ${name}@${version}\n` +
      '  docker run --detach --publish 127.0.0.1:8000:8000 amazon/dynamodb-local\n' +
      `  ${setVariable(platform, 'AWS_ENDPOINT_URL_DYNAMODB', 'http://127.0.0.1:8000')} npm start`,
  );
}

/**
 * A loopback endpoint that was free a moment ago; the caller has to cope with its port being taken
 * since. The engine answers anyone who finds it, whatever the signature, and allows web pages of
 * any origin. So its address is a random one of the 16 million that Linux has for the loopback
 * interface: a page or a port scan can't find it.
 */
async function freeEndpoint(): Promise<string> {
  const host =
    process.platform === 'linux'
      ? `127.${randomInt(1, 255)}.${randomInt(256)}.${randomInt(1, 255)}`
      : '127.0.0.1';
  return `http://${host}:${await requireFreePort(host, 0)}`;
}

/**
 * Checks that a port can be listened on, and returns it, or a free one for 0.
 * @throws an error with code `EADDRINUSE`, `EACCES`, `EADDRNOTAVAIL` or `ENOTFOUND`
 */
export async function requireFreePort(host: string, wanted: number): Promise<number> {
  const server = createServer().listen(wanted, host);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/** A child process that never outlives this one. */
export type GuardedProcess = {
  /** Resolves with the exit code; `null` when it could not be started or was killed. */
  readonly ended: Promise<number | null>;
  /** The end of its standard error. */
  errorOutput(): string;
  /** Ends the process and resolves when it has exited. Safe to call again. */
  stop(): Promise<void>;
};

/**
 * The process must not outlive us, not even after SIGKILL, which leaves no time to stop it. However
 * we end, our end of the pipe on the shell's standard input closes; the shell's `read` then
 * returns, and it kills the process.
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

/** The same in Node, for a machine without a shell at this path. It takes 40 MB more. */
const guardedRunInNode = `
const { spawn } = require('node:child_process');
const [command, ...args] = process.argv.slice(1);
const child = spawn(command, args, { stdio: ['ignore', 'ignore', 'inherit'] });
child.on('error', (error) => { console.error(error.message); process.exit(127); });
child.on('exit', (code) => process.exit(code ?? 1));
process.stdin.on('close', () => child.kill()).on('error', () => child.kill()).resume();
`;

const shell = '/bin/sh';
const stopMilliseconds = 5_000;
const errorOutputCharacters = 2_000;

/** Runs a command. */
export function startGuarded(
  command: string,
  args: readonly string[],
  hasShell = existsSync(shell),
): GuardedProcess {
  // In its own session, so that Ctrl-C in a terminal reaches only our process: requests in progress
  // still need the engine.
  const guard = hasShell
    ? { program: shell, options: ['-c', guardedRun, 'guarded'] }
    : { program: process.execPath, options: ['--eval', guardedRunInNode, '--'] };
  const child = spawn(guard.program, [...guard.options, command, ...args], {
    detached: true,
    windowsHide: true,
    stdio: ['pipe', 'ignore', 'pipe'],
  });
  let printed = '';
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    printed = (printed + chunk).slice(-errorOutputCharacters);
  });
  const ended = new Promise<number | null>((resolve) => {
    child.once('error', () => resolve(null));
    child.once('close', resolve);
  });
  child.stdin.on('error', () => undefined);
  return {
    ended,
    errorOutput: () => printed,
    async stop() {
      child.stdin.end();
      const { pid } = child;
      const kill = setTimeout(() => {
        // The process group: the shell, its guard and the process.
        if (process.platform === 'win32') child.kill('SIGKILL');
        else if (pid !== undefined) process.kill(-pid, 'SIGKILL');
      }, stopMilliseconds);
      await ended;
      clearTimeout(kill);
    },
  };
}

/**
 * Region and credentials for an engine on this machine; the SDK requires them, engines ignore them.
 */
export const localAws = {
  region: 'eu-west-1',
  credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
};

/** A running embedded DynamoDB engine. */
export type Engine = {
  /** `http://127.93.12.201:41234` */
  readonly endpoint: string;
  /** Resolves when the engine has ended, for whatever reason; never rejects. */
  readonly ended: Promise<void>;
  /** Stops the engine and resolves when its process has exited. Safe to call again. */
  stop(): Promise<void>;
};

/** The engine did not start or failed; the message holds its output. */
export class EngineError extends Error {
  override name = 'EngineError';
}

const startAttempts = 5;
const startMilliseconds = 10_000;

/**
 * Starts the embedded engine on a free loopback endpoint and resolves when it answers.
 * @param file its database; in memory if absent
 * @param meanwhile called when its process was started, which takes a moment to answer
 * @throws EngineMissingError, EngineError
 */
export async function startEngine(file?: string, meanwhile?: () => void): Promise<Engine> {
  return retryWithBackoff(async () => startEngineAt(await freeEndpoint(), file, meanwhile), {
    attempts: startAttempts,
    firstPauseMilliseconds: 0,
    retryIf: (error) => error instanceof EngineError && error.message.includes('already in use'),
  });
}

/** Starts the embedded engine at this endpoint. @throws EngineMissingError, EngineError */
export async function startEngineAt(
  endpoint: string,
  file?: string,
  meanwhile?: () => void,
): Promise<Engine> {
  const { hostname, port } = new URL(endpoint);
  const database = file === undefined ? [] : ['--db-path', file];
  const { ended, errorOutput, stop } = startGuarded(engineBinary(), [
    'serve',
    '--host',
    hostname,
    '--port',
    port,
    ...database,
  ]);
  meanwhile?.();
  const engine = { endpoint, ended: ended.then(() => undefined), stop };
  try {
    await ready(engine, errorOutput);
  } catch (error) {
    await engine.stop();
    throw error;
  }
  return engine;
}

/**
 * The engine reports on standard error that it is listening; connections that come before it
 * accepts them wait.
 */
async function ready(engine: Engine, errorOutput: () => string): Promise<void> {
  let gone = false;
  void engine.ended.then(() => {
    gone = true;
  });
  const deadline = Date.now() + startMilliseconds;
  while (Date.now() < deadline) {
    if (gone) {
      throw new EngineError(
        `The embedded DynamoDB engine did not start: ${errorOutput().trim() || 'it printed nothing'}`,
      );
    }
    if (errorOutput().includes('listening on')) return;
    await sleep(1);
  }
  throw new EngineError(
    `The embedded DynamoDB engine did not start within ${startMilliseconds / 1000} s: ${errorOutput()}`,
  );
}

/**
 * Whether an error means that the disk or the user's quota is full, reported by Node or by the
 * embedded engine.
 */
export function isDiskFull(error: unknown): boolean {
  const { code, message } = error as NodeJS.ErrnoException;
  return (
    code === 'ENOSPC' || code === 'EDQUOT' || /disk is full|No space left on device/i.test(message)
  );
}
