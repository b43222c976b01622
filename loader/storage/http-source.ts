import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { get as getSecurely } from 'node:https';
import { Backoff, type RetryOptions, retryWithBackoff } from '../../core/retry.ts';
import type { SourceVersion } from '../dataset/load.ts';
import {
  connectionError,
  isSameVersion,
  type Source,
  SourceChangedError,
  SourceError,
  SourceUnavailableError,
} from './source.ts';

/** The first pause before another attempt, and how long a server may be silent; in milliseconds. */
type Timing = { pause: number; idle: number };

/**
 * `null` when it is still `known`. Retries from the byte at which a download stopped. @throws
 * SourceError
 */
export async function httpSource(
  url: string,
  known?: SourceVersion,
  { pause = 330, idle = 60_000 } = {},
) {
  const timing: Timing = { pause, idle };
  const found = await probe(url, known, timing);
  if (!found) return null;
  const { version, ranges } = await withStableTag(found, timing);
  return sourceOf(version, ranges, timing);
}

const firstByte = 'bytes=0-0';

/**
 * Requests one byte: the response has the size, the version, and whether the server supports
 * ranges.
 */
async function probe(url: string, known: SourceVersion | undefined, { pause, idle }: Timing) {
  const conditions = known?.location === url ? known : undefined;
  const headers: Record<string, string> = { range: firstByte };
  if (conditions?.etag) headers['if-none-match'] = conditions.etag;
  else if (conditions?.lastModified) headers['if-modified-since'] = conditions.lastModified;
  return retryWithBackoff(async () => {
    const response = await request(url, headers, idle).catch((error: unknown) => {
      throw asSourceError(url, error);
    });
    response.destroy();
    if (response.statusCode === 304) {
      if (headers['if-none-match'] ?? headers['if-modified-since']) return null;
      // A cache has nothing to offer, and that must not count as nothing new.
      throw new SourceUnavailableError(
        `${url} returned 304 to a request without a condition. Try again later, or use another URL.`,
      );
    }
    const version = versionOf(url, response);
    // A server may ignore the condition of a request that also has a range.
    if (conditions?.etag && conditions.etag === version.etag) return null;
    return { version, ranges: response.statusCode === 206 };
  }, retryOptions(pause));
}

/**
 * Drops the ETag of a server that sends a different one with each response and no Last-Modified to
 * compare instead.
 */
async function withStableTag<Found extends { version: SourceVersion }>(
  found: Found,
  timing: Timing,
): Promise<Found> {
  const { version } = found;
  if (version.etag === null || version.lastModified !== null) return found;
  const again = await probe(version.location, undefined, timing);
  return again?.version.etag === version.etag
    ? found
    : { ...found, version: { ...version, etag: null } };
}

function sourceOf(version: SourceVersion, ranges: boolean, { pause, idle }: Timing): Source {
  const url = version.location;
  /**
   * Reads from byte `position` up to `end` (or the end of the file), in as many requests as it
   * takes.
   */
  async function* read(position: number, end: number | null): AsyncGenerator<Buffer> {
    let at = position;
    const backoff = new Backoff(retryOptions(pause));
    while (end === null || at < end) {
      try {
        for await (const chunk of oneRequest(at, end)) {
          at += chunk.length;
          backoff.reset();
          yield chunk;
        }
        if (end !== null && at < end) throw new TypeError(`${url} ended at byte ${at} of ${end}`);
        return;
      } catch (error) {
        if (!ranges && at > 0) {
          throw new SourceUnavailableError(
            `The connection to ${url} broke at byte ${at}. Run the load again.`,
            {
              cause: error,
            },
          );
        }
        await backoff.pause(asSourceError(url, error));
      }
    }
  }
  async function* oneRequest(at: number, end: number | null): AsyncGenerator<Buffer> {
    const headers: Record<string, string> = {};
    if (ranges) headers.range = `bytes=${at}-${end === null ? '' : end - 1}`;
    const response = await request(url, headers, idle);
    try {
      const now = versionOf(url, response);
      // A version without an ETag is of a server whose ETags are unstable.
      if (!isSameVersion(version, { ...now, etag: version.etag && now.etag })) {
        throw new SourceChangedError(url);
      }
      if (ranges && !response.headers['content-range']?.startsWith(`bytes ${at}-`)) {
        throw new SourceError(`${url} returned another range than the one requested.`);
      }
      yield* response as AsyncIterable<Buffer>;
    } finally {
      response.destroy();
    }
  }
  const { size } = version;
  return {
    version,
    access:
      ranges && size !== null
        ? {
            size,
            async read(position, length) {
              const chunks: Buffer[] = [];
              for await (const chunk of read(position, position + length)) chunks.push(chunk);
              return Buffer.concat(chunks);
            },
          }
        : null,
    stream: () => read(0, size),
    close: async () => undefined,
  };
}

/**
 * One response, whose body can be read. A server that is silent for `idle` ends that with an error.
 */
async function request(
  url: string,
  headers: Record<string, string>,
  idle: number,
): Promise<IncomingMessage> {
  const response = await httpGet(url, { ...headers, 'accept-encoding': 'identity' }, idle);
  const { statusCode: status = 0 } = response;
  if ((status >= 200 && status < 300) || status === 304) return response;
  response.destroy();
  // The file had this byte when its size was asked for.
  if (status === 416 && headers.range !== firstByte) throw new SourceChangedError(url);
  throw statusError(url, status);
}

/** The meaning of each status and its remedy, unless that is just to check the URL. */
const statuses: Partial<Record<number, string>> = {
  401: 'asks for a sign-in (401). Use a URL that can be read without one, or download the file and load that.',
  403: 'may not be read from here (403): it needs a sign-in, its signed URL has expired, or its server blocks this machine. Get a new URL, or download the file and load that.',
  404: 'does not exist (404). Check the URL.',
  410: 'does not exist (410). Check the URL.',
  416: "has no bytes (416): it is empty, or its server can't send a part of a file. Open the URL in a browser; if a file comes, load that, else ask the supplier.",
};

function statusError(url: string, status: number): SourceError {
  const known = statuses[status];
  if (known !== undefined) return new SourceError(`${url} ${known}`);
  const message = `${url} returned ${status}.`;
  return status === 429 || status >= 500
    ? new SourceUnavailableError(`${message} Try again later.`)
    : new SourceError(`${message} Check the URL, and whether this machine may read it.`);
}

/** Retries if the server can't be reached, drops the connection, or returns 429 or 5xx. */
function retryOptions(firstPauseMilliseconds: number): RetryOptions {
  return {
    attempts: 6,
    firstPauseMilliseconds,
    retryIf: (error) => error instanceof SourceUnavailableError,
  };
}

function asSourceError(url: string, error: unknown): SourceError {
  return error instanceof SourceError ? error : connectionError(url, error as Error);
}

function versionOf(url: string, { statusCode, headers }: IncomingMessage): SourceVersion {
  const total = /\/(\d+)$/.exec(headers['content-range'] ?? '')?.[1];
  const length = statusCode === 206 ? total : headers['content-length'];
  return {
    location: url,
    size: length ? Number(length) : null,
    etag: headers.etag ?? null,
    lastModified: headers['last-modified'] ?? null,
  };
}

const mostRedirects = 5;

/**
 * Requests a URL and follows redirects. The body of the response was not read yet: reading it fails
 * if the connection ends before it is complete, or is idle for too long.
 *
 * Not with `fetch`, whose parser fails an assertion that can't be caught when a connection ends
 * while the body waits to be read and has no Content-Length, and which treats the body as complete
 * when such a connection is reset.
 * @throws errors of Node's HTTP client
 */
async function httpGet(
  url: string,
  headers: Record<string, string>,
  idle: number,
): Promise<IncomingMessage> {
  let location = new URL(url);
  for (let redirects = 0; ; redirects++) {
    const response = await getOnce(location, headers, idle);
    const isRedirect = [301, 302, 303, 307, 308].includes(response.statusCode ?? 0);
    const next = isRedirect ? response.headers.location : undefined;
    if (next === undefined || redirects === mostRedirects) return response;
    response.destroy();
    location = new URL(next, location);
  }
}

async function getOnce(
  url: URL,
  headers: Record<string, string>,
  idle: number,
): Promise<IncomingMessage> {
  const send = url.protocol === 'https:' ? getSecurely : get;
  const request = send(url, { headers, timeout: idle });
  const silence = Object.assign(new Error(`no data for ${idle / 1000} s`), { code: 'ETIMEDOUT' });
  request.once('timeout', () => request.destroy(silence));
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  // The reader of the body gets its error; without a reader it must not end the process.
  response.on('error', () => undefined);
  // Node takes the end of the connection for the end of a body without a length, even when it was
  // reset.
  request.on('error', (error) => response.destroy(error));
  return response;
}
