import { resolve } from 'node:path';
import { Command, InvalidArgumentError } from 'commander';
import { noProgress } from '../loader/progress.ts';
import { sourceLocation } from '../loader/storage/source.ts';
import { greeting, startErrorText } from './messages.ts';
import { showProgress } from './progress.ts';
import { callersFolder, defaultDataFolder } from './state.ts';

const checkMilliseconds = 1_000;

/** Calls back, once, when the npm that started us is gone without having told us; never keeps the process up. */
export function whenOrphaned(callback: () => void): void {
  if (process.env.npm_lifecycle_event === undefined) return;
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    callback();
  }, checkMilliseconds);
  timer.unref();
}

interface Options {
  readonly extract?: string;
  readonly port: number;
  readonly host: string;
  readonly data?: string;
  readonly fresh: boolean;
}

/** A progress bar hides the cursor; one that is cut off leaves it hidden. */
const showCursor = '\u001b[?25h';

const program = new Command('npm start --')
  .description('Runs the whole address service on this machine, on the demo extract or on a real one.')
  .option(
    '--extract <where>',
    'a BAG extract, of the country or of a municipality: a file, a URL or s3://BUCKET/KEY',
    source,
  )
  .option('--port <number>', 'the port to serve on; 0 picks a free one', portNumber, 3000)
  .option('--host <address>', 'the address to serve on; 0.0.0.0 is every one of this machine', '127.0.0.1')
  .option('--data <folder>', 'where the data stays between two starts (default: .data)', folder)
  .option('--fresh', 'begin again, without what an earlier start left', false)
  .addHelpText(
    'after',
    '\nAWS_ENDPOINT_URL_DYNAMODB in the environment is the DynamoDB engine to use instead of the embedded one.',
  )
  .allowExcessArguments(false)
  .action(start);

await program.parseAsync();

async function start(options: Options): Promise<void> {
  const { host, port, fresh } = options;
  const { extract, data: dataFolder = defaultDataFolder } = options;
  const endpoint = process.env.AWS_ENDPOINT_URL_DYNAMODB || undefined;
  const resources = new AsyncDisposableStack();

  let leaving = false;
  const leave = async (exitCode: number) => {
    // A second Ctrl-C does not wait; the engine ends with us whatever happens.
    if (leaving) process.exit(130);
    leaving = true;
    if (process.stderr.isTTY) process.stderr.write(showCursor);
    await resources.disposeAsync().catch((error) => console.error(error));
    process.exit(exitCode);
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => void leave(0));
  whenOrphaned(() => void leave(0));

  try {
    // Only now: what it needs takes a while to load, and "--help" should not.
    const { startService } = await import('./service.ts');
    const service = await startService(
      {
        dataFolder,
        host,
        port,
        fresh,
        extract,
        endpoint,
        // The demo is loaded before anyone could read how far it is.
        progress: extract === undefined ? noProgress : showProgress(),
        tell: (line) => console.log(line),
        onAnswer: ({ method, route, statusCode, milliseconds }) => {
          console.log(`${method} ${route?.split(' ').at(-1) ?? '(no route)'} ${statusCode} in ${milliseconds} ms`);
        },
      },
      resources,
    );
    console.log(greeting(service, dataFolder));
    await service.engineEnded;
    if (leaving) return;
    console.error('The DynamoDB engine has ended by itself, so this ends too.');
  } catch (error) {
    if (leaving) return;
    console.error(startErrorText(error, { host, port, endpoint, dataFolder }));
  }
  await leave(1);
}

function portNumber(text: string): number {
  const port = Number(text);
  if (!/^\d+$/.test(text) || port > 65_535) throw new InvalidArgumentError('A port is a number from 0 to 65535.');
  return port;
}

function folder(text: string): string {
  return resolve(callersFolder(), given(text));
}

/** Nothing at all would name the folder that one is in, and is a variable of a script that was not set. */
function given(text: string): string {
  if (text !== '') return text;
  throw new InvalidArgumentError('It is empty; give it a value, or leave it out.');
}

function source(text: string): string {
  const location = sourceLocation(given(text), callersFolder());
  if (location !== null) return location;
  throw new InvalidArgumentError('It takes a file, an http(s) URL or s3://BUCKET/KEY.');
}
