import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A server of files as PDOK's: ranges, an ETag, conditional requests. */
export type RangeServer = {
  /** Serves the bytes, from now on, at the URL that it gives. */
  serve(name: string, bytes: Buffer): string;
  /** Keeps the files as they are now, for the function that it gives, which serves these again and no others. */
  keep(): () => void;
  /** The bytes that were sent. */
  sent(): number;
  stop(): Promise<void>;
};

/** Starts the server on a free port; `stop` in `afterAll`. */
export async function startRangeServer(): Promise<RangeServer> {
  const files = new Map<string, { bytes: Buffer; etag: string }>();
  let made = 0;
  let sent = 0;
  const server = createServer((request, response) => {
    const file = files.get(request.url ?? '');
    if (!file) return response.writeHead(404).end();
    const { bytes, etag } = file;
    if (request.headers['if-none-match'] === etag) return response.writeHead(304, { etag }).end();
    const [, from, to] = /^bytes=(\d+)-(\d*)$/.exec(request.headers.range ?? '') ?? [];
    const start = Number(from ?? 0);
    const body = bytes.subarray(start, to ? Number(to) + 1 : undefined);
    const range = { 'content-range': `bytes ${start}-${start + body.length - 1}/${bytes.length}` };
    sent += body.length;
    response.writeHead(from === undefined ? 200 : 206, { etag, 'content-length': body.length, ...(from && range) });
    return response.end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    serve(name, bytes) {
      files.set(`/${name}`, { bytes, etag: `"${made++}"` });
      return `http://127.0.0.1:${port}/${name}`;
    },
    keep() {
      const kept = [...files];
      return () => {
        files.clear();
        for (const [path, file] of kept) files.set(path, file);
      };
    },
    sent: () => sent,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
