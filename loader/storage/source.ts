import { resolve } from 'node:path';
import type { SourceVersion } from '../dataset/load.ts';
import type { RandomAccess } from '../zip/random-access.ts';

/** An extract at its location. */
export type Source = {
  readonly version: SourceVersion;
  /** Reads by range; `null` if the server does not support that, and only `stream` works. */
  readonly access: RandomAccess | null;
  /**
   * The whole extract; a dropped connection is resumed at the same byte if the server supports
   * ranges.
   */
  stream(): AsyncIterable<Uint8Array>;
  close(): Promise<void>;
};

/**
 * Whether two responses are about the same bytes. An equal date suffices: servers behind one name
 * have their own ETags.
 */
export function isSameVersion(a: SourceVersion, b: SourceVersion): boolean {
  if (a.size !== b.size) return false;
  const isSameDate = a.lastModified === b.lastModified;
  return isSameDate && (a.lastModified !== null || a.etag === b.etag);
}

/**
 * Whether two locations are of one extract: the query of a URL may be a signature that differs each
 * time.
 */
export function isSameLocation(a: string, b: string): boolean {
  const [first, other] = [a, b].map((location) => location.replace(/^(https?:[^?]*)\?.*/i, '$1'));
  return first === other;
}

/** The extract can't be reached, or does not exist. The message says what to do. */
export class SourceError extends Error {
  override readonly name: string = 'SourceError';
}

/** The server of the extract can't be reached or fails, even after several attempts. */
export class SourceUnavailableError extends SourceError {
  override readonly name = 'SourceUnavailableError';
}

/** The step ran out of time, but keeps the data it read: the next attempt continues from there. */
export class SourceUnfinishedError extends SourceError {
  override readonly name = 'SourceUnfinishedError';

  constructor(location: string) {
    super(
      `${location} could not be read within the time limit of one step. The members that arrived are kept: run the load again.`,
    );
  }
}

/** A step can't read the extract within its time limit, and kept nothing to continue from. */
export class SourceTooSlowError extends SourceError {
  override readonly name = 'SourceTooSlowError';

  constructor({ location, size }: SourceVersion) {
    const what = size === null ? 'it' : `its ${Math.floor(size / 1e6).toLocaleString('en')} MB`;
    super(
      `${location} is too slow: no member of ${what} arrived whole within the time limit of one step. Download it elsewhere ` +
        'and load the file, which uploads it first: load run --extract FILE --stage NAME.',
    );
  }
}

/** Reserved for ending the step with an error that says what to do. */
const reserveMilliseconds = 45_000;

/** The result of `work`, or the error of `tooLate` shortly before a step times out. */
export async function inTime<T>(
  work: Promise<T>,
  remainingMilliseconds: number,
  tooLate: () => Error,
): Promise<T> {
  if (!Number.isFinite(remainingMilliseconds)) return work;
  work.catch(() => undefined); // nothing awaits it after the time limit
  const { promise: end, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => reject(tooLate()),
    Math.max(0, remainingMilliseconds - reserveMilliseconds),
  );
  return Promise.race([work, end]).finally(() => clearTimeout(timer));
}

/** The extract was replaced while it was being read. The next run reads the new one. */
export class SourceChangedError extends SourceError {
  override readonly name = 'SourceChangedError';

  constructor(location: string, options?: ErrorOptions) {
    super(
      `${location} changed while it was being read. Run the load again: it reads the new file.`,
      options,
    );
  }
}

const checkAddress = 'Check the URL';
const checkConnection =
  "check this machine's connection, and whether a firewall or proxy blocks it";
const checkTls =
  'and the clock of this machine; behind a proxy, set NODE_EXTRA_CA_CERTS to its certificate';

/**
 * The meaning of each error code of Node and `fetch`, and whether a retry may help; the first match
 * counts.
 */
const failures: [code: RegExp, problem: string, advice: string, isFinal?: true][] = [
  [/^ERR_INVALID_URL$/, 'is not a valid URL', checkAddress, true],
  [
    /^(ENOTFOUND|EAI_\w+)$/,
    'could not be resolved: host not found',
    `${checkAddress}, and this machine's internet connection`,
  ],
  [/^ECONNREFUSED$/, 'refused the connection', `${checkAddress} and its port, or try again later`],
  [/TIMEDOUT|TIMEOUT/, 'did not respond in time', `Try again later; ${checkConnection}`],
  [
    /CERT|SSL|TLS|EPROTO|SIGNATURE/,
    'failed the TLS handshake',
    `${checkAddress} ${checkTls}`,
    true,
  ],
];
const otherFailure = [/^/, 'could not be read', `${checkAddress}, and ${checkConnection}`] as const;

/**
 * Describes a failed request and its remedy. @returns SourceUnavailableError if a retry may succeed
 */
export function connectionError(url: string, error: Error): SourceError {
  const reason = innermost(error);
  const [, problem, advice, isFinal = false] =
    failures.find(([code]) => code.test(reason.code)) ?? otherFailure;
  const host = URL.canParse(url) ? new URL(url).host : url;
  const message = `${host} ${problem} (${reason.text}). ${advice}, or download the file in another way and load that.`;
  return new (isFinal ? SourceError : SourceUnavailableError)(message, { cause: error });
}

/** The cause of "fetch failed": one error, or one for each IP address of the host. */
function innermost(error: Error): { code: string; text: string } {
  const { cause = error } = error as { cause?: Error };
  const all = cause instanceof AggregateError ? (cause.errors as Error[]) : [cause];
  const { code = '' } = (all[0] ?? cause) as NodeJS.ErrnoException;
  const texts = all.map(({ message }) => message.trim().split('\n')[0]);
  return { code, text: [...new Set(texts)].join(', ') || code || error.message };
}

/**
 * A URL or `s3://bucket/key` unchanged, else a path relative to `folder`; `null` for a URL of
 * another scheme.
 */
export function sourceLocation(named: string, folder: string): string | null {
  if (/^(?:https?|s3):\/\/./i.test(named)) return named;
  return /^[a-z][a-z0-9+.-]*:\/\//i.test(named) ? null : resolve(folder, named);
}
