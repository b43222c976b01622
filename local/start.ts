import { resolve } from 'node:path';
import { Command, InvalidArgumentError } from 'commander';
import { noProgress } from '../loader/progress.ts';
import { sourceLocation } from '../loader/storage/source.ts';
import { callersFolder, defaultDataFolder, readLocalState } from './data-folder.ts';
import { greeting, misplacedOptionsText, startErrorText } from './messages.ts';
import { listenOnDemand } from './portal/listen-on-demand.ts';
import { showProgress } from './progress.ts';
import type { Service } from './service.ts';

const orphanCheckMilliseconds = 1_000;

/** Calls back once when the npm that started us has ended without a signal to us; does not keep the process alive. */
export function whenOrphaned(callback: () => void): void {
  if (process.env.npm_lifecycle_event === undefined) return;
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    callback();
  }, orphanCheckMilliseconds);
  timer.unref();
}

interface Options {
  readonly extract?: string;
  readonly mutations?: string;
  readonly port: number;
  readonly host: string;
  readonly data?: string;
  readonly fresh: boolean;
}

/**
 * Nobody may read what we print any more: `npm start | head`, a closed terminal, a full disk behind a redirection. Without
 * a listener Node ends the process for that.
 */
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
// The data folder holds hashes of keys, and the engine creates its files with this too.
process.umask(0o077);

/** An interrupted progress bar leaves the cursor hidden. */
const showCursor = '\u001b[?25h';

const program = new Command('npm start --')
  .description('Runs the whole address service on this machine, with a demo extract or a real one.')
  .option(
    '--extract <where>',
    'a BAG extract of the country or a municipality: a file, a URL or s3://BUCKET/KEY (default: a small demo)',
    source,
  )
  .option(
    '--mutations <where>',
    'days of mutations to apply to the extract, now and hourly: a list (bestanden.json), a folder or a zip',
    source,
  )
  .option('--port <number>', 'the port to listen on; 0 picks a free one', portNumber, 3000)
  .option('--host <address>', 'the address to listen on; 0.0.0.0 for all of this machine', '127.0.0.1')
  .option('--data <folder>', 'where the data is kept between starts (default: .data)', folder)
  .option('--fresh', 'discard the data of earlier starts first', false)
  .addHelpText('after', '\nSet AWS_ENDPOINT_URL_DYNAMODB to use another DynamoDB engine instead of the embedded one.')
  .allowExcessArguments(false)
  .exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : 2))
  .action(start);

const misplaced = misplacedOptionsText(program.options, process.argv.slice(2), process.env);
if (misplaced !== undefined) program.error(misplaced, { exitCode: 2 });
await program.parseAsync();

async function start(options: Options): Promise<void> {
  const { host, port, fresh } = options;
  const { extract, mutations, data: dataFolder = defaultDataFolder } = options;
  if (mutations !== undefined && extract === undefined) {
    program.error('error: --mutations needs --extract: mutations apply to an extract, and the demo is not one.', {
      exitCode: 2,
    });
  }
  const endpoint = process.env.AWS_ENDPOINT_URL_DYNAMODB || undefined;
  const resources = new AsyncDisposableStack();

  let leaving = false;
  const leave = async (exitCode: number) => {
    // A second Ctrl-C ends at once; the engine ends with us in any case.
    if (leaving) process.exit(130);
    leaving = true;
    if (process.stderr.isTTY) process.stderr.write(showCursor);
    await resources.disposeAsync().catch((error) => console.error(error));
    process.exit(exitCode);
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => void leave(0));
  whenOrphaned(() => void leave(0));

  try {
    // Loaded here because it takes a while, which "--help" should not.
    const { startService } = await import('./service.ts');
    const service = await startService(
      {
        dataFolder,
        host,
        port,
        fresh,
        extract,
        mutations,
        endpoint,
        // The demo loads too quickly to show progress.
        progress: extract === undefined ? noProgress : showProgress(),
        announce: (line) => console.log(line),
        onAnswer: ({ method, route, statusCode, milliseconds }) => {
          console.log(`${method} ${route?.split(' ').at(-1) ?? '(no route)'} ${statusCode} in ${milliseconds} ms`);
        },
      },
      resources,
    );
    const portal = await startPortalOf(service, dataFolder, port, resources);
    console.log(greeting(service, dataFolder, portal));
    await service.engineEnded;
    if (leaving) return;
    console.error(
      'The DynamoDB engine has stopped unexpectedly, so the service stops too. Start it again with npm start.',
    );
  } catch (error) {
    if (leaving) return;
    console.error(startErrorText(error, { host, port, endpoint, dataFolder }));
  }
  await leave(1);
}

/**
 * The portal, on the two ports after that of the service; without it the service runs all the same. It takes 100 MB, so it is
 * loaded when somebody opens it.
 */
async function startPortalOf(
  { baseUrl }: Service,
  dataFolder: string,
  port: number,
  resources: AsyncDisposableStack,
): Promise<{ portalUrl: string }> {
  const wanted = port === 0 || port > 65_533 ? [0, 0] : [port + 1, port + 2];
  const state = await readLocalState(dataFolder);
  const waiting = await listenOnDemand('127.0.0.1', wanted, async ([portal = 0, provider = 0]) => {
    try {
      const { startPortal } = await import('./portal/portal.ts');
      const options = { ...state, apiUrl: baseUrl, ports: { portal, provider }, isBehind: true };
      const { listening } = await startPortal(options, resources);
      return [listening.portal, listening.provider];
    } catch (error) {
      console.error(`The portal could not be started: ${error instanceof Error ? error.message : String(error)}`);
      throw error;
    }
  });
  resources.defer(waiting.stop);
  return { portalUrl: `http://127.0.0.1:${waiting.ports[0]}` };
}

function portNumber(text: string): number {
  const port = Number(text);
  if (!/^\d+$/.test(text) || port > 65_535) throw new InvalidArgumentError('A port is a number from 0 to 65535.');
  return port;
}

function folder(text: string): string {
  return resolve(callersFolder(), nonEmpty(text));
}

/** Rejects an empty value, typically a variable that is not set: as a path it would mean the current folder. */
function nonEmpty(text: string): string {
  if (text !== '') return text;
  throw new InvalidArgumentError('The value is empty; give one, or leave the option out.');
}

function source(text: string): string {
  const location = sourceLocation(nonEmpty(text), callersFolder());
  if (location !== null) return location;
  throw new InvalidArgumentError('Use a file, an http(s) URL or s3://BUCKET/KEY.');
}
