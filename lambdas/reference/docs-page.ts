import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { environment } from '../shared/tables.ts';

/** Everything comes from the API itself, so the page works without another host. */
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

const html = 'text/html; charset=utf-8';
const script = 'text/javascript; charset=utf-8';
const files: Record<string, { name: string; contentType: string }> = {
  '/docs': { name: 'page.html', contentType: html },
  '/docs/start.js': { name: 'start.js', contentType: script },
  '/docs/redoc.js': { name: 'redoc.js', contentType: script },
};

/** Whether the path is the page with the API reference, or a file of it, in a deployment that shows the page. */
export function isDocsPath(path: string): boolean {
  return Object.hasOwn(files, path) && process.env[environment.referencePage] !== 'off';
}

/** A file of the page, with the headers that belong to it. */
export async function readDocsFile(path: string): Promise<{ headers: Record<string, string>; body: Buffer }> {
  const file = files[path];
  if (!file) throw new Error(`${path} is not a file of the reference page`);
  const headers = {
    'content-type': file.contentType,
    'content-security-policy': policy,
    'referrer-policy': 'no-referrer',
  };
  return { headers, body: await readFile(locate(file.name)) };
}

/** The build puts all files into `page` beside the code; in the repository the renderer is in its package. */
function locate(name: string): string {
  const built = join(import.meta.dirname, 'page', name);
  return name === 'redoc.js' && !existsSync(built) ? createRequire(import.meta.url).resolve(renderer) : built;
}

const renderer = 'redoc/bundles/redoc.standalone.js';
