import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CommanderError } from 'commander';
import { commandLine, runCommandLine } from '../../bin/bag-adres.ts';
import { writeLocalState } from '../../local/data-folder.ts';
import { destructive } from '../../operator/cli/command.ts';
import { createTables, startDynamoDb } from '../support/dynamodb.ts';

/** Answers the questions of a command. */
type Ask = (question: string) => Promise<string>;

/** How a command ended and what it printed. */
export type Ended = { exit: number | null; out: string; err: string };

const program = fileURLToPath(new URL('../../bin/bag-adres.ts', import.meta.url));

/**
 * Why words after `bag-adres` are no command that can be run as they are; `undefined` if they are.
 */
export async function usageFault(words: readonly string[]): Promise<string | undefined> {
  const quiet = { out: () => undefined, err: () => undefined, env: {} };
  const program = commandLine(quiet, true).hook('preAction', () => {
    throw new Error('valid');
  });
  try {
    await program.parseAsync(words, { from: 'user' });
  } catch (error) {
    const isHelp = error instanceof CommanderError && error.exitCode === 0;
    if (!isHelp && (error as Error).message !== 'valid') return (error as Error).message;
  }
  return words.find((word) => /^[A-Z][A-Z_]+$/.test(word)) && 'it has a placeholder';
}

/** The words of a hint, as a shell reads them. */
const wordsOf = (hint: string) =>
  [...hint.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, word]) => quoted ?? word ?? '');

/** What a hint must be, so that it can be run here: it reads, or only says what it would do. */
const reads = new RegExp(
  '^(?:account (?:list|show|audit|usage)|key (?:list|find)|member list|plan (?:list|audit)|session list|' +
    'usage (?:months|statement)|person export|load (?:status|history|plan|explain))\\b',
);
const planned = Object.keys(destructive).filter((command) => destructive[command] === 'asks');
const plans = new RegExp(`^(?:account (?:suspend|activate)|${planned.join('|')})\\b`);
let isPasting = false;

/**
 * Whatever a command prints, the commands that it quotes can be pasted: those that change nothing
 * are run.
 */
async function checkHints(text: string): Promise<void> {
  for (const [, hint = ''] of text.matchAll(/"npx bag-adres ([^"\\]+)/g)) {
    const words = wordsOf(hint);
    const fault = await usageFault(words);
    if (fault !== undefined) throw new Error(`A hint that can't be pasted: ${hint}: ${fault}`);
    if (isPasting || !hint.includes('--local') || !(reads.test(hint) || plans.test(hint))) continue;
    isPasting = true;
    try {
      const { exit, err } = await run([...words, ...(plans.test(hint) ? ['--plan'] : [])]);
      if (exit !== 0) throw new Error(`A hint that fails when it is pasted: ${hint}: ${err}`);
    } finally {
      isPasting = false;
    }
  }
}

/**
 * Runs the command line in this process, with `--yes` where a command would ask and nobody can
 * answer.
 */
export async function run(
  args: string[],
  env: NodeJS.ProcessEnv = {},
  folder?: string,
  ask?: Ask,
): Promise<Ended> {
  const words = args.join(' ');
  const asks = Object.entries(destructive).some(
    ([command, how]) => how === 'asks' && words.startsWith(command),
  );
  const isDecided = ['--yes', '--plan', '--help'].some((option) => args.includes(option));
  return runUnattended(asks && !isDecided && !ask ? [...args, '--yes'] : args, env, folder, ask);
}

/** Runs the command line in this process, on no terminal unless there is `ask`. */
export async function runUnattended(
  args: string[],
  env: NodeJS.ProcessEnv = {},
  folder?: string,
  ask?: Ask,
): Promise<Ended> {
  const out: string[] = [];
  const err: string[] = [];
  const terminal = {
    out: (text: string) => out.push(text),
    err: (text: string) => err.push(text),
    env,
  };
  const exit = await runCommandLine(args, {
    ...terminal,
    ...(folder !== undefined && { folder }),
    ...(ask && { ask }),
  });
  await checkHints([...out, ...err].join('\n'));
  return { exit, out: out.join('\n'), err: err.join('\n') };
}

/**
 * Runs the command line in this process with `env` and no AWS settings of this machine, where the
 * SDK finds them: in the environment of the process. For one command at a time; a process of its
 * own costs ten times as much.
 */
export async function runWith(
  args: string[],
  env: NodeJS.ProcessEnv = {},
  folder?: string,
): Promise<Ended> {
  const before = process.env;
  process.env = withoutAws(env);
  try {
    return await run(args, process.env, folder);
  } finally {
    process.env = before;
  }
}

/**
 * Runs it as an operator does: a process of its own, with `env` and no AWS settings of this
 * machine.
 */
export async function runProcess(args: string[], env: NodeJS.ProcessEnv = {}): Promise<Ended> {
  const child = spawn(process.execPath, [program, ...args], {
    env: withoutAws(env),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let out = '';
  let err = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    err += text;
  });
  const exit = await new Promise<number | null>((resolve) => child.on('close', resolve));
  return { exit, out, err };
}

function withoutAws(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const nowhere = join(tmpdir(), 'no-such-folder');
  return {
    PATH: process.env.PATH,
    NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
    HOME: nowhere,
    AWS_CONFIG_FILE: nowhere,
    AWS_SHARED_CREDENTIALS_FILE: nowhere,
    AWS_EC2_METADATA_DISABLED: 'true',
    ...env,
  };
}

const split = ([first = '', ...words]: string[]) => [...first.split(' '), ...words];

/**
 * A real engine with empty tables and a data folder that says where it is, as the running service
 * leaves one.
 */
export async function startLocalRun() {
  const engine = await startDynamoDb();
  await createTables(engine.client, { addresses: 'addresses', accounts: 'accounts' });
  const data = await mkdtemp(join(tmpdir(), 'bag-adres-'));
  await writeLocalState(data, {
    pid: process.pid,
    baseUrl: 'http://127.0.0.1:1',
    endpoint: engine.endpoint,
    addressesTable: 'addresses',
    accountsTable: 'accounts',
    storageFolder: data,
  });
  const local = ['--local', '--data', data];
  return {
    ...engine,
    local,
    data,
    /** Runs words, of which the first may be several: `plan list`. */
    run: (...words: string[]) => run([...split(words), ...local]),
    /**
     * Runs words on a terminal where each question gets `answer`; the questions come with the
     * result.
     */
    runAnswering: async (answer: string, ...words: string[]) => {
      const asked: string[] = [];
      const ask = (question: string) => {
        asked.push(question);
        return Promise.resolve(answer);
      };
      return { ...(await run([...split(words), ...local], {}, undefined, ask)), asked };
    },
    json: async (...words: string[]) =>
      JSON.parse((await run([...split(words), ...local, '--json'])).out),
    stop: async () => {
      await engine.stop();
      await rm(data, { recursive: true });
    },
  };
}
