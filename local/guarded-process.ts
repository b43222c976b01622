import { spawn } from 'node:child_process';

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
