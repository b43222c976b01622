import { execFile } from 'node:child_process';

/** Runs a command and returns what it printed; throws with all of that if it fails. */
export function run(cwd: string, command: string, args: string[], variables: NodeJS.ProcessEnv = {}): Promise<string> {
  return new Promise((done, fail) => {
    const options = { cwd, env: { ...process.env, ...variables }, maxBuffer: 64 * 1024 * 1024 };
    execFile(command, args, options, (error, stdout, stderr) => {
      if (error) fail(new Error(`${command} ${args.join(' ')} failed:\n${stdout}${stderr}`, { cause: error }));
      else done(stdout);
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
