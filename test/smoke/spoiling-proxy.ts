import { text } from 'node:stream/consumers';
import { startHttpServer } from '../support/http-server.ts';

/** A request on its way to the service. */
export type Passing = { method: string; url: URL; headers: Record<string, string> };
/** An answer on its way back. */
export type Returning = { status: number; headers: Record<string, string>; body: string };

/** How the service misbehaves: what it makes of requests, and of answers. */
export type Spoil = {
  request?: (passing: Passing) => void;
  answer?: (
    returning: Returning,
    passing: Passing,
    again: () => Promise<Returning>,
  ) => void | Promise<void>;
};

/** Stands in front of a service and spoils it. */
export async function startSpoilingProxy(baseUrl: string) {
  const current: { spoil: Spoil } = { spoil: {} };
  const { url, stop } = await startHttpServer(async (request, response) => {
    const headers = Object.fromEntries(
      Object.entries(request.headers).flatMap(([name, value]) =>
        ['connection', 'host', 'keep-alive'].includes(name) ? [] : [[name, String(value)]],
      ),
    );
    const passing = { method: request.method ?? '', url: new URL(baseUrl + request.url), headers };
    current.spoil.request?.(passing);
    const sent = await text(request);
    const forward = async (): Promise<Returning> => {
      const { method, url } = passing;
      const { 'content-length': _, ...headers } = passing.headers;
      const answer = await fetch(url, { method, headers, ...(sent && { body: sent }) });
      // `fetch` has decompressed the body.
      const own = Object.entries(Object.fromEntries(answer.headers)).filter(
        ([name]) => !/^(?:content-length|content-encoding|connection|keep-alive)$/.test(name),
      );
      return { status: answer.status, headers: Object.fromEntries(own), body: await answer.text() };
    };
    const answer = await forward().catch(() => null);
    if (!answer) return response.destroy();
    await current.spoil.answer?.(answer, passing, forward);
    return response.writeHead(answer.status, answer.headers).end(answer.body);
  });
  return {
    url,
    /** From now on the service misbehaves in this way. */
    spoil: (spoil: Spoil) => {
      current.spoil = spoil;
    },
    stop,
  };
}
