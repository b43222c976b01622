import { environment } from '../shared/tables.ts';

/** Whether the route of the reference handles the path. Imports none of the texts: every start of the function loads this. */
export function isPublished(path: string): boolean {
  return path === '/v1/openapi.json' || /^\/problems\/[^/]+$/.test(path) || isDocsPath(path);
}

/** Whether the path is the page with the API reference, in a deployment that shows the page. */
export function isDocsPath(path: string): boolean {
  return path === '/docs' && process.env[environment.referencePage] !== 'off';
}
