import { execFile } from 'node:child_process';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Documented } from './documented-commands.ts';

/** One call of a program: its name and arguments, as the shell passed them. */
export type Call = { where: string; args: string[] };

const stubbed = ['aws', 'cdk', 'curl', 'gh', 'git', 'node', 'npm', 'npx'];

/**
 * Notes its call, NUL after each word and a record separator after the last, and prints what a
 * later command may read.
 */
const stubOf = (name: string) => `printf '%s\\0' "$WHERE" ${name} "$@" >>"$CALLS"
printf '\\036' >>"$CALLS"
case "$*" in
  *StateMachineArn*) echo arn:aws:states:eu-central-1:123456789012:stateMachine:Load ;;
  *'key create'*) echo bagadres_acme_example ;;
  *BaseUrl*) echo https://api.example ;;
  *) echo example ;;
esac
`;

/**
 * Runs the pieces in one shell, in order, with stubs on its path. A piece that the shell refuses is
 * a problem.
 */
export async function runInShell(
  pieces: readonly Documented[],
): Promise<{ calls: Call[]; problems: string[] }> {
  const folder = await mkdtemp(join(tmpdir(), 'bag-adres-rehearsal-'));
  try {
    for (const name of stubbed) {
      await writeFile(join(folder, name), `#!/bin/sh\n${stubOf(name)}`);
      await chmod(join(folder, name), 0o755);
    }
    const calls = join(folder, 'calls');
    const failures = join(folder, 'failures');
    await writeFile(calls, '');
    await writeFile(failures, '');
    // Files that a command reads, and that its reader has.
    for (const { shell } of pieces) {
      for (const [, name] of shell.matchAll(/[^<]<\s*([\w.-]+)/g)) {
        await writeFile(join(folder, `${name}`), '');
      }
    }
    const script = join(folder, 'script');
    // Functions of the shell, with the files for programs that start another: a process for each
    // takes a while.
    const functions = stubbed.map((name) => `${name}() {\n${stubOf(name)}}`);
    await writeFile(script, [...functions, ...pieces.map(shellOf)].join('\n'));
    const env = { PATH: `${folder}:/usr/bin:/bin`, CALLS: calls, FAILURES: failures, HOME: folder };
    const running = promisify(execFile)('bash', [script], { cwd: folder, env });
    running.child.stdin?.end(); // or a command that asks for something waits
    await running;
    return {
      calls: (await readFile(calls, 'utf8')).split('\u001e').slice(0, -1).map(callOf),
      problems: (await readFile(failures, 'utf8')).split('\n').filter((line) => line !== ''),
    };
  } finally {
    await rm(folder, { recursive: true });
  }
}

/**
 * One session for all: `eval` contains an error of syntax, and an undefined variable or a failed
 * command is noted.
 */
function shellOf({ where, shell }: Documented): string {
  const quoted = `'${shell.replaceAll("'", `'\\''`)}'`;
  // Folders of the reader's machine are not there.
  return [
    'cd() { :; }',
    'sleep() { :; }',
    `export WHERE=${where}`,
    `(set -u; eval ${quoted}) >/dev/null 2>"$FAILURES.now"`,
    // A command that is not found within another one fails without a trace in the exit code.
    // Read by the shell: a process for each of a hundred pieces takes longer than the pieces.
    `failed=$?; read -r -d '' said <"$FAILURES.now"`,
    `if [ $failed -ne 0 ] || [[ $said == *'not found'* ]]; then`,
    `  echo "${where}: the shell says: $(tail -1 "$FAILURES.now")" >>"$FAILURES"; fi`,
    // Once more for what later pieces need: variables and functions. Its calls are noted already.
    `CALLS=/dev/null eval ${quoted} >/dev/null 2>&1 || true`,
  ].join('\n');
}

function callOf(record: string): Call {
  const [where = '', ...args] = record.split('\0').slice(0, -1);
  return { where, args };
}
