/** A response of the HTTP API; header names are in lower case. */
export type ApiAnswer = {
  status: number;
  headers: Record<string, string>;
  text: string;
  /** The body if it is a JSON object. */
  json: Record<string, unknown> | null;
  milliseconds: number;
};

export type ApiRequest = {
  method?: string;
  /** None by default. */
  key?: string | null;
  headers?: Record<string, string>;
  body?: string;
  signal?: AbortSignal;
};

/** No response: a wrong URL, or no service is running there. */
export class NoAnswerError extends Error {
  override name = 'NoAnswerError';
}

/** Twice the five seconds of every response. */
const timeoutMilliseconds = 10_000;

/**
 * Sends a request to the HTTP API, as a consumer does. Follows no redirect. @throws NoAnswerError
 */
export async function callApi(
  url: string | URL,
  {
    key = null,
    headers = {},
    signal = AbortSignal.timeout(timeoutMilliseconds),
    ...request
  }: ApiRequest = {},
): Promise<ApiAnswer> {
  const startedAt = performance.now();
  try {
    const response = await fetch(url, {
      ...request,
      headers: { ...(key !== null && { 'x-api-key': key }), ...headers },
      redirect: 'manual',
      signal,
    });
    const text = await response.text();
    const milliseconds = performance.now() - startedAt;
    const { status } = response;
    return {
      status,
      headers: Object.fromEntries(response.headers),
      text,
      json: objectIn(text),
      milliseconds,
    };
  } catch (error) {
    throw new NoAnswerError(reasonOf(error as Error), { cause: error });
  }
}

/** When several addresses refuse the connection, the error itself has no message. */
function reasonOf({ message, cause }: Error): string {
  if (!(cause instanceof Error)) return message;
  return cause.message || String((cause as NodeJS.ErrnoException).code);
}

function objectIn(text: string): ApiAnswer['json'] {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? { ...value }
      : null;
  } catch {
    return null;
  }
}
