import { constants } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { CommanderError } from 'commander';
import { noProgress } from '../loader/steps/step.ts';
import { defaultDataFolder, readLocalState } from './data-folder.ts';
import { requireFreePort } from './engine/engine.ts';
import type { LocalBranding } from './local-branding.ts';
import { showProgress, watchedProgress } from './progress-text.ts';
import type { Service } from './service.ts';
import { type StartOptions, startOptions } from './start-options.ts';

const orphanCheckMilliseconds = 1_000;
/** The time for a program that waits for the greeting to send its first request. */
const portalPauseMilliseconds = 150;

/**
 * Calls back once when the npm that started us has ended without a signal to us; does not keep the
 * process alive.
 */
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

/**
 * Nobody may read what we print any more: `npm start | head`, a closed terminal, a full disk behind
 * a redirection. Without a listener Node ends the process for that.
 */
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
// The data folder holds hashes of keys, and the engine creates its files with this too.
process.umask(0o077);

/**
 * Within this time a second signal is of the same Ctrl-C: a terminal sends it to npm too, which
 * passes it on to us.
 */
const oneKeyMilliseconds = 500;

/** The exit code of a start that a signal ends before it serves: 130 after Ctrl-C. */
const codeOf = (signal: NodeJS.Signals) => 128 + constants.signals[signal];

/** An interrupted progress bar leaves the cursor hidden. */
const showCursor = '\u001b[?25h';

await start(await readOptions());

/** The options; ends the process with 2 where they can't be used, and after `--help`. */
async function readOptions(): Promise<StartOptions> {
  try {
    return await startOptions(process.argv.slice(2), process.env);
  } catch (error) {
    if (error instanceof CommanderError) process.exit(error.exitCode === 0 ? 0 : 2);
    throw error;
  }
}

async function start(options: StartOptions): Promise<void> {
  const { host, allowHost, port, fresh, extract, throttle, branding } = options;
  const dataFolder = options.data ?? defaultDataFolder;
  const endpoint = process.env.AWS_ENDPOINT_URL_DYNAMODB || undefined;
  const resources = new AsyncDisposableStack();

  // The demo loads too quickly to show progress.
  const { progress, stage } = watchedProgress(extract === undefined ? noProgress : showProgress());
  let isServing = false;
  let leaving = false;
  const leave = async (exitCode: number, isAsked = false) => {
    if (leaving) return;
    leaving = true;
    if (process.stderr.isTTY) process.stderr.write(showCursor);
    if (isAsked && !isServing && extract !== undefined) {
      const { stoppedText } = await import('./messages.ts');
      console.log(stoppedText(stage(), fresh));
    }
    await resources.disposeAsync().catch((error) => console.error(error));
    process.exit(exitCode);
  };
  let signalledAt = Number.POSITIVE_INFINITY;
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      // A second Ctrl-C ends at once; the engine ends with us in any case.
      if (performance.now() - signalledAt > oneKeyMilliseconds) process.exit(codeOf(signal));
      signalledAt = Math.min(signalledAt, performance.now());
      // A script must not go on as if the extract were served.
      void leave(isServing ? 0 : codeOf(signal), true);
    });
  }
  whenOrphaned(() => void leave(isServing ? 0 : 1, true));

  // Loaded here because they take a while, which "--help" should not.
  const { startService } = await import('./service.ts');
  try {
    // The port after the service's, or another one if that is taken; the reference links to it
    // before it listens.
    const freePort = (wanted: number) => requireFreePort('127.0.0.1', wanted);
    const portalPort = await freePort(port === 0 || port > 65_533 ? 0 : port + 1).catch(() =>
      freePort(0),
    );
    const service = await startService(
      {
        ...options,
        dataFolder,
        allowedHosts: allowHost,
        endpoint,
        throttlePerSecond: throttle,
        // The portal is on the loopback interface only: others who read these pages can't reach it.
        portalUrl: /^(127\.0\.0\.1|localhost)$/.test(host)
          ? `http://127.0.0.1:${portalPort}`
          : undefined,
        progress,
        announce: (line) => console.log(line),
        onAnswer: ({ method, route, statusCode, milliseconds }) => {
          const target = route?.split(' ').at(-1) ?? '(no route)';
          // Not the console, whose formatting takes as long as the write. One write for the answers
          // of a turn.
          process.stdout.cork();
          process.stdout.write(`${method} ${target} ${statusCode} in ${milliseconds} ms\n`);
          setImmediate(() => process.stdout.uncork());
        },
      },
      resources,
    );
    const { greeting } = await import('./messages.ts');
    isServing = true;
    console.log(greeting(service, dataFolder));
    // A failure outside of a request must not end other requests, which Lambda would serve in other
    // environments.
    for (const event of ['uncaughtException', 'unhandledRejection']) {
      process.on(event, (error) => service.logError(error));
    }
    // After the greeting and the first request: the API answers already, and loading the portal
    // would hold it up.
    await Promise.race([
      sleep(portalPauseMilliseconds, undefined, { ref: false }),
      service.engineEnded,
    ]);
    startPortalOf(service, { dataFolder, portalPort, branding }, resources).then(
      ({ portalUrl }) =>
        console.log(
          `Customer portal: ${portalUrl} (choose a customer or an operator to sign in as)`,
        ),
      (error) => {
        if (!leaving) console.error(`The portal could not be started: ${error?.message ?? error}`);
      },
    );
    await service.engineEnded;
    if (leaving) return;
    console.error(
      'The DynamoDB engine has stopped unexpectedly, so the service stops too. Start it again with npm start.',
    );
  } catch (error) {
    if (leaving) return;
    const { startErrorText } = await import('./messages.ts');
    console.error(startErrorText(error, { host, port, endpoint, dataFolder }));
  }
  await leave(1);
}

/** The portal, on the two ports after the service's. */
async function startPortalOf(
  { baseUrl, apiKey, objecten }: Service,
  {
    dataFolder,
    portalPort,
    branding,
  }: { dataFolder: string; portalPort: number; branding: LocalBranding | undefined },
  resources: AsyncDisposableStack,
): Promise<{ portalUrl: string }> {
  const ports = { portal: portalPort, provider: portalPort < 65_535 ? portalPort + 1 : 0 };
  const { startLocalPortal } = await import('./portal.ts');
  return startLocalPortal(
    {
      ...(await readLocalState(dataFolder)),
      apiUrl: baseUrl,
      demoKey: apiKey,
      objecten,
      branding,
      ports,
    },
    resources,
  );
}
