const published = /^\/(?:v1\/openapi\.json|problems\/[^/]+)$/;

/** Whether the reference answers this path: the OpenAPI document, or the page of a problem. */
export function isPublished(path: string): boolean {
  return published.test(path);
}
