import { SourceError, SourceUnavailableError } from './source.ts';

/** What a request met that got no answer, or not all of one. */
type Trouble = {
  /** What is said of the host, and what to do about it. */
  says: string;
  advice: string;
  /** Whether it may be otherwise in a moment. */
  passes: boolean;
};

const checkAddress = 'Check the address of the extract';
const checkConnection = "check this machine's connection, and whether a firewall or proxy stands between";

/** By the codes of Node and of its `fetch`; the first that fits. */
const troubles: [RegExp, Trouble][] = [
  [/^ERR_INVALID_URL$/, { says: 'is no web address', advice: checkAddress, passes: false }],
  [
    /^(ENOTFOUND|EAI_\w+)$/,
    {
      says: 'is no name that is known here',
      advice: `${checkAddress}, and the connection to the internet`,
      passes: true,
    },
  ],
  [
    /^ECONNREFUSED$/,
    { says: 'refuses the connection', advice: `${checkAddress} and its port, or try again later`, passes: true },
  ],
  [
    /TIMEDOUT|TIMEOUT/,
    { says: 'does not answer in time', advice: `Try again later; ${checkConnection}`, passes: true },
  ],
  [
    /CERT|SSL|TLS|EPROTO|SIGNATURE/,
    {
      says: 'can not be talked to safely',
      advice: `${checkAddress} and the clock of this machine; give the certificate of a proxy in NODE_EXTRA_CA_CERTS`,
      passes: false,
    },
  ],
];
const anyOther: Trouble = {
  says: 'can not be read from',
  advice: `${checkAddress}, and ${checkConnection}`,
  passes: true,
};

/**
 * The error of a request to `url` for people: which host, what happened, and what to do. `fetch` itself only says "fetch
 * failed". @returns SourceUnavailableError where it may pass, else SourceError
 */
export function connectionError(url: string, error: Error): SourceError {
  const reason = innermost(error);
  const { says, advice, passes } = troubles.find(([codes]) => codes.test(reason.code))?.[1] ?? anyOther;
  const host = URL.canParse(url) ? new URL(url).host : url;
  const message = `${host} ${says} (${reason.text}). ${advice}, or get the file in another way and load that.`;
  return new (passes ? SourceUnavailableError : SourceError)(message, { cause: error });
}

/** What lies behind "fetch failed": one cause, or one for each address of the host. */
function innermost(error: Error): { code: string; text: string } {
  const { cause = error } = error as { cause?: Error };
  const all = cause instanceof AggregateError ? (cause.errors as Error[]) : [cause];
  const { code = '' } = (all[0] ?? cause) as NodeJS.ErrnoException;
  const texts = all.map(({ message }) => message.trim().split('\n')[0]);
  return { code, text: [...new Set(texts)].join(', ') || code || error.message };
}
