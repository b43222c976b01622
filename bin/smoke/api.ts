/** An answer as a caller gets it; names of headers in lower case. */
export type Answer = {
  /** `GET /v1/address?...`, for messages; it never holds the key. */
  asked: string;
  status: number;
  headers: Record<string, string>;
  text: string;
  /** The body where it is JSON. */
  json: Record<string, unknown> | null;
  milliseconds: number;
};

export type Asking = {
  method?: string;
  /** Left out: the key under test; `null`: none. */
  key?: string | null;
  headers?: Record<string, string>;
  /** What a message shows in the place of the path, where that holds a key. */
  shown?: string;
};

/** The interface under test, as its callers see it. It keeps every answer. */
export interface Api {
  send(path: string, asking?: Asking): Promise<Answer>;
  readonly answers: readonly Answer[];
  /** How many answers were charged to the account. */
  charged(): number;
}

/** Twice the five seconds in which every request has to be answered. */
const patienceMilliseconds = 10_000;

/** No answer at all: the address is wrong, or nothing is there. */
export class NoAnswerError extends Error {
  override name = 'NoAnswerError';
}

/** @throws NoAnswerError from `send` */
export function createApi(baseUrl: string, key: string): Api {
  const base = baseUrl.replace(/\/+$/, '');
  const answers: Answer[] = [];
  return {
    answers,
    charged: () => answers.filter(({ asked, status }) => status === 200 && asked.startsWith('GET /v1/address?')).length,
    async send(path, { method = 'GET', key: given = key, headers = {}, shown = path } = {}) {
      const startedAt = performance.now();
      try {
        const response = await fetch(base + path, {
          method,
          headers: { ...(given === null ? {} : { 'x-api-key': given }), ...headers },
          redirect: 'manual',
          signal: AbortSignal.timeout(patienceMilliseconds),
        });
        const text = await response.text();
        const answer = {
          asked: `${method} ${shown}`,
          status: response.status,
          headers: Object.fromEntries(response.headers),
          text,
          json: parsed(text),
          milliseconds: performance.now() - startedAt,
        };
        answers.push(answer);
        return answer;
      } catch (error) {
        throw new NoAnswerError(`${method} ${shown}: ${reasonOf(error as Error)}`, { cause: error });
      }
    },
  };
}

/** Several addresses that refuse make an error without a message of its own. */
function reasonOf({ message, cause }: Error): string {
  if (!(cause instanceof Error)) return message;
  return cause.message || String((cause as NodeJS.ErrnoException).code);
}

function parsed(text: string): Answer['json'] {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Answer['json']) : null;
  } catch {
    return null;
  }
}
