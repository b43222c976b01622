import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import middy from '@middy/core';
import { Refusal } from '../shared/accounts/refusal.ts';
import { type Answer, commonHeaders, type RequestEvent } from '../shared/http/event.ts';
import { observe } from '../shared/http/observe.ts';
import { renderProblems } from '../shared/http/problem.ts';
import { isExplained, problemPage } from './problem-page.ts';

const published = /^\/(?:v1\/openapi\.json|problems\/[^/]+)$/;

/** Whether this route handles the path. */
export function isPublished(path: string): boolean {
  return published.test(path);
}

/** `GET /v1/openapi.json` and `GET /problems/{code}`: the description of the API. Requires no key. */
export function referenceRoute() {
  return middy<RequestEvent, Answer>()
    .use(observe('reference'))
    .use(commonHeaders())
    .use(renderProblems())
    .handler(async (event) => {
      const document = documentAt(event);
      if (!document) throw new Refusal({ code: 'not-found' });
      if (event.requestContext.http.method !== 'GET') throw new Refusal({ code: 'method-not-allowed' });
      return await document();
    });
}

function documentAt({ rawPath, headers }: RequestEvent): (() => Answer | Promise<Answer>) | undefined {
  if (rawPath === '/v1/openapi.json') return () => openApiAnswer(headers);
  const [, code] = /^\/problems\/([^/]+)$/.exec(rawPath) ?? [];
  return code && isExplained(code) ? () => page(problemPage(code)) : undefined;
}

function page(body: string): Answer {
  const headers = {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
    'referrer-policy': 'no-referrer',
  };
  return { statusCode: 200, headers, body };
}

let openApi: Promise<{ text: string; gzip: string; etag: string }> | undefined;

/** The OpenAPI document as it is in the file, loaded with the first request for it, so that cold starts stay short. */
async function readOpenApi() {
  const document = (await import('../../docs/openapi.json', { with: { type: 'json' } })).default;
  const text = JSON.stringify(document);
  const etag = `W/"${createHash('sha256').update(text).digest('base64url')}"`;
  return { text, gzip: gzipSync(text).toString('base64'), etag };
}

/** Without a body where the client has this version; compressed where it accepts gzip. */
async function openApiAnswer(requestHeaders: RequestEvent['headers']): Promise<Answer> {
  openApi ??= readOpenApi();
  const { text, gzip, etag } = await openApi;
  const headers = { etag, vary: 'Accept-Encoding' };
  if (matches(requestHeaders['if-none-match'], etag)) return { statusCode: 304, headers, body: '' };
  const json = { ...headers, 'content-type': 'application/json' };
  if (!acceptsGzip(requestHeaders['accept-encoding'])) return { statusCode: 200, headers: json, body: text };
  return { statusCode: 200, headers: { ...json, 'content-encoding': 'gzip' }, body: gzip, isBase64Encoded: true };
}

/** The weak comparison of RFC 9110, which `If-None-Match` asks for. */
function matches(ifNoneMatch: string | undefined, etag: string): boolean {
  const opaque = (tag: string) => tag.trim().replace(/^W\//, '');
  return (ifNoneMatch ?? '').split(',').some((tag) => tag.trim() === '*' || opaque(tag) === opaque(etag));
}

function acceptsGzip(acceptEncoding = ''): boolean {
  return acceptEncoding.split(',').some((coding) => {
    const [name = '', weight = ''] = coding
      .trim()
      .toLowerCase()
      .split(/\s*;\s*q=/);
    return name === 'gzip' && (weight === '' || Number(weight) > 0);
  });
}
