import { percentDecoded } from './percent-encoding.ts';

/** The parts of a request line's target, in the shapes that payload format 2.0 gives them. */
export interface RequestTarget {
  /** The path, decoded: the real gateway's `rawPath` is not raw. */
  readonly path: string;
  /** The query as it was sent, without the `?`. */
  readonly rawQueryString: string;
  /** Decoded, with the values of a repeated name joined by commas, in order; absent without a query. */
  readonly queryStringParameters?: Record<string, string>;
}

/** Reads `/path?query` or `http://host/path?query`; `undefined` is a bad request. */
export function requestTarget(target: string): RequestTarget | undefined {
  const local = target.replace(/^https?:\/\/[^/?#]*/i, '');
  const isAbsolute = local !== target;
  if (!local.startsWith('/') && !isAbsolute) return undefined;
  const [path = '', ...query] = local.replace(/#.*$/s, '').split('?');
  const rawQueryString = query.join('?');
  const parameters = queryParameters(rawQueryString);
  return {
    path: percentDecoded(path === '' ? '/' : path),
    rawQueryString,
    ...(parameters.size > 0 && { queryStringParameters: Object.fromEntries(parameters) }),
  };
}

function queryParameters(rawQueryString: string): Map<string, string> {
  const parameters = new Map<string, string>();
  for (const pair of rawQueryString.split('&')) {
    if (pair === '') continue;
    const [name = '', ...rest] = pair.split('=').map((part) => percentDecoded(part.replaceAll('+', ' ')));
    const value = rest.join('=');
    const before = parameters.get(name);
    parameters.set(name, before === undefined ? value : `${before},${value}`);
  }
  return parameters;
}
