import { validateHeaderName, validateHeaderValue } from 'node:http';
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from 'aws-lambda';

const lenientUtf8 = new TextDecoder('utf-8', { ignoreBOM: true });

/**
 * Decodes percent escapes. A `%` that starts no escape stays as it is; bytes that are not UTF-8
 * become U+FFFD.
 */
function percentDecoded(text: string): string {
  if (!text.includes('%')) return text;
  return text.replace(/(?:%[0-9A-Fa-f]{2})+/g, (escapes) =>
    lenientUtf8.decode(Buffer.from(escapes.replaceAll('%', ''), 'hex')),
  );
}

/** The target of a request line, in the form that payload format 2.0 has. */
export type RequestTarget = {
  /** The decoded path: API Gateway's `rawPath` is not raw. */
  readonly path: string;
  /** The query as sent, without the `?`. */
  readonly rawQueryString: string;
  /** Decoded; the values of a repeated name are joined by commas. Absent when there is no query. */
  readonly queryStringParameters?: Record<string, string>;
};

/** Parses `/path?query` or `http://host/path?query`; returns `undefined` for a bad request. */
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
    const [name = '', ...rest] = pair
      .split('=')
      .map((part) => percentDecoded(part.replaceAll('+', ' ')));
    const value = rest.join('=');
    const before = parameters.get(name);
    parameters.set(name, before === undefined ? value : `${before},${value}`);
  }
  return parameters;
}

/** A route of the API: `$default`, or a method (or `ANY`) and a path without variables. */
export type Route<Target> = {
  readonly key: string;
  readonly target: Target;
};

/** Selects a route as API Gateway does: its own method before `ANY`, and `$default` last. */
export function matchRoute<Target>(
  routes: readonly Route<Target>[],
  method: string,
  path: string,
): Route<Target> | undefined {
  const withKey = (wanted: string) => routes.find(({ key }) => key === wanted);
  return withKey(`${method} ${path}`) ?? withKey(`ANY ${path}`) ?? withKey('$default');
}

/** A request whose body has arrived. */
export type GatewayRequest = {
  readonly id: string;
  readonly method: string;
  readonly target: RequestTarget;
  /** `HTTP/1.1` */
  readonly protocol: string;
  /** Alternating names and values, as sent. */
  readonly rawHeaders: readonly string[];
  readonly body: Buffer;
  readonly sourceIp: string;
  /** The port that the gateway listens on. */
  readonly port: number;
  readonly time: Date;
};

/** The event of payload format 2.0 that API Gateway creates for a request. */
export function gatewayEvent(request: GatewayRequest, routeKey: string): APIGatewayProxyEventV2 {
  const { path, rawQueryString, queryStringParameters } = request.target;
  const { headers, cookies } = eventHeaders(request);
  const host = (headers.host ?? 'localhost').toLowerCase().replace(/:\d+$/, '');
  return {
    version: '2.0',
    routeKey,
    rawPath: path,
    rawQueryString,
    ...(cookies.length > 0 && { cookies }),
    headers,
    ...(queryStringParameters && { queryStringParameters }),
    requestContext: {
      accountId: '000000000000',
      apiId: 'local',
      domainName: host,
      domainPrefix: host.split('.')[0] ?? host,
      http: {
        method: request.method,
        path,
        protocol: request.protocol,
        sourceIp: request.sourceIp,
        userAgent: headers['user-agent'] ?? '',
      },
      requestId: request.id,
      routeKey,
      stage: '$default',
      time: commonLogTime(request.time),
      timeEpoch: request.time.getTime(),
    },
    ...eventBody(request.body, headers['content-type']),
  };
}

/**
 * Headers with lower-case names, repeated ones joined by commas, and API Gateway's own headers;
 * cookies separately.
 */
function eventHeaders(request: GatewayRequest): {
  headers: Record<string, string>;
  cookies: string[];
} {
  const headers = new Map<string, string>([['content-length', `${request.body.length}`]]);
  const cookies: string[] = [];
  const given = new Map<string, string>();
  for (let index = 0; index < request.rawHeaders.length; index += 2) {
    const name = (request.rawHeaders[index] ?? '').toLowerCase();
    const value = request.rawHeaders[index + 1] ?? '';
    if (name === 'cookie') {
      const parts = value.split(';').map((cookie) => cookie.trimStart());
      cookies.push(...parts.filter((cookie) => cookie !== ''));
    } else {
      const before = given.get(name);
      given.set(name, before === undefined ? value : `${before},${value}`);
    }
  }
  // These describe the connection to the gateway, which does not pass them on.
  for (const name of [
    'connection',
    'keep-alive',
    'transfer-encoding',
    'te',
    'upgrade',
    'expect',
    'content-length',
  ]) {
    given.delete(name);
  }
  for (const [name, value] of given) headers.set(name, value);
  const forwarded = given.get('x-forwarded-for');
  headers.set(
    'x-forwarded-for',
    forwarded === undefined ? request.sourceIp : `${forwarded}, ${request.sourceIp}`,
  );
  headers.set('x-forwarded-port', `${request.port}`);
  headers.set('x-forwarded-proto', 'http');
  return { headers: Object.fromEntries(headers), cookies };
}

const textTypes =
  /^(?:text\/|application\/(?:[\w.-]+\+)?(?:json|xml)\b|application\/javascript\b)/i;

/** Text bodies stay text; everything else becomes base64, forms too, as API Gateway does. */
function eventBody(
  body: Buffer,
  contentType: string | undefined,
): { body?: string; isBase64Encoded: boolean } {
  if (body.length === 0) return { isBase64Encoded: false };
  const isText = contentType !== undefined && textTypes.test(contentType);
  return { body: body.toString(isText ? 'utf8' : 'base64'), isBase64Encoded: !isText };
}

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** `12/Mar/2020:19:03:58 +0000` */
function commonLogTime(time: Date): string {
  const [date = '', clock = ''] = time.toISOString().split('T');
  const [year, month, day] = date.split('-');
  return `${day}/${months[Number(month) - 1]}/${year}:${clock.slice(0, 8)} +0000`;
}

/** A response to the client, with its headers in order. */
export type GatewayAnswer = {
  readonly statusCode: number;
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** Node sends text in one piece with the headers. */
  readonly body: string | Buffer;
};

/** A response of the gateway itself: `{"message":"Not Found"}`. */
export function ownAnswer(statusCode: number, message: string): GatewayAnswer {
  return {
    statusCode,
    headers: [['Content-Type', 'application/json']],
    body: JSON.stringify({ message }),
  };
}

/** The response when an integration failed or returned something that is not a response. */
export const integrationFailed = ownAnswer(500, 'Internal Server Error');

const isText = (value: unknown) => typeof value === 'string';
const isScalar = (value: unknown) => ['string', 'number', 'boolean'].includes(typeof value);

/**
 * Whether each field has a type that the format allows; API Gateway takes a `null` for an absent
 * one.
 */
function isFormatted(
  returned: object,
): returned is APIGatewayProxyStructuredResultV2 & { statusCode: number } {
  const { statusCode, headers, cookies, body, isBase64Encoded } = returned as Record<
    string,
    unknown
  >;
  if (!Number.isInteger(statusCode) || Number(statusCode) < 200 || Number(statusCode) > 599) {
    return false;
  }
  const named = headers ?? {};
  const listed = cookies ?? [];
  if (typeof named !== 'object' || Array.isArray(named) || !Object.values(named).every(isScalar)) {
    return false;
  }
  if (!Array.isArray(listed) || !listed.every(isText)) return false;
  return isText(body ?? '') && typeof (isBase64Encoded ?? false) === 'boolean';
}

/** These describe the connection, which belongs to the gateway. */
const connectionHeaders =
  /^(?:connection|content-length|keep-alive|proxy-connection|te|trailer|transfer-encoding|upgrade)$/i;

/**
 * Turns the result of a function into a response by the rules of payload format 2.0: an object with
 * a `statusCode` is a response; anything else is the body of a 200.
 */
export function integrationAnswer(returned: unknown): GatewayAnswer {
  if (typeof returned !== 'object' || returned === null || !('statusCode' in returned)) {
    const body = typeof returned === 'string' ? returned : (JSON.stringify(returned) ?? 'null');
    return { statusCode: 200, headers: [['Content-Type', 'application/json']], body };
  }
  if (!isFormatted(returned)) return integrationFailed;
  const { statusCode, headers, cookies, body, isBase64Encoded } = returned;
  const sent: [name: string, value: string][] = [];
  for (const [name, value] of Object.entries(headers ?? {})) {
    if (!connectionHeaders.test(name)) sent.push([name, String(value)]);
  }
  for (const cookie of cookies ?? []) sent.push(['Set-Cookie', cookie]);
  if (!sent.every(([name, value]) => isSendable(name, value))) return integrationFailed;
  if (!sent.some(([name]) => name.toLowerCase() === 'content-type')) {
    sent.push(['Content-Type', 'text/plain; charset=utf-8']);
  }
  return {
    statusCode,
    headers: sent,
    body: isBase64Encoded ? Buffer.from(body ?? '', 'base64') : (body ?? ''),
  };
}

function isSendable(name: string, value: string): boolean {
  try {
    validateHeaderName(name);
    validateHeaderValue(name, value);
    return true;
  } catch {
    return false;
  }
}
