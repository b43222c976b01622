import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import middy from '@middy/core';
import type { Environment } from '../../core/environment.ts';
import { changesFeed } from '../../packages/reference/changes.ts';
import { docsPage } from '../../packages/reference/docs-page.ts';
import { indexForPrograms, markdownOf } from '../../packages/reference/markdown.ts';
import { postmanCollection } from '../../packages/reference/postman.ts';
import {
  hasExplanation,
  problemPage,
  unknownProblemPage,
} from '../../packages/reference/problem-page.ts';
import {
  isBrowser,
  isPublished,
  isPublishedPath,
  type PublishedPath,
} from '../../packages/reference/published.ts';
import { type Site, siteOf } from '../../packages/reference/site.ts';
import { icon } from '../../packages/ui/assets.ts';
import { acceptedBy, type Language, languageFor } from '../../packages/ui/language.ts';
import { HttpRefusal } from '../http/http-refusal.ts';
import { type Answer, commonHeaders, type RequestEvent } from '../http/middleware.ts';
import { observe, type RequestLog } from '../http/observe.ts';
import { renderProblems } from '../http/problem.ts';

/** HEAD is handled like GET: the server that writes the response leaves out the body. */
const methods = ['GET', 'HEAD'];

/**
 * Everything that is published about the API: documents, `/problems/{code}` and `/docs`. Requires
 * no key.
 */
export function referenceRoute(variables: Environment, log?: RequestLog) {
  const site = siteOf(variables);
  const readerOf = readers(site);
  return middy<RequestEvent, Answer>()
    .use(observe('reference', log))
    .use(commonHeaders())
    .use(renderProblems())
    .handler(async (event) => {
      const read = readerOf(event);
      const isRoot = event.rawPath === '/' && isPublished(event, site.hasDocs);
      if (!read && !isRoot) throw new HttpRefusal({ code: 'not-found' });
      if (!methods.includes(event.requestContext.http.method)) {
        throw new HttpRefusal({ code: 'method-not-allowed', allow: 'GET' });
      }
      if (!read) {
        return { statusCode: 302, headers: { location: '/docs', vary: 'Accept' }, body: '' };
      }
      return answer(read(), event.headers);
    });
}

type Document = { status?: number; headers: Record<string, string>; body: string };
type Published = {
  status: number;
  headers: Record<string, string>;
  text: string;
  gzip: Buffer;
  etag: string;
};

type Asked = { site: Site; baseUrl: string; language: Language };

const openApi = ({ site, baseUrl }: Asked) =>
  json(site.api.deployedAt(baseUrl, site.branding, site.hasDocs));

const documents: Record<PublishedPath, (asked: Asked) => Document> = {
  '/v1/openapi.json': openApi,
  '/openapi.json': openApi,
  '/postman.json': ({ site, baseUrl }) => json(postmanCollection(site.api, baseUrl)),
  '/docs': ({ site, baseUrl, language }) => page(docsPage(language, baseUrl, site), language),
  '/docs.md': ({ site, baseUrl, language }) =>
    inLanguage(language, 'text/markdown', markdownOf(docsPage(language, baseUrl, site).html)),
  '/llms.txt': ({ site, baseUrl }) => text('text/plain', indexForPrograms(site.api, baseUrl)),
  '/changes.xml': ({ site, baseUrl }) =>
    text('application/rss+xml', changesFeed(site.api, baseUrl)),
  '/favicon.ico': ({ site }) => text('image/svg+xml', icon(site.branding)),
};

const maxRead = 64;

/**
 * Finds the content for a request. It never changes within a deployment, but without a public URL
 * the documents name the request's host.
 */
function readers(site: Site): (event: RequestEvent) => (() => Published) | undefined {
  const { branding, hasDocs, publicUrl } = site;
  const read = new Map<string, Published>();
  const once = (name: string, create: () => Document) => (): Published => {
    const known = read.get(name);
    if (known) return known;
    if (read.size >= maxRead) read.clear();
    const published = prepared(create());
    read.set(name, published);
    return published;
  };
  return ({ rawPath: path, rawQueryString, headers }) => {
    const chosen = new URLSearchParams(rawQueryString).get('lang');
    const language = languageFor(chosen, headers['accept-language'], branding.languages, 'en');
    const baseUrl = publicUrl ?? baseUrlOf(headers);
    if (isPublishedPath(path, hasDocs)) {
      return once(`${path} ${language} ${baseUrl}`, () =>
        documents[path]({ site, baseUrl, language }),
      );
    }
    const [, code] = /^\/problems\/([^/]+)$/.exec(path) ?? [];
    if (!code) return undefined;
    if (hasExplanation(code)) {
      return once(`${path} ${language}`, () => page(problemPage(code, language, site), language));
    }
    if (!isBrowser(headers)) return undefined;
    return once(`/problems ${language}`, () => ({
      ...page(unknownProblemPage(language, site), language),
      status: 404,
    }));
  };
}

function json(value: object): Document {
  return {
    headers: { 'content-type': 'application/json', vary: 'Accept-Encoding' },
    body: JSON.stringify(value),
  };
}

function text(type: string, body: string): Document {
  return { headers: { 'content-type': `${type}; charset=utf-8`, vary: 'Accept-Encoding' }, body };
}

function inLanguage(language: Language, type: string, body: string): Document {
  const { headers } = text(type, body);
  return {
    headers: { ...headers, 'content-language': language, vary: 'Accept-Encoding, Accept-Language' },
    body,
  };
}

function page({ html, policy }: { html: string; policy: string }, language: Language): Document {
  const { headers, body } = inLanguage(language, 'text/html', html);
  return {
    headers: { ...headers, 'content-security-policy': policy, 'referrer-policy': 'no-referrer' },
    body,
  };
}

function prepared({ status = 200, headers, body }: Document): Published {
  const etag = `W/"${createHash('sha256').update(body).digest('base64url')}"`;
  return { status, headers, text: body, gzip: gzipSync(body), etag };
}

/** Without a body if the client has this version; compressed if it accepts gzip. */
function answer(
  { status, headers, text, gzip, etag }: Published,
  request: RequestEvent['headers'],
): Answer {
  const validators = { etag, vary: headers.vary ?? '' };
  if (status === 200 && matches(request['if-none-match'], etag)) {
    return { statusCode: 304, headers: validators, body: '' };
  }
  const complete = { ...headers, ...validators };
  if (!acceptedBy(request['accept-encoding']).includes('gzip')) {
    return { statusCode: status, headers: complete, body: text };
  }
  const encoded = { ...complete, 'content-encoding': 'gzip' };
  return {
    statusCode: status,
    headers: encoded,
    body: gzip.toString('base64'),
    isBase64Encoded: true,
  };
}

/** The weak comparison of RFC 9110, which `If-None-Match` requires. */
function matches(ifNoneMatch: string | undefined, etag: string): boolean {
  const opaque = (tag: string) => tag.trim().replace(/^W\//, '');
  return (ifNoneMatch ?? '')
    .split(',')
    .some((tag) => tag.trim() === '*' || opaque(tag) === opaque(etag));
}

/** The base URL that the client used. API Gateway accepts only the host names of the deployment. */
function baseUrlOf({ host = '', 'x-forwarded-proto': protocol }: RequestEvent['headers']): string {
  const isHost = /^[a-z0-9.-]+(:[0-9]+)?$/i.test(host);
  return isHost ? `${protocol === 'http' ? 'http' : 'https'}://${host}` : 'https://api.example.nl';
}
