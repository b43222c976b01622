import middy from '@middy/core';
import { Refusal } from '../shared/accounts/refusal.ts';
import { type Answer, commonHeaders, ok, type RequestEvent } from '../shared/http/event.ts';
import { observe } from '../shared/http/observe.ts';
import { renderProblems } from '../shared/http/problem.ts';
import { isExplained, problemPage } from './problem-page.ts';

/** The OpenAPI document as it is in the file, loaded with the first request for it, so that cold starts stay short. */
export async function openApiFile(): Promise<unknown> {
  return (await import('../../docs/openapi.json', { with: { type: 'json' } })).default;
}

/** `GET /v1/openapi.json` and `GET /problems/{code}`: the description of the API. Requires no key. */
export function referenceRoute() {
  return middy<RequestEvent, Answer>()
    .use(observe('reference'))
    .use(commonHeaders())
    .use(renderProblems())
    .handler(async ({ rawPath, requestContext }) => {
      const document = await documentAt(rawPath);
      if (!document) throw new Refusal({ code: 'not-found' });
      if (requestContext.http.method !== 'GET') throw new Refusal({ code: 'method-not-allowed' });
      return document;
    });
}

async function documentAt(path: string): Promise<Answer | undefined> {
  if (path === '/v1/openapi.json') return ok(await openApiFile());
  const [, code] = /^\/problems\/([^/]+)$/.exec(path) ?? [];
  return code && isExplained(code) ? page(problemPage(code)) : undefined;
}

function page(body: string): Answer {
  const headers = {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
    'referrer-policy': 'no-referrer',
  };
  return { statusCode: 200, headers, body };
}

const published = /^\/(?:v1\/openapi\.json|problems\/[^/]+)$/;

/** Whether this route handles the path. */
export function isPublished(path: string): boolean {
  return published.test(path);
}
