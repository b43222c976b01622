import { execFile } from 'node:child_process';

const mostMinutes = 10;

/**
 * Runs a command and returns what it printed; throws with all of that if it fails, or does not end.
 */
export function run(
  cwd: string,
  command: string,
  args: string[],
  variables: NodeJS.ProcessEnv = {},
): Promise<string> {
  return new Promise((done, fail) => {
    const options = {
      cwd,
      env: { ...process.env, ...variables },
      maxBuffer: 64 * 1024 * 1024,
      timeout: mostMinutes * 60_000,
    };
    execFile(command, args, options, (error, stdout, stderr) => {
      const why = error?.killed ? `did not end within ${mostMinutes} minutes` : 'failed';
      if (error) {
        fail(
          new Error(`${command} ${args.join(' ')} ${why}:\n${stdout}${stderr}`, { cause: error }),
        );
      } else {
        done(stdout);
      }
    });
  });
}

/** What a check of a package says, in its name, and expects. */
export function checks(name: string) {
  return {
    report: (line: string) => console.log(`${name}: ${line}`),
    require(condition: boolean, expectation: string): void {
      if (!condition) throw new Error(`${name}: expected ${expectation}`);
    },
  };
}
