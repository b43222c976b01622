/**
 * Counts the work of refusing hostile requests, and prints it as JSON lines, in a process of its
 * own. Its argument is the number of kinds; all if absent.
 */
import { type CountedWork, startCounting } from './counted-work.ts';
import { type HostileKind, hostileKinds } from './hostile-requests.ts';
import { stubbedRoute, validBody } from './stubbed-route.ts';
import { sweep } from './sweep.ts';

export type RefusedWork = CountedWork & { kind: string; bytes: number };

const { key, send } = stubbedRoute();
const { countOf, stop } = await startCounting(/\/(?:core|lambdas)\/[^?]*\.ts$/);

async function workOf(kind: HostileKind, bytes: number): Promise<RefusedWork> {
  const { url, request } = kind.make(bytes);
  const headers = { 'x-api-key': key, ...request.headers };
  return { kind: kind.name, bytes, ...(await countOf(() => send(url, { ...request, headers }))) };
}

const valid: HostileKind = {
  name: 'a valid batch',
  mostBytes: validBody().length,
  fewBytes: validBody().length,
  make: () => ({
    url: '/v1/addresses',
    request: {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: validBody(),
    },
  }),
};
// What the first request loads is no work of a request.
for (const kind of [valid, ...sweep(hostileKinds, 20, 20)]) await workOf(kind, kind.mostBytes);
const [, , count = hostileKinds.length] = process.argv;
for (const kind of [valid, ...sweep(hostileKinds, Number(count))]) {
  for (const bytes of [kind.mostBytes / 2, kind.mostBytes]) {
    process.stdout.write(`${JSON.stringify(await workOf(kind, bytes))}\n`);
  }
}
stop();
