import { once } from 'node:events';
import { get as getHttp, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { get as getHttps } from 'node:https';

/** An answer whose body was not read yet. */
export type HttpAnswer = {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Fails where the connection ends before the answer does. */
  readonly body: AsyncIterable<Buffer>;
  /** Ends an answer whose body nobody reads to its end. Safe to call again. */
  leave(): void;
};

const mostRedirects = 5;

/**
 * Asks for a URL and follows redirects. Aborting the signal ends the request, or the reading of the body, with its reason.
 *
 * Not with `fetch`, whose parser fails an assertion that nobody can catch when a connection ends while the body waits to be
 * read and has no Content-Length, and which takes the body for complete when such a connection is reset.
 * @throws errors of Node's HTTP client
 */
export async function httpGet(url: string, headers: Record<string, string>, signal: AbortSignal): Promise<HttpAnswer> {
  let location = new URL(url);
  for (let redirects = 0; ; redirects++) {
    const answer = await ask(location, headers, signal);
    const next = [301, 302, 303, 307, 308].includes(answer.status) ? answer.headers.location : undefined;
    if (next === undefined || redirects === mostRedirects) return answer;
    answer.leave();
    location = new URL(next, location);
  }
}

async function ask(url: URL, headers: Record<string, string>, signal: AbortSignal): Promise<HttpAnswer> {
  signal.throwIfAborted();
  const request = (url.protocol === 'https:' ? getHttps : getHttp)(url, { headers });
  const abort = () => request.destroy(signal.reason);
  signal.addEventListener('abort', abort);
  request.once('close', () => signal.removeEventListener('abort', abort));
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  signal.addEventListener('abort', () => response.destroy(signal.reason), { once: true });
  // Whoever reads the body gets its error; nobody need read it.
  response.on('error', () => undefined);
  // Of a body without a length, Node takes the end of a connection for that of the body, also when it was reset.
  request.on('error', (error) => response.destroy(error));
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    body: response,
    leave: () => void response.destroy(),
  };
}
