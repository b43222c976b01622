/**
 * Counts the work of refusing hostile requests, and prints it as JSON lines: the blocks of our code
 * that V8 runs, and the characters that patterns examine. It replaces `RegExp.prototype.exec`, so
 * it is a process of its own. Its argument is the number of kinds; all if absent.
 */
import { Session } from 'node:inspector/promises';
import { type HostileKind, hostileKinds } from './hostile-requests.ts';
import { stubbedRoute, validBody } from './stubbed-route.ts';
import { sweep } from './sweep.ts';

/** A pattern that was given a long text. */
type LongUse = { pattern: string; flags: string };
export type RefusedWork = { kind: string; bytes: number; work: number; longUses: LongUse[] };

/** Above the longest value whose form is looked at, with its spaces. */
const longText = 2 * 200 + 1;

let examined = 0;
let longUses = new Map<string, LongUse>();

const { exec } = RegExp.prototype;
// biome-ignore lint/suspicious/noExplicitAny: a replacement of what the language has
(RegExp.prototype as any).exec = function (this: RegExp, text: string) {
  const from = this.global || this.sticky ? this.lastIndex : 0;
  const found = exec.call(this, text);
  const to = found ? found.index + found[0].length : text.length;
  examined += Math.max(0, to - from);
  if (text.length > longText) {
    longUses.set(String(this), { pattern: this.source, flags: this.flags });
  }
  return found;
};

const { key, send } = stubbedRoute();
const session = new Session();
session.connect();
await session.post('Profiler.enable');
await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });

async function workOf(kind: HostileKind, bytes: number): Promise<RefusedWork> {
  const { url, request } = kind.make(bytes);
  await session.post('Profiler.takePreciseCoverage');
  examined = 0;
  longUses = new Map();
  await send(url, { ...request, headers: { 'x-api-key': key, ...request.headers } });
  const uses = [...longUses.values()];
  const characters = examined;
  const { result } = await session.post('Profiler.takePreciseCoverage');
  const blocks = result
    .filter(({ url }) => /\/(?:core|lambdas)\/[^?]*\.ts$/.test(url))
    .flatMap(({ functions }) => functions.flatMap(({ ranges }) => ranges))
    .reduce((sum, { count }) => sum + count, 0);
  return { kind: kind.name, bytes, work: blocks + characters, longUses: uses };
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
session.disconnect();
