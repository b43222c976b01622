import { randomUUID } from 'node:crypto';
import type { APIGatewayProxyEventV2, Context } from 'aws-lambda';

export type TestRequest = {
  method?: string;
  headers?: Record<string, string>;
  requestId?: string;
  /** How long ago the gateway received it, in milliseconds. */
  waited?: number;
  /** Sent as API Gateway sends what is not text of its kinds: in base64, if it is bytes. */
  body?: string | Uint8Array;
};

/**
 * The event that the gateway makes of a request (payload format 2.0); `url` is a path with its raw
 * query.
 */
export function gatewayEvent(url: string, request: TestRequest = {}) {
  const { method = 'GET', headers = {}, requestId, waited = 0, body } = request;
  const [path = '', ...query] = url.split('?');
  const now = new Date();
  return {
    version: '2.0',
    routeKey: '$default',
    rawPath: path,
    rawQueryString: query.join('?'),
    headers: Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
    ),
    requestContext: {
      accountId: '123456789012',
      apiId: 'api',
      domainName: 'localhost',
      domainPrefix: 'localhost',
      http: { method, path, protocol: 'HTTP/1.1', sourceIp: '127.0.0.1', userAgent: 'test' },
      requestId: requestId ?? randomUUID(),
      routeKey: '$default',
      stage: '$default',
      time: now.toUTCString(),
      timeEpoch: now.getTime() - waited,
    },
    ...(body !== undefined && {
      body: typeof body === 'string' ? body : Buffer.from(body).toString('base64'),
    }),
    isBase64Encoded: body !== undefined && typeof body !== 'string',
  } satisfies APIGatewayProxyEventV2;
}

/** The Lambda context; no handler of ours looks at it. */
export const lambdaContext = {} as Context;
