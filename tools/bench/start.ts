import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { environment } from '../../core/environment.ts';
import { projectRoot, readLocalState } from '../../local/data-folder.ts';
import { lambdaEnvironment, newAccount } from '../../test/support/address-service.ts';
import { readyText, start } from '../../test/support/start.ts';
import { administer, type Lookup, lookUp } from '../local-run.ts';
import type { Benchmark } from './benchmark.ts';
import { inTurn, median, pairedRatio, rounded } from './measure.ts';

const rounds = 9;

/**
 * Time from `npm start` to its first answered lookup, on a new folder and on the data of an earlier
 * start, against a bare server of Node's with the same engine and the same two SDK calls, which npm
 * starts as well. `npm_ms` is what npm takes to start a script that does nothing.
 */
export const benchmark: Benchmark = {
  async run() {
    await using resources = new AsyncDisposableStack();
    const folder = await mkdtemp(join(tmpdir(), 'bench-start-'));
    resources.defer(() => rm(folder, { recursive: true }));
    const second = join(folder, 'second');
    const database = join(folder, 'bare.db');
    const { key, variables } = await prepare(second, database);
    const bare = await npmPackage(
      join(folder, 'bare'),
      `exec node ${quoted(bareProgram)} ${quoted(database)}`,
    );
    const empty = await npmPackage(join(folder, 'empty'), 'exec node --eval 0');
    const serve = (data: string) => () =>
      timed(projectRoot, ['--', '--port', '0', '--data', data], serviceIn);
    let folders = 0;
    const milliseconds = await inTurn(rounds, {
      new_folder: () => serve(join(folder, `new-${folders++}`))(),
      second: serve(second),
      bare: () => timed(bare, [], (printed) => bareIn(printed, key), variables),
      npm: () => timed(empty),
    });
    const figures = (name: 'new_folder' | 'second') => ({
      first_answer_ms: rounded(median(milliseconds[name]), 3),
      first_answer_ms_at_most: rounded(Math.max(...milliseconds[name]), 3),
      time_ratio_to_bare: rounded(pairedRatio(milliseconds[name], milliseconds.bare), 3),
    });
    return {
      rounds,
      new_folder: figures('new_folder'),
      second_start: figures('second'),
      bare_first_answer_ms: rounded(median(milliseconds.bare), 3),
      npm_ms: rounded(median(milliseconds.npm), 3),
    };
  },
};

const bareProgram = join(import.meta.dirname, 'start-parts/bare-start.ts');
const quoted = (path: string) => `'${path.replaceAll("'", "'\\''")}'`;

/** A start whose data the others use; it also synthesizes and compiles what later starts keep. */
async function prepare(data: string, database: string) {
  const service = start(['--port', '0', '--data', data], { line: 'npm start' });
  await service.until(readyText);
  const state = await readLocalState(data);
  // The bare server can't begin a window, so none may end during the run.
  const { key } = await administer(state, (admin) =>
    newAccount({ admin }, { day: 1e9, month: null }),
  );
  service.child.kill('SIGINT');
  await service.ended;
  await copyFile(join(data, 'dynamodb.db'), database);
  const variables = {
    ...lambdaEnvironment(state.endpoint),
    [environment.accountsTable]: state.accountsTable,
    [environment.addressesTable]: state.addressesTable,
    NODE_COMPILE_CACHE: join(projectRoot, 'node_modules/.cache/compile'),
  };
  return { key, variables };
}

/** A package whose `npm start` runs the command. */
async function npmPackage(folder: string, command: string): Promise<string> {
  await mkdir(folder);
  await writeFile(join(folder, 'package.json'), JSON.stringify({ scripts: { start: command } }));
  return folder;
}

function serviceIn(printed: string): Lookup | undefined {
  const [, key, url] = /curl -H 'X-API-Key: (\w+)' '(\S+)'/.exec(printed) ?? [];
  return key && url ? { key, url } : undefined;
}

function bareIn(printed: string, key: string): Lookup | undefined {
  const [, port] = /port (\d+)\./.exec(printed) ?? [];
  return port ? { key, url: `http://127.0.0.1:${port}/` } : undefined;
}

/**
 * Milliseconds from `npm start` in a folder to the answer of the lookup that it prints, or to its
 * end if it prints none; then stops it.
 */
async function timed(
  cwd: string,
  args: readonly string[] = [],
  lookupIn: (printed: string) => Lookup | undefined = () => undefined,
  variables: Record<string, string> = {},
): Promise<number> {
  // The Node of this project for the packages too, as the scripts of the project have it.
  const path = [dirname(process.execPath), process.env.PATH].join(delimiter);
  const begin = performance.now();
  const child = spawn('npm', ['start', ...args], {
    cwd,
    env: { ...process.env, PATH: path, ...variables },
  });
  const ended = once(child, 'close');
  let printed = '';
  let lookup: Lookup | undefined;
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8');
  child.stderr.on('data', (chunk: string) => process.stderr.write(chunk));
  for await (const chunk of child.stdout) {
    printed += chunk;
    lookup = lookupIn(printed);
    if (lookup) break;
  }
  if (lookup) await lookUp(lookup);
  else {
    await ended;
  }
  const milliseconds = performance.now() - begin;
  child.kill('SIGINT');
  await ended;
  return milliseconds;
}
