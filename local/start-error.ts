import { ExtractError } from '../loader/bag/extract-error.ts';
import { RefusedLoadError } from '../loader/load-report.ts';
import { ForeignStorageError } from '../loader/steps/current-manifest.ts';
import { LockedError } from '../loader/storage/address-table.ts';
import { SourceError } from '../loader/storage/source.ts';
import { NoRoomError } from './bulk-import/require-room.ts';
import { DataFolderError } from './data-folder.ts';
import { isDiskFull } from './disk-full.ts';
import { EngineError } from './engine.ts';
import { EngineMissingError } from './engine-binary.ts';
import { FunctionError } from './lambda/instance.ts';
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
