import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { Integration } from '../gateway/gateway.ts';
import type { Route } from '../gateway/router.ts';

const redoc = createRequire(import.meta.url).resolve('redoc/bundles/redoc.standalone.js');

/** Blocks every other host, whatever the renderer tries to load: the page works without a network. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'unsafe-inline'",
  "connect-src 'self'",
  'img-src data:',
  'worker-src blob:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** The API reference as a page at `/docs`, rendered from `/v1/openapi.json`; only in the local run. */
export function docsRoutes(): Route<Integration>[] {
  return [
    file('/docs', new URL('page.html', import.meta.url), 'text/html; charset=utf-8'),
    file('/docs/start.js', new URL('start.js', import.meta.url), 'text/javascript; charset=utf-8'),
    file('/docs/redoc.js', redoc, 'text/javascript; charset=utf-8'),
  ];
}

function file(path: string, source: string | URL, contentType: string): Route<Integration> {
  return {
    key: `GET ${path}`,
    target: async () => {
      const headers = {
        'content-type': contentType,
        'content-security-policy': policy,
        'cache-control': 'no-store',
        'referrer-policy': 'no-referrer',
        'x-content-type-options': 'nosniff',
      };
      return JSON.stringify({ statusCode: 200, headers, body: await readFile(source, 'utf8') });
    },
  };
}
