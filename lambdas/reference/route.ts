import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import middy from '@middy/core';
import { Refusal } from '../shared/accounts/refusal.ts';
import { type Answer, commonHeaders, type RequestEvent } from '../shared/http/event.ts';
import { observe } from '../shared/http/observe.ts';
import { renderProblems } from '../shared/http/problem.ts';
import { isDocsPath, readDocsFile } from './docs-page.ts';
import { isExplained, problemPage } from './problem-page.ts';

/** Whether this route handles the path. */
export function isPublished(path: string): boolean {
  return path === '/v1/openapi.json' || /^\/problems\/[^/]+$/.test(path) || isDocsPath(path);
}

/** `GET /v1/openapi.json`, `/problems/{code}` and `/docs`: the description of the API. Requires no key. */
export function referenceRoute() {
  return middy<RequestEvent, Answer>()
    .use(observe('reference'))
    .use(commonHeaders())
    .use(renderProblems())
    .handler(async (event) => {
      const read = readerOf(event.rawPath);
      if (!read) throw new Refusal({ code: 'not-found' });
      if (event.requestContext.http.method !== 'GET') throw new Refusal({ code: 'method-not-allowed' });
      return answer(await read(), event.headers);
    });
}

type Published = { headers: Record<string, string>; text: Buffer; gzip: Buffer; etag: string };

/** What was read before. The files of a deployment never change. */
const read = new Map<string, Promise<Published>>();

function readerOf(path: string): (() => Promise<Published>) | undefined {
  const reader =
    path === '/v1/openapi.json' ? openApi : isDocsPath(path) ? () => readDocsFile(path) : problemReader(path);
  if (!reader) return undefined;
  return () => {
    const published = read.get(path) ?? reader().then(prepared);
    read.set(path, published);
    return published;
  };
}

type Document = { headers: Record<string, string>; body: Buffer };

/** The OpenAPI document as it is in the file, loaded with the first request for it, so that cold starts stay short. */
async function openApi(): Promise<Document> {
  const document = (await import('../../docs/openapi.json', { with: { type: 'json' } })).default;
  return { headers: { 'content-type': 'application/json' }, body: Buffer.from(JSON.stringify(document)) };
}

function problemReader(path: string): (() => Promise<Document>) | undefined {
  const [, code] = /^\/problems\/([^/]+)$/.exec(path) ?? [];
  if (!code || !isExplained(code)) return undefined;
  const headers = {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
    'referrer-policy': 'no-referrer',
  };
  return async () => ({ headers, body: Buffer.from(problemPage(code)) });
}

function prepared({ headers, body }: Document): Published {
  const etag = `W/"${createHash('sha256').update(body).digest('base64url')}"`;
  return { headers, text: body, gzip: gzipSync(body), etag };
}

/** Without a body where the client has this version; compressed where it accepts gzip. */
function answer({ headers, text, gzip, etag }: Published, request: RequestEvent['headers']): Answer {
  const validators = { etag, vary: 'Accept-Encoding' };
  if (matches(request['if-none-match'], etag)) return { statusCode: 304, headers: validators, body: '' };
  const complete = { ...headers, ...validators };
  if (!acceptsGzip(request['accept-encoding'])) return { statusCode: 200, headers: complete, body: text.toString() };
  const encoded = { ...complete, 'content-encoding': 'gzip' };
  return { statusCode: 200, headers: encoded, body: gzip.toString('base64'), isBase64Encoded: true };
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
