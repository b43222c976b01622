import { type Environment, environment } from '../../core/environment.ts';

/** The pages that need no key, beside the pages of problems. */
const alwaysPublished = [
  '/v1/openapi.json',
  '/openapi.json',
  '/postman.json',
  '/favicon.ico',
] as const;
/** The reference in every form that somebody may read, in a deployment that shows it. */
const withReference = ['/docs', '/docs.md', '/llms.txt', '/changes.xml'] as const;
/** Every document that a deployment can publish. */
export const publishedPaths = [...alwaysPublished, ...withReference];
export type PublishedPath = (typeof publishedPaths)[number];

/** The parts of a request that decide which page it reads. */
type ReadRequest = { rawPath: string; headers: Readonly<Record<string, string | undefined>> };

/**
 * Whether the route of the reference handles a request. Every start of the function loads this
 * file, so it imports no texts. A person who opens `/` in a browser is led to the page; to a
 * program it is a path that does not exist.
 */
export function isPublished({ rawPath, headers }: ReadRequest, hasDocs: boolean): boolean {
  if (rawPath === '/') return hasDocs && isBrowser(headers);
  return isPublishedPath(rawPath, hasDocs) || /^\/problems\/[^/]+$/.test(rawPath);
}

/** Whether a deployment publishes a document at the path. */
export function isPublishedPath(path: string, hasDocs: boolean): path is PublishedPath {
  const paths: readonly string[] = hasDocs ? publishedPaths : alwaysPublished;
  return paths.includes(path);
}

/** Whether a person asks, by what browsers accept. */
export function isBrowser({ accept = '' }: ReadRequest['headers']): boolean {
  return accept.includes('text/html');
}

export function hasDocsIn(variables: Environment): boolean {
  return variables[environment.referencePage] !== 'off';
}
