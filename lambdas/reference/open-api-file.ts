/** The description as the file holds it, read when it is first asked for: a cold start must not pay for it. */
export async function openApiFile(): Promise<unknown> {
  return (await import('../../docs/openapi.json', { with: { type: 'json' } })).default;
}
