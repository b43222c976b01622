import { relative } from 'node:path';
import { ExtractError } from '../loader/extract-error.ts';
import { type LoadReport, notServedText, RefusedLoadError } from '../loader/steps/load-report.ts';
import { ForeignStorageError } from '../loader/steps/manifest.ts';
import { LockedError } from '../loader/storage/address-table.ts';
import { SourceError } from '../loader/storage/source.ts';
import { DataFolderError } from './data-folder.ts';
import { isDiskFull } from './disk-full.ts';
import { NoRoomError } from './engine/bulk-import.ts';
import { EngineError, EngineMissingError } from './engine/engine.ts';
import { FunctionError } from './lambda/instance.ts';
import type { Service } from './service.ts';
import { defaultDataFolder } from './state.ts';
import { SynthesisError } from './synthesize.ts';
import { TemplateError } from './template/evaluate.ts';

/** Errors whose message tells the reader all there is to know; any other is shown with where it came from. */
const expected = [
  DataFolderError,
  EngineError,
  EngineMissingError,
  ExtractError,
  ForeignStorageError,
  FunctionError,
  LockedError,
  NoRoomError,
  RefusedLoadError,
  SourceError,
  SynthesisError,
  TemplateError,
];

const unreachable = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'ERR_INVALID_URL']);

/** What to print of an error that ended a start. */
export function startErrorText(error: unknown, { host, port, endpoint, dataFolder }: Place): string {
  const { code, syscall, hostname } = error as NodeJS.ErrnoException & { hostname?: string };
  if (syscall === 'listen' || (syscall === 'getaddrinfo' && hostname === host)) {
    switch (code) {
      case 'EADDRINUSE':
        return `Port ${port} on ${host} is in use. Choose another with --port N; 0 picks a free one.`;
      case 'EACCES':
        return `Port ${port} needs more rights than you have. Choose one above 1023 with --port N.`;
      default:
        return `${host} is not an address of this machine (${code}). Choose another with --host.`;
    }
  }
  if (endpoint !== undefined && unreachable.has(code ?? '')) {
    return `No DynamoDB engine answers at ${endpoint} (AWS_ENDPOINT_URL_DYNAMODB).`;
  }
  if (expected.some((type) => error instanceof type)) return (error as Error).message;
  if (isDiskFull(error)) {
    return (
      `The disk of ${dataFolder} is full. Make room and start again, which goes on from here, or keep the data on another ` +
      'disk with --data FOLDER.'
    );
  }
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

interface Place {
  readonly host: string;
  readonly port: number;
  readonly endpoint: string | undefined;
  readonly dataFolder: string;
}

/** What `npm start` prints once it serves: lines that work when pasted. */
export function greeting(service: Service, dataFolder: string): string {
  const { baseUrl, apiKey, dataset } = service;
  const { postcode, huisnummer, toevoeging } = dataset.example;
  const query = new URLSearchParams({ postcode, huisnummer: `${huisnummer}`, ...(toevoeging && { toevoeging }) });
  const data = dataFolder === defaultDataFolder ? '' : ` --data ${quoted(dataFolder)}`;
  const below = relative(process.cwd(), dataFolder) || '.';
  const folder = below.startsWith('..') ? dataFolder : below;
  return `${loadedText(dataset.report)}
Serving ${count(dataset.report.keys)} addresses, the register of ${dataset.report.peildatum}, on ${baseUrl}

  curl -H 'X-API-Key: ${apiKey}' '${baseUrl}/v1/address?${query}'
  curl -H 'X-API-Key: ${apiKey}' '${baseUrl}/v1/auth/validate'

The reference, in a browser: ${baseUrl}/docs

Plans, accounts and keys, from another terminal:

  npm run bag-adres -- account show demo --local${data}

The data stays in ${folder} (--fresh begins again); the functions log to ${folder}/functions.log.
Ctrl-C stops everything.
`;
}

/** What was read and written, unless the table held the extract already. */
function loadedText(report: LoadReport): string {
  const { outcome, voorkomens, addresses, keys } = report;
  if (outcome !== 'published') return '';
  return `
Read ${count(voorkomens)} occurrences of nummeraanduidingen: ${count(addresses)} current addresses under ${count(keys)} keys;
${notServedText(report)}
`;
}

const count = (number: number) => number.toLocaleString('en');

function quoted(path: string): string {
  return /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}
