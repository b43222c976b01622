import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** A question that a program asks at the end of its output, and what a reader types. */
export type Answers = readonly (readonly [question: RegExp, answer: string])[];

/** What a piece of shell did: its exit code and all that the terminal showed. */
export type Shown = { code: number; text: string };

const mostMinutes = 10;
/** Characters at the end of what is shown, among which a question or an end is looked for. */
const lastShown = 2_000;
const interrupt = '\u0003';
/** More than `npm start` takes to stop, which a second Ctrl-C would cut short. */
const pressAgainMilliseconds = 10_000;
// biome-ignore lint/suspicious/noControlCharactersInRegex: a terminal's sequences begin with one.
const escapes = /\u001b\[[0-9;?]*[A-Za-z]|\r/g;

/**
 * A shell at a terminal, as a reader has it: variables, functions and the folder stay from one
 * piece to the next, and programs that ask only at a terminal ask here.
 */
export class Terminal {
  readonly #child: ChildProcess;
  readonly #pieces: string;
  readonly #answers: Answers;
  /** What was shown since the last piece began. */
  #shown: string[] = [];
  /** The end of that, since the last answer. */
  #last = '';
  #count = 0;
  #changed: () => void = () => undefined;

  /** @param pieces a folder for the pieces, and for `shown`, all that the terminal shows */
  constructor(folder: string, pieces: string, variables: NodeJS.ProcessEnv, answers: Answers = []) {
    this.#pieces = pieces;
    mkdirSync(pieces, { recursive: true });
    this.#answers = answers;
    // `script` gives the shell a terminal; without echo, only programs write to it.
    const shell = 'stty -echo cols 200; exec bash --noprofile --norc';
    const options = ['--quiet', '--return', '--flush', '--command', shell, join(pieces, 'shown')];
    this.#child = spawn('script', options, {
      cwd: folder,
      env: { ...process.env, PS1: '', PS2: '', PROMPT_COMMAND: '', TERM: 'dumb', ...variables },
      stdio: ['pipe', 'pipe', 'ignore'],
      detached: true,
    });
    this.#child.stdout?.on('data', (chunk) => {
      const text = String(chunk).replace(escapes, '');
      this.#shown.push(text);
      this.#last = (this.#last + text).slice(-lastShown);
      this.#answer();
      this.#changed();
    });
    this.#child.on('exit', () => this.#changed());
  }

  /**
   * Runs a piece of shell to its end, whose code is that of the last command in it that failed, or
   * until it shows `ready` and goes on. @throws Error if neither happens
   */
  async run(shell: string, ready?: RegExp): Promise<Shown> {
    this.#count++;
    const file = join(this.#pieces, `${this.#count}.sh`);
    writeFileSync(
      file,
      `failed=0
trap 'failed=$?; echo "($BASH_COMMAND: $failed)"' ERR
${shell}
trap - ERR
(exit $failed)
`,
    );
    this.#shown = [];
    this.#last = '';
    this.#child.stdin?.write(`. '${file}'; ${this.#sayEnd()}`);
    return this.#ended(ready);
  }

  /** Ends with Ctrl-C what `run` left running. @throws Error if it does not end */
  async interrupt(): Promise<Shown> {
    // The shell may drop the rest of its line, so it says the end in another one.
    const press = () => this.#child.stdin?.write(`${interrupt}${this.#sayEnd()}`);
    press();
    // The first one is lost if the shell is just starting the program.
    const again = setInterval(press, pressAgainMilliseconds);
    return this.#ended().finally(() => clearInterval(again));
  }

  #sayEnd(): string {
    return `echo "<$?> end of piece ${this.#count}"\n`;
  }

  end(): void {
    try {
      if (this.#child.pid) process.kill(-this.#child.pid, 'SIGKILL');
    } catch {
      // It has ended.
    }
  }

  async #ended(ready?: RegExp): Promise<Shown> {
    const end = new RegExp(`<(\\d+)> end of piece ${this.#count}\n`);
    const until = Date.now() + mostMinutes * 60_000;
    for (;;) {
      const [, code = ready?.test(this.#last) ? '0' : undefined] = end.exec(this.#last) ?? [];
      if (code !== undefined) return { code: Number(code), text: this.#shown.join('') };
      const left = until - Date.now();
      if (left <= 0 || this.#child.exitCode !== null) {
        throw new Error(`did not end within ${mostMinutes} minutes:\n${this.#last}`);
      }
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, left);
        this.#changed = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  }

  #answer(): void {
    const found = this.#answers.find(([question]) => question.test(this.#last));
    if (!found) return;
    this.#last = '';
    this.#child.stdin?.write(`${found[1]}\n`);
  }
}
