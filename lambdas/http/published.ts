import { environment } from '../../core/names.ts';
import type { RequestEvent } from './middleware.ts';

/**
 * Whether the route of the reference handles a request. Every start of the function loads this file, so it imports no
 * texts. A person who opens `/` in a browser is led to the page; to a program it is a path that does not exist.
 */
export function isPublished({ rawPath, headers }: Pick<RequestEvent, 'rawPath' | 'headers'>): boolean {
  if (rawPath === '/') return hasDocs() && (headers.accept ?? '').includes('text/html');
  return rawPath === '/v1/openapi.json' || /^\/problems\/[^/]+$/.test(rawPath) || isDocsPath(rawPath);
}

/** Whether the path is the page with the API reference, in a deployment that shows the page. */
export function isDocsPath(path: string): boolean {
  return path === '/docs' && hasDocs();
}

/** Whether this deployment shows the page with the API reference. */
export function hasDocs(): boolean {
  return process.env[environment.referencePage] !== 'off';
}
