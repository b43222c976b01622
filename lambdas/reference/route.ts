import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import middy from '@middy/core';
import { HttpRefusal } from '../http/http-refusal.ts';
import { type Answer, commonHeaders, type RequestEvent } from '../http/middleware.ts';
import { observe } from '../http/observe.ts';
import { renderProblems } from '../http/problem.ts';
import { isDocsPath, isPublished } from '../http/published.ts';
import { acceptedBy, type Language, languageFor } from '../page/language.ts';
import { readBranding } from './branding.ts';
import { docsPage } from './docs-page.ts';
import { deployedDocument } from './openapi-document.ts';
import { hasExplanation, problemPage } from './problem-page.ts';

/** HEAD is handled like GET: the server that writes the response leaves out the body. */
const methods = ['GET', 'HEAD'];

/** `GET /v1/openapi.json`, `/problems/{code}` and `/docs`: the description of the API. Requires no key. */
export function referenceRoute() {
  return middy<RequestEvent, Answer>()
    .use(observe('reference'))
    .use(commonHeaders())
    .use(renderProblems())
    .handler(async (event) => {
      const read = readerOf(event);
      const isRoot = event.rawPath === '/' && isPublished(event);
      if (!read && !isRoot) throw new HttpRefusal({ code: 'not-found' });
      if (!methods.includes(event.requestContext.http.method)) {
        throw new HttpRefusal({ code: 'method-not-allowed', allow: 'GET' });
      }
      if (!read) return redirect();
      return answer(read(), event.headers);
    });
}

/** Leads a person who opened the base URL to the page. */
function redirect(): Answer {
  return { statusCode: 302, headers: { location: '/docs', vary: 'Accept' }, body: '' };
}

const branding = readBranding();

type Document = { headers: Record<string, string>; body: string };
type Published = { headers: Record<string, string>; text: string; gzip: Buffer; etag: string };

/** A small cache: what is read never changes within a deployment, but the page contains the host of the request. */
const read = new Map<string, Published>();
const maxRead = 64;

function readerOf(event: RequestEvent): (() => Published) | undefined {
  const path = event.rawPath;
  const baseUrl = baseUrlOf(event.headers);
  if (path === '/v1/openapi.json') return () => once(`${path} ${baseUrl}`, () => openApi(baseUrl));
  const asked = new URLSearchParams(event.rawQueryString).get('lang');
  const language = languageFor(asked, event.headers['accept-language'], branding.languages, 'en');
  if (isDocsPath(path)) {
    return () => once(`${path} ${language} ${baseUrl}`, () => page(docsPage(language, baseUrl, branding), language));
  }
  const [, code] = /^\/problems\/([^/]+)$/.exec(path) ?? [];
  if (!code || !hasExplanation(code)) return undefined;
  return () => once(`${path} ${language}`, () => page(problemPage(code, language, branding), language));
}

function once(name: string, create: () => Document): Published {
  const known = read.get(name);
  if (known) return known;
  if (read.size >= maxRead) read.clear();
  const published = prepared(create());
  read.set(name, published);
  return published;
}

/** The OpenAPI document of the file, with what only a deployment knows. */
function openApi(baseUrl: string): Document {
  const headers = { 'content-type': 'application/json', vary: 'Accept-Encoding' };
  return { headers, body: JSON.stringify(deployedDocument(baseUrl, branding)) };
}

function page({ html, policy }: { html: string; policy: string }, language: Language): Document {
  const headers = {
    'content-type': 'text/html; charset=utf-8',
    'content-language': language,
    'content-security-policy': policy,
    'referrer-policy': 'no-referrer',
    vary: 'Accept-Encoding, Accept-Language',
  };
  return { headers, body: html };
}

function prepared({ headers, body }: Document): Published {
  const etag = `W/"${createHash('sha256').update(body).digest('base64url')}"`;
  return { headers, text: body, gzip: gzipSync(body), etag };
}

/** Without a body where the client has this version; compressed where it accepts gzip. */
function answer({ headers, text, gzip, etag }: Published, request: RequestEvent['headers']): Answer {
  const validators = { etag, vary: headers.vary ?? '' };
  if (matches(request['if-none-match'], etag)) return { statusCode: 304, headers: validators, body: '' };
  const complete = { ...headers, ...validators };
  if (!acceptedBy(request['accept-encoding']).includes('gzip'))
    return { statusCode: 200, headers: complete, body: text };
  const encoded = { ...complete, 'content-encoding': 'gzip' };
  return { statusCode: 200, headers: encoded, body: gzip.toString('base64'), isBase64Encoded: true };
}

/** The weak comparison of RFC 9110, which `If-None-Match` requires. */
function matches(ifNoneMatch: string | undefined, etag: string): boolean {
  const opaque = (tag: string) => tag.trim().replace(/^W\//, '');
  return (ifNoneMatch ?? '').split(',').some((tag) => tag.trim() === '*' || opaque(tag) === opaque(etag));
}

/** The base URL that the client used. API Gateway accepts only the host names of the deployment. */
function baseUrlOf({ host = '', 'x-forwarded-proto': protocol }: RequestEvent['headers']): string {
  const isHost = /^[a-z0-9.-]+(:[0-9]+)?$/i.test(host);
  return isHost ? `${protocol === 'http' ? 'http' : 'https'}://${host}` : 'https://api.example.nl';
}
