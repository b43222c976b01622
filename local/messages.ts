import { join, relative } from 'node:path';
import { grouped } from '../loader/guard/load-counts.ts';
import { type LoadReport, RefusedLoadError, refusalText } from '../loader/guard/load-report.ts';
import { ExtractError, LoadError } from '../loader/load-error.ts';
import { NoMoreWritesError } from '../loader/storage/address-table.ts';
import { LockedError } from '../loader/storage/lock.ts';
import { pdokExtract } from '../loader/storage/open.ts';
import { SourceError } from '../loader/storage/source.ts';
import { ObjectChangedError } from '../loader/storage/storage.ts';
import { DataFolderError, defaultDataFolder } from './data-folder.ts';
import { ExtractNotServedError, isOfStorage, type ServedDataset } from './dataset.ts';
import { demoExamples, objectExamples } from './demo.ts';
import { DiskSpaceError } from './engine/bulk-import.ts';
import { EngineError, EngineMissingError, isDiskFull } from './engine/engine.ts';
import type { Service } from './service.ts';

/** Errors whose message says all that a user needs; any other error is shown with its stack. */
const selfExplanatory = [
  DataFolderError,
  EngineMissingError,
  ExtractError,
  ExtractNotServedError,
  LoadError,
  LockedError,
  NoMoreWritesError,
  ObjectChangedError,
  DiskSpaceError,
  SourceError,
];

/** The embedded engine's answer if it can't read its database. */
const isEngineFault = (error: unknown): error is Error =>
  error instanceof Error && error.name === 'InternalServerError';

const unreachable = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'ERR_INVALID_URL']);

/** The text to print for an error that ended a start. */
export function startErrorText(
  error: unknown,
  { host, port, endpoint, dataFolder }: StartPlace,
): string {
  const { code, syscall, hostname } = error as NodeJS.ErrnoException & { hostname?: string };
  if (syscall === 'listen' || (syscall === 'getaddrinfo' && hostname === host)) {
    switch (code) {
      case 'EADDRINUSE':
        return `Port ${port} on ${host} is in use. Choose another: npm start -- --port NUMBER, where 0 picks a free one.`;
      case 'EACCES':
        return `You have no permission to listen on port ${port}. Choose one above 1023 with --port NUMBER.`;
      default:
        return `${host} is not an address of this machine (${code}). Choose another with --host ADDRESS.`;
    }
  }
  if (endpoint !== undefined && unreachable.has(code ?? '')) {
    return `No DynamoDB engine answers at ${endpoint} (AWS_ENDPOINT_URL_DYNAMODB). Start it, or unset the variable.`;
  }
  if (error instanceof RefusedLoadError) return refusedText(error.report, dataFolder);
  if (isDiskFull(error)) {
    return (
      `The disk of ${dataFolder} is full. Free some space and start again to continue, or choose a folder on another ` +
      'disk with --data FOLDER.'
    );
  }
  if (error instanceof EngineError || (endpoint === undefined && isEngineFault(error))) {
    return (
      `${error.message}\nCheck that the files in ${dataFolder} can be written and that its disk has space. If the data is ` +
      'damaged, start with --fresh, which discards it, or choose another folder with --data FOLDER.'
    );
  }
  if (isOfStorage(error)) {
    return (
      `${error.message}\nA repair at this start was not possible, and no service is running that commands could use. Move ` +
      `${join(dataFolder, 'loads')} elsewhere and start with --extract FILE, which loads the addresses anew: accounts and keys stay.`
    );
  }
  if (selfExplanatory.some((type) => error instanceof type)) return (error as Error).message;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

/** Other commands than the error's own, because the service is not running. */
function refusedText(report: LoadReport, dataFolder: string): string {
  const isOnlyOlder = report.objections.every(({ code }) => code === 'older_peildatum');
  const advice = isOnlyOlder
    ? 'To go back to it, start with --fresh.'
    : `Start with "npm start${dataFolder === defaultDataFolder ? '' : ` --${dataOption(dataFolder)}`}", and run one of these in another terminal.`;
  return `${refusalText(report, ` --local${dataOption(dataFolder)}`)}\n${advice}`;
}

type StartPlace = {
  readonly host: string;
  readonly port: number;
  readonly endpoint: string | undefined;
  readonly dataFolder: string;
};

/** What `npm start` prints once it is running; its commands work when pasted. */
export function greeting(service: Service, dataFolder: string): string {
  const { baseUrl, apiKey, dataset, objecten } = service;
  const curl = (path: string) => `curl -H 'X-API-Key: ${apiKey}' '${baseUrl}${path}'`;
  const lookup = ({ postcode, huisnummer, toevoeging, include }: Lookup) =>
    curl(
      `/v1/address?${new URLSearchParams({ postcode, huisnummer: `${huisnummer}`, ...(toevoeging && { toevoeging }), ...(include && { include }) })}`,
    );
  const shown = dataset.isDemo
    ? [...demoExamples, ...(objecten ? objectExamples : [])]
    : [
        { ...dataset.example, shows: 'an address' },
        ...(objecten ? [{ ...dataset.example, include: 'objecten', shows: 'its objects' }] : []),
      ];
  const lines = [
    ...shown.map(({ shows, ...example }) => `# ${shows}\n  ${lookup(example)}`),
    ...(dataset.isDemo ? [] : [`# the limits of the key\n  ${curl('/v1/auth/validate')}`]),
  ];
  const data = dataOption(dataFolder);
  const below = relative(process.cwd(), dataFolder) || '.';
  const folder = below.startsWith('..') ? dataFolder : below;
  const { addresses, peildatum } = dataset.later ?? dataset.report;
  const served =
    addresses === 0
      ? 'No address is served until it is approved.'
      : 'The dataset from before is served.';
  const heldText = dataset.refused
    ? `\n${refusalText(dataset.refused, ` --local${data}`)}
What it changes:  "npx bag-adres load approve ${dataset.refused.load} --plan --local${data}"
${served}
`
    : presentText(dataset);
  return `${loadedText(dataset.report)}${heldText}
Serving ${grouped(addresses)} addresses${peildatum === null ? '' : ` with peildatum ${peildatum}`} on ${baseUrl}

Try it:

  ${lines.join('\n  ')}
${dataset.isDemo ? ownData : ''}
API reference: ${baseUrl}/docs

Manage plans, accounts and keys from another terminal:

  npx bag-adres account show demo --local${data}

The data is kept in ${folder} (start with --fresh to discard it), the log of the functions in ${folder}/functions.log.
Press Ctrl-C to stop.
`;
}

/**
 * The text for a start that is stopped before it serves: the stage of its load, and how to
 * continue.
 */
export function stoppedText(stage: string | undefined, fresh: boolean): string {
  const where = stage === undefined ? 'before the load was finished' : `during the load (${stage})`;
  const command = fresh ? 'the same command without --fresh' : 'the same command';
  return `Stopped ${where}. Nothing is lost: ${command} continues.`;
}

type Lookup = {
  postcode: string;
  huisnummer: number;
  toevoeging?: string | undefined;
  include?: string;
};

const ownData = `
This is a demo: real addresses of Weesp, of 2021. Load your own municipality or the country instead:

  npm start -- --extract FILE.zip
  npm start -- --extract ${pdokExtract}
`;

/** The counts of a load; empty if the table already held the extract. */
function loadedText(report: LoadReport): string {
  const { outcome, voorkomens, nummeraanduidingen, addresses, withoutPostcode, problems } = report;
  if (outcome !== 'published') return '';
  const equal = nummeraanduidingen - addresses;
  const shared = equal > 0 ? `, ${grouped(equal)} with the address of another` : '';
  const skipped =
    withoutPostcode === null ? '' : `, ${grouped(withoutPostcode)} skipped (no postcode)`;
  const faulty = problems === null ? '' : `, ${grouped(problems)} faulty`;
  const overruled = report.overruled
    .map(
      ({ message }) =>
        `\nLoaded all the same, because this extract is not the one from before: ${message}`,
    )
    .join('');
  return `
Read ${grouped(voorkomens)} BAG records: ${grouped(addresses)} addresses of ${grouped(nummeraanduidingen)} nummeraanduidingen${shared}${skipped}${faulty}${overruled}
`;
}

/** The dataset found in the data folder by a start without --extract. */
function presentText({ present, unread }: ServedDataset): string {
  if (unread !== undefined) {
    return `\nThe extract could not be read, and the addresses from before are served:\n  ${unread}\n`;
  }
  if (present === null) return '';
  return `
Serving the data folder's dataset, from ${present}. Load another with --extract; --fresh discards it and serves the demo.
`;
}

/** The option that leads a command to a folder other than the default. */
function dataOption(folder: string): string {
  return folder === defaultDataFolder ? '' : ` --data ${quoted(folder)}`;
}

const quoted = (path: string) =>
  /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
