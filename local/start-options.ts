import { resolve } from 'node:path';
import { Command, InvalidArgumentError, type Option } from 'commander';
import { sourceLocation } from '../loader/storage/source.ts';
import { callersFolder } from './data-folder.ts';
import { type LocalBranding, readBrandingFile } from './local-branding.ts';

/** The options of `npm start`; `data` is absent unless it was given. */
export type StartOptions = {
  readonly extract?: string;
  readonly mutations?: string;
  readonly objecten: boolean;
  readonly port: number;
  readonly host: string;
  readonly allowHost?: readonly string[];
  readonly data?: string;
  readonly fresh: boolean;
  readonly throttle?: number;
  readonly branding?: LocalBranding;
};

/**
 * Reads the options of `npm start`, with paths made absolute.
 * @param write receives the help, or the line that names the fault
 * @throws CommanderError after either
 */
export async function startOptions(
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  write: { writeOut?: (text: string) => void; writeErr?: (text: string) => void } = {},
): Promise<StartOptions> {
  const program = new Command('npm start --')
    .description(
      'Runs the whole address service on this machine, with a demo extract or a real one.',
    )
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
    .option('--objecten', 'load the objects of addresses too, for include=objecten', false)
    .option('--port <number>', 'the port to listen on; 0 picks a free one', portNumber, 3000)
    .option(
      '--host <address>',
      'the address to listen on; 0.0.0.0 for all of this machine',
      '127.0.0.1',
    )
    .option(
      '--allow-host <name>',
      'another host name of the service, besides localhost and its addresses; repeat it for more',
      hostName,
    )
    .option('--data <folder>', 'the folder for the data between starts (default: .data)', path)
    .option('--fresh', 'discard the data of earlier starts first', false)
    .option(
      '--throttle <number>',
      'requests a second of each route; more get the 429 of API Gateway itself (default: unlimited)',
      requestsPerSecond,
    )
    .option(
      '--branding <file>',
      'name, colour, logo and links of all pages: a JSON file with the fields of `branding` in docs/configuration.md',
      path,
    )
    .addHelpText(
      'after',
      '\nSet AWS_ENDPOINT_URL_DYNAMODB to use another DynamoDB engine instead of the embedded one.',
    )
    .allowExcessArguments() // which get a clearer error below
    .showHelpAfterError('See "npm start -- --help".')
    .exitOverride()
    .configureOutput(write);
  const misplaced = misplacedOptionsText(program.options, args, env);
  if (misplaced !== undefined) program.error(misplaced);
  const { branding: file, ...options } = program
    .parse(args, { from: 'user' })
    .opts<Omit<StartOptions, 'branding'> & { branding?: string }>();
  const [other] = program.args;
  if (other !== undefined) {
    program.error(
      `error: "${other}" follows no option. Each takes one value: npm start -- --extract FILE.zip`,
    );
  }
  if (options.mutations !== undefined && options.extract === undefined) {
    program.error(
      'error: --mutations needs --extract: mutations apply to an extract, and the demo is not one.',
    );
  }
  if (file === undefined) return options;
  const branding = await readBrandingFile(file).catch(({ message }) =>
    program.error(`error: ${message}`),
  );
  return { ...options, branding };
}

function portNumber(text: string): number {
  const port = Number(text);
  if (!/^\d+$/.test(text) || port > 65_535) {
    throw new InvalidArgumentError('A port is a number from 0 to 65535.');
  }
  return port;
}

function hostName(text: string, before: readonly string[] = []): readonly string[] {
  if (/^[a-z0-9-]+(?:\.[a-z0-9-]+)*$/i.test(text)) return [...before, text.toLowerCase()];
  throw new InvalidArgumentError(
    'Use a host name without a scheme, a port or a path, such as adres.lan.',
  );
}

function requestsPerSecond(text: string): number {
  const rate = Number(text);
  if (/^\d+$/.test(text) && rate >= 1 && rate <= 10_000) return rate;
  throw new InvalidArgumentError('A throttle is a number of requests a second, from 1 to 10000.');
}

function path(text: string): string {
  return resolve(callersFolder(), nonEmpty(text));
}

/**
 * Rejects an empty value, typically a variable that is not set: as a path it would mean the current
 * folder.
 */
function nonEmpty(text: string): string {
  if (text !== '') return text;
  throw new InvalidArgumentError('The value is empty; give one, or leave the option out.');
}

function source(text: string): string {
  const location = sourceLocation(nonEmpty(text), callersFolder());
  if (location !== null) return location;
  throw new InvalidArgumentError('Use a file, an http(s) URL or s3://BUCKET/KEY.');
}

/**
 * The command to type instead, if npm took our options for its own: `npm start --port 3001`,
 * without the `--`, sets a variable of npm's and leaves us without the option. `undefined` if all
 * is well.
 */
export function misplacedOptionsText(
  options: readonly Pick<Option, 'long' | 'required'>[],
  args: readonly string[],
  env: NodeJS.ProcessEnv,
): string | undefined {
  if (env.npm_lifecycle_event !== 'start') return undefined;
  const values = [...args];
  const taken = options.flatMap(({ long, required }) => {
    const value = long && env[`npm_config_${long.slice(2).replaceAll('-', '_')}`];
    if (!value) return [];
    if (!required) return [long];
    // npm gives us the value of "--port 3001" as an argument, and keeps the value of "--port=3001".
    return [`${long} ${value === 'true' ? (values.shift() ?? 'VALUE') : value}`];
  });
  if (taken.length === 0) return undefined;
  return `npm took ${taken.join(' ')} for itself, because the "--" before it is missing. Type: npm start -- ${[...taken, ...values].join(' ')}`;
}
