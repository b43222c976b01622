import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import type { RouteMatch } from './router.ts';

const lenientUtf8 = new TextDecoder('utf-8', { ignoreBOM: true });

/** Decodes every escape; a `%` that begins none stays as it is, and bytes that are not UTF-8 become U+FFFD. */
export function percentDecoded(text: string): string {
  return text.replace(/(?:%[0-9A-Fa-f]{2})+/g, (escapes) =>
    lenientUtf8.decode(Buffer.from(escapes.replaceAll('%', ''), 'hex')),
  );
}

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

/** What the gateway knows of a request once its body has arrived. */
export interface GatewayRequest {
  readonly id: string;
  readonly method: string;
  readonly target: RequestTarget;
  /** `HTTP/1.1` */
  readonly protocol: string;
  /** Names and values in turn, as they were sent. */
  readonly rawHeaders: readonly string[];
  readonly body: Buffer;
  readonly sourceIp: string;
  /** The port that we listen on. */
  readonly port: number;
  readonly time: Date;
}

/** The event of payload format 2.0 that the real gateway makes of a request. */
export function gatewayEvent(request: GatewayRequest, match: RouteMatch<unknown>): APIGatewayProxyEventV2 {
  const { path, rawQueryString, queryStringParameters } = request.target;
  const { headers, cookies } = eventHeaders(request);
  const routeKey = match.route.key;
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
    ...(match.pathParameters && { pathParameters: match.pathParameters }),
    ...eventBody(request.body, headers['content-type']),
  };
}

/** Lower-case names; repeated ones joined by commas; cookies apart; with those that the gateway itself sets. */
function eventHeaders(request: GatewayRequest): { headers: Record<string, string>; cookies: string[] } {
  const headers = new Map<string, string>([['content-length', `${request.body.length}`]]);
  const cookies: string[] = [];
  const given = new Map<string, string>();
  for (let index = 0; index < request.rawHeaders.length; index += 2) {
    const name = (request.rawHeaders[index] ?? '').toLowerCase();
    const value = request.rawHeaders[index + 1] ?? '';
    if (name === 'cookie') {
      cookies.push(...value.split(/;\s*/).filter((cookie) => cookie !== ''));
    } else {
      const before = given.get(name);
      given.set(name, before === undefined ? value : `${before},${value}`);
    }
  }
  // They describe the connection to the gateway, and end at it.
  for (const name of ['connection', 'keep-alive', 'transfer-encoding', 'te', 'upgrade', 'expect', 'content-length']) {
    given.delete(name);
  }
  for (const [name, value] of given) headers.set(name, value);
  const forwarded = given.get('x-forwarded-for');
  headers.set('x-forwarded-for', forwarded === undefined ? request.sourceIp : `${forwarded}, ${request.sourceIp}`);
  headers.set('x-forwarded-port', `${request.port}`);
  headers.set('x-forwarded-proto', 'http');
  return { headers: Object.fromEntries(headers), cookies };
}

const textTypes = /^(?:text\/|application\/(?:[\w.-]+\+)?(?:json|xml)\b|application\/javascript\b)/i;

/** Text goes as it is and everything else as base64; a form counts as "everything else", as at the real gateway. */
function eventBody(body: Buffer, contentType: string | undefined): { body?: string; isBase64Encoded: boolean } {
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
