import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { redactKeys } from '../../core/accounts/api-key.ts';
import { ConfigError } from '../../lib/config/config-error.ts';
import { isDiskFull } from '../../local/engine/engine.ts';

/**
 * The command failed. `code` is stable for scripts; the message is one line and says what to do.
 */
export class CommandError extends Error {
  override name = 'CommandError';
  readonly code: string;
  /** Further members of the error in JSON output. */
  readonly details: Record<string, unknown>;
  /**
   * Whether the text of the result ends with the message: then only scripts get it on standard
   * error.
   */
  readonly isTold: boolean;

  constructor(
    code: string,
    message: string,
    options: ErrorOptions & { details?: Record<string, unknown>; isTold?: boolean } = {},
  ) {
    super(message, options);
    this.code = code;
    this.details = options.details ?? {};
    this.isTold = options.isTold ?? false;
  }
}

/** The command can't be run as it was typed. Nothing was tried, and the exit code is 2. */
export class UsageError extends CommandError {
  override name = 'UsageError';

  constructor(message: string, options?: ErrorOptions) {
    super('usage', message, options);
  }
}

/** The code of a failure in JSON output, and the one line that people read. */
export type ErrorExplanation = { code: string; message: string };

/**
 * Codes of the loader's errors, by name. Their messages already say what happened and what to do.
 */
const loadErrorCodes: Record<string, string> = {
  AmbiguousSnapshotError: 'ambiguous',
  DamagedObjectError: 'storage_damaged',
  ExtractError: 'bad_extract',
  LineFieldError: 'bad_extract',
  ForeignStorageError: 'foreign_storage',
  LockedError: 'locked',
  LockSettlingError: 'locked',
  MissingObjectError: 'storage_incomplete',
  MutationGapError: 'mutation_gap',
  NoMoreWritesError: 'no_more_writes',
  NotRefusedError: 'not_refused',
  ObjectChangedError: 'object_changed',
  OtherVersionError: 'other_version',
  UnknownFormError: 'other_version',
  PendingLoadError: 'pending',
  ReadBackError: 'read_back',
  RefusedLoadError: 'refused',
  RejectedDeliveryError: 'rejected',
  SourceChangedError: 'source_changed',
  SourceError: 'no_extract',
  SourceTooSlowError: 'source_too_slow',
  SourceUnavailableError: 'source_unavailable',
  SourceUnfinishedError: 'source_unfinished',
  StaleLoadError: 'stale_load',
  UnknownLoadError: 'unknown_load',
  UnknownSnapshotError: 'unknown_snapshot',
  UnmarkedTableError: 'unmarked_table',
  WorkGoneError: 'work_gone',
};

/**
 * Explains an error of a load by its name, which a Lambda reports as well; `undefined` for any
 * other error.
 */
export function explainLoadError(name: string, message: string): ErrorExplanation | undefined {
  const code = Object.hasOwn(loadErrorCodes, name) ? loadErrorCodes[name] : undefined;
  return code === undefined ? undefined : { code, message };
}

/**
 * What AWS answers when requests come faster than a table, a service or the quotas of the account
 * allow.
 */
const throttlings =
  /Throttl|ThroughputExceeded|^(?:Request|Bandwidth)?LimitExceeded|^TooManyRequests|^PriorRequest|^SlowDown$/;

/** What AWS answers when it fails itself. */
const faults =
  /^Internal(?:Server|Service)?(?:Error|Exception|Failure)$|^Service(?:Unavailable)?(?:Exception)?$/;

/** The place that the command named: a stage, or the running "npm start"; else a table. */
type NamedPlace = { local?: true | undefined; stage?: string | undefined };

/** A code and its text, which may have the message and the name of the error, and the place. */
type ErrorText = readonly [
  code: string,
  text: string | ((message: string, name: string, place: NamedPlace) => string),
];

const throttled: ErrorText = [
  'aws_throttled',
  (_, name) =>
    `AWS throttles the requests (${name}), also after several attempts. Wait a minute and run the command again. If it lasts, ` +
    'look at the throttled requests of the tables on the dashboard: docs/runbook.md says what to do.',
];
const awsFault: ErrorText = [
  'aws_fault',
  (_, name, { local }) =>
    `${local ? 'The engine of "npm start"' : 'AWS'} failed with ${name}, also after several attempts. Run the command again. ` +
    `If it lasts, ${local ? 'start "npm start" again' : 'see https://health.aws.amazon.com'}.`,
];
const noCredentials: ErrorText = [
  'aws_credentials',
  (_, __, { stage }) =>
    missingProfile() ??
    'No AWS credentials found. Sign in ("aws sso login", "aws configure") or set AWS_PROFILE. For the service on this ' +
      `machine ${stage === undefined ? 'add --local' : `use --local instead of --stage ${stage}`}.`,
];
const expired: ErrorText = ['aws_credentials', 'The AWS credentials have expired. Sign in again.'];
const refused: ErrorText = [
  'aws_credentials',
  'AWS does not accept these credentials. Check AWS_PROFILE, or sign in again.',
];
const denied: ErrorText = ['aws_access', (message) => `AWS denied access: ${message}`];
const notFound = (what: string): ErrorText => [
  'aws_not_found',
  `${what}; check AWS_PROFILE and AWS_REGION.`,
];

function unreachableText(reason: string, { local, stage }: NamedPlace): string {
  const why = reason.replace(/\.$/, '');
  // With --local an extract may be elsewhere.
  if (local && /127\.0\.0\.1|localhost|::1/.test(why)) {
    return `Can't connect to "npm start": ${why}. Check that it still runs in its terminal, then run the command again.`;
  }
  const { AWS_ENDPOINT_URL: endpoint } = process.env;
  const what = stage === undefined ? '' : ` to AWS for --stage ${stage}`;
  const set = stage !== undefined && endpoint ? `, and AWS_ENDPOINT_URL (${endpoint})` : '';
  return `Can't connect${what}: ${why}. Check the connection${set}, then run the command again.`;
}

const awsErrors: Record<string, ErrorText> = {
  CredentialsProviderError: noCredentials,
  ExpiredTokenException: expired,
  ExpiredToken: expired,
  TokenProviderError: expired,
  UnrecognizedClientException: refused,
  InvalidClientTokenId: refused,
  InvalidSignatureException: refused,
  SignatureDoesNotMatch: refused,
  AccessDeniedException: denied,
  AccessDenied: denied,
  ResourceNotFoundException: notFound(
    'The table or the secret does not exist in this account and region',
  ),
  StateMachineDoesNotExist: notFound(
    'The state machine of the stack no longer exists; deploy again',
  ),
  NoSuchBucket: notFound('The bucket of the stack no longer exists; deploy again'),
  TimeoutError: ['unreachable', (message, _, place) => unreachableText(message, place)],
  NotRunningError: ['not_running', (message) => message],
  // A command reads the connection alone, so it meets no other fault of a data folder.
  DataFolderError: ['other_layout', (message) => message],
};

/**
 * Explains any failure of a command on a place, without any API key. Errors with a code of their
 * own already do.
 */
export function explainError(error: unknown, place: NamedPlace = {}): ErrorExplanation {
  if (!(error instanceof Error)) return { code: 'failed', message: redactKeys(String(error)) };
  const [code, text] = explanationOf(error);
  return {
    code,
    message: redactKeys(typeof text === 'string' ? text : text(error.message, error.name, place)),
  };
}

function explanationOf(error: Error): ErrorText {
  const { name, message } = error;
  const { code = '', path } = error as NodeJS.ErrnoException;
  if (['AdminError', 'CommandError', 'UsageError'].includes(name)) return [code, message];
  if (error instanceof ConfigError) return ['invalid_settings', message];
  const ofLoad = explainLoadError(name, message);
  if (ofLoad) return [ofLoad.code, message];
  // Before the errors by name: a data folder that can't be used may be on a full disk.
  if (isDiskFull(error)) {
    return ['disk_full', 'The disk is full. Free some space and run the command again.'];
  }
  const ofAws = Object.hasOwn(awsErrors, name) ? awsErrors[name] : undefined;
  if (ofAws) return ofAws;
  if (/Region is missing/.test(message)) {
    const unset = 'No AWS region is set. Set AWS_REGION, or a region in your AWS profile.';
    return ['aws_region', missingProfile() ?? unset];
  }
  if (name === 'ValidationError' && /does not exist/.test(message)) return notFound(message);
  if (path && ['EACCES', 'EPERM', 'EROFS'].includes(code)) {
    const text = `${path} can't be read or written by you (${message.split(':')[0]}). Use the account that runs npm start, or give yours access to it.`;
    return ['no_file_access', text];
  }
  const reason = networkFailure(error);
  if (reason) return ['unreachable', (_, __, place) => unreachableText(reason, place)];
  return ofUnknownService(error) ?? ['failed', message || name];
}

/** Why `AWS_PROFILE` gives no region and no credentials, if no file of the AWS CLI has it. */
function missingProfile({ AWS_PROFILE: profile, ...env } = process.env): string | undefined {
  if (!profile) return undefined;
  const files = [
    env.AWS_CONFIG_FILE ?? join(homedir(), '.aws', 'config'),
    env.AWS_SHARED_CREDENTIALS_FILE ?? join(homedir(), '.aws', 'credentials'),
  ];
  const names = files.filter(existsSync).flatMap((file) => {
    const sections = readFileSync(file, 'utf8').matchAll(/^\s*\[\s*(?:profile\s+)?(.+?)\s*\]/gm);
    return Array.from(sections, ([, name = '']) => name.replaceAll(/^["']|["']$/g, ''));
  });
  if (names.includes(profile)) return undefined;
  const known =
    names.length === 0 ? 'They name none' : `They have ${[...new Set(names)].join(', ')}`;
  return `AWS_PROFILE is ${profile}, a profile that ${files.join(' and ')} do not have. ${known}: correct or unset AWS_PROFILE.`;
}

/** Any other error that a service of AWS answered with, by its name and its status. */
function ofUnknownService({
  name,
  message,
  ...error
}: Error & { $metadata?: { httpStatusCode?: number } }) {
  const status = error.$metadata?.httpStatusCode;
  if (throttlings.test(name) || status === 429) return throttled;
  if (faults.test(name) || (status ?? 0) >= 500) return awsFault;
  if (status === undefined) return undefined;
  return [
    'aws_refused',
    `AWS refused the request (${name}): ${message || 'without a reason'}`,
  ] as const;
}

/**
 * Codes of Node, its resolver and its HTTP client for a connection that fails; other `E...` codes
 * are not about one.
 */
const networkCodes =
  /^(?:ECONN(?:REFUSED|RESET|ABORTED)|EPIPE|ETIMEDOUT|E(?:HOST|NET)(?:UNREACH|DOWN)|EADDRNOTAVAIL|ENOTFOUND|EAI_AGAIN|UND_ERR_(?:CONNECT_TIMEOUT|SOCKET))$/;

/**
 * Why a connection failed; `undefined` for any other error, such as one of the file system or of
 * our own code.
 */
function networkFailure(error: Error): string | undefined {
  const code = 'code' in error ? String(error.code) : '';
  if (!networkCodes.test(code) || 'path' in error) return undefined;
  if (code === 'ENOTFOUND' && 'hostname' in error) return `host not found: ${error.hostname}`;
  return error.message || code;
}
