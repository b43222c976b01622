import { isDiskFull } from '../../local/disk-full.ts';

/** The errors of a load whose message says it all, by name: what they are called for scripts. */
const codes: Record<string, string> = {
  ExtractError: 'bad_extract',
  ForeignStorageError: 'foreign_storage',
  LockedError: 'locked',
  MissingObjectError: 'storage_incomplete',
  ReadBackError: 'read_back',
  RefusedLoadError: 'blocked',
  SourceChangedError: 'source_changed',
  SourceError: 'no_extract',
  SourceUnavailableError: 'source_unavailable',
  StaleLoadError: 'stale_load',
  UnknownSnapshotError: 'unknown_snapshot',
  WorkGoneError: 'work_gone',
};

/** Explains an error of a load by its name, which is the same from a Lambda; `undefined` for any other error. */
export function explainLoadFailure(name: string, message: string): { code: string; message: string } | undefined {
  const code = Object.hasOwn(codes, name) ? codes[name] : undefined;
  return code === undefined ? undefined : { code, message };
}

/** What a command's failure is called in JSON, and the one line that people read. */
export type Explanation = { code: string; message: string };

/** What an operator does about the errors that AWS and its clients raise before anything of ours can go wrong. */
const advice: Record<string, (message: string) => Explanation> = {
  CredentialsProviderError: () => ({
    code: 'aws_credentials',
    message:
      'There are no AWS credentials: sign in ("aws sso login", "aws configure") or set AWS_PROFILE. ' +
      'For the service on this machine add --local.',
  }),
  ExpiredTokenException: expired,
  ExpiredToken: expired,
  TokenProviderError: expired,
  UnrecognizedClientException: refused,
  InvalidClientTokenId: refused,
  InvalidSignatureException: refused,
  SignatureDoesNotMatch: refused,
  AccessDeniedException: (message) => ({ code: 'aws_access', message: `AWS does not permit it: ${message}` }),
  AccessDenied: (message) => ({ code: 'aws_access', message: `AWS does not permit it: ${message}` }),
  ResourceNotFoundException: () => ({
    code: 'aws_not_found',
    message:
      'The table or the secret does not exist in this account and region; check the name, AWS_PROFILE and AWS_REGION.',
  }),
  TimeoutError: unreachable,
  StateMachineDoesNotExist: () => ({
    code: 'aws_not_found',
    message:
      'The state machine of the stack does not exist any more; deploy again, or check AWS_PROFILE and AWS_REGION.',
  }),
  NoSuchBucket: () => ({
    code: 'aws_not_found',
    message: 'The bucket of the stack does not exist any more; deploy again, or check AWS_PROFILE and AWS_REGION.',
  }),
  NotRunningError: (message) => ({ code: 'not_running', message }),
};

function expired(): Explanation {
  return { code: 'aws_credentials', message: 'The AWS credentials have expired; sign in again.' };
}

function refused(): Explanation {
  return {
    code: 'aws_credentials',
    message: 'AWS does not know these credentials; check AWS_PROFILE, or sign in again.',
  };
}

function unreachable(message: string): Explanation {
  return { code: 'unreachable', message: `The tables can't be reached: ${message}` };
}

/** Explains any failure of a command. Errors with a code of ours say it themselves. */
export function explainError(error: unknown): Explanation {
  if (!(error instanceof Error)) return { code: 'failed', message: String(error) };
  if (isOurs(error)) return { code: error.code, message: error.message };
  const ofLoad = explainLoadFailure(error.name, error.message);
  if (ofLoad) return ofLoad;
  const known = Object.hasOwn(advice, error.name) ? advice[error.name] : undefined;
  if (known) return known(error.message);
  if (/Region is missing/.test(error.message)) {
    return { code: 'aws_region', message: 'There is no AWS region: set AWS_REGION, or a region in your AWS profile.' };
  }
  if (error.name === 'ValidationError' && /does not exist/.test(error.message)) {
    return { code: 'aws_not_found', message: `${error.message}; check the name, AWS_PROFILE and AWS_REGION.` };
  }
  if (isDiskFull(error)) {
    const message = 'The disk is full. Make room and run it again: a load goes on where it stopped.';
    return { code: 'disk_full', message };
  }
  const network = networkCode(error);
  if (network) return unreachable(network);
  return { code: 'failed', message: error.message || error.name };
}

function isOurs(error: Error): error is Error & { code: string } {
  return ['AdminError', 'CommandError', 'UsageError'].includes(error.name);
}

/** `ECONNREFUSED` and its like, also where it is wrapped in an error of attempts on several addresses; not that of a file. */
function networkCode(error: Error): string | undefined {
  if ('path' in error) return undefined;
  const code: unknown = 'code' in error ? error.code : undefined;
  if (typeof code === 'string' && /^E[A-Z_]+$/.test(code)) return error.message || code;
  return undefined;
}
