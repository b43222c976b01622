import type { IncomingMessage } from 'node:http';

/** The real gateway's limit for the body of a request. */
const bodyLimitBytes = 10 * 1024 * 1024;

/** The whole body, or `undefined` where it is larger than the gateway takes. */
export async function readBody(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > bodyLimitBytes) {
      request.resume();
      return undefined;
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
