import type { IncomingMessage, ServerResponse } from 'node:http';
import { startHttpServer } from './http-server.ts';

/** A file of a server, with its ETag unless that is `''`. */
type ServedFile = { bytes: Buffer; etag: string };

/**
 * Answers as PDOK does: ranges, an ETag, conditional requests. Returns how many bytes that sends.
 */
export function answerWith(
  { bytes, etag }: ServedFile,
  { headers }: IncomingMessage,
  response: ServerResponse,
  hasRanges = true,
): number {
  const tag = etag && { etag };
  if (headers['if-none-match'] === etag) {
    response.writeHead(304, { ...tag }).end();
    return 0;
  }
  const [, from, to] = (hasRanges && /^bytes=(\d+)-(\d*)$/.exec(headers.range ?? '')) || [];
  const start = Number(from ?? 0);
  const body = bytes.subarray(start, to ? Number(to) + 1 : undefined);
  const range = { 'content-range': `bytes ${start}-${start + body.length - 1}/${bytes.length}` };
  const isPart = from !== undefined;
  response
    .writeHead(isPart ? 206 : 200, { ...tag, 'content-length': body.length, ...(isPart && range) })
    .end(body);
  return body.length;
}

/** A server of files as PDOK's. */
export type RangeServer = {
  /** Serves the bytes, from now on, at the URL that it gives. */
  serve(name: string, bytes: Buffer): string;
  /**
   * Keeps the files as they are now, for the function that it gives, which serves these again and
   * no others.
   */
  keep(): () => void;
  /** The bytes that were sent. */
  sent(): number;
  stop(): Promise<void>;
};

/** Starts the server on a free port; `stop` in `afterAll`. */
export async function startRangeServer(): Promise<RangeServer> {
  const files = new Map<string, ServedFile>();
  let made = 0;
  let sent = 0;
  const { url, stop } = await startHttpServer((request, response) => {
    const file = files.get(request.url ?? '');
    if (file) sent += answerWith(file, request, response);
    else {
      response.writeHead(404).end();
    }
  });
  return {
    serve(name, bytes) {
      files.set(`/${name}`, { bytes, etag: `"${made++}"` });
      return `${url}/${name}`;
    },
    keep() {
      const kept = [...files];
      return () => {
        files.clear();
        for (const [path, file] of kept) files.set(path, file);
      };
    },
    sent: () => sent,
    stop,
  };
}
