/**
 * Lets the local gateway read hostile requests, and prints the work of each as JSON lines, in a
 * process of its own.
 */
import {
  type GatewayRequest,
  gatewayEvent,
  matchRoute,
  requestTarget,
} from '../../local/gateway/gateway-request.ts';
import { type CountedWork, startCounting } from './counted-work.ts';
import { type HostileKind, hostileKinds } from './hostile-requests.ts';
import { sweep } from './sweep.ts';

/** What is read of a kind. */
type ReadKind = Pick<HostileKind, 'name' | 'mostBytes' | 'make'>;

export type GatewayWork = CountedWork & { kind: string; bytes: number };

const routes = [
  { key: 'ANY /v1/address', target: undefined },
  { key: '$default', target: undefined },
];

/** As `serve` of the gateway does, up to the integration. */
function read({ url, request }: ReturnType<HostileKind['make']>): void {
  const { method = 'GET', headers = {}, body = '' } = request;
  const target = requestTarget(url);
  const route = target && matchRoute(routes, method, target.path);
  if (!target || !route) return;
  const given: GatewayRequest = {
    id: 'JKJaXmPLvHcESHA=',
    method,
    target,
    protocol: 'HTTP/1.1',
    rawHeaders: Object.entries(headers).flat(),
    body: Buffer.from(body),
    sourceIp: '127.0.0.1',
    port: 3000,
    time: new Date(),
  };
  JSON.stringify(gatewayEvent(given, route.key));
}

/** The same texts where the gateway looks: in the path, the fragment and each header it reads. */
const own: ReadKind[] = hostileKinds
  .filter(({ name }) => /^query, (?:x:|raw)/.test(name))
  .flatMap(({ name, mostBytes, make }) => {
    const textOf = (bytes: number) => make(bytes).url.replace(/^[^?]*\?/, '');
    return [
      {
        name: `path: ${name}`,
        mostBytes,
        make: (bytes: number) => ({ url: `/${textOf(bytes)}`, request: {} }),
      },
      {
        name: `target: ${name}`,
        mostBytes,
        make: (bytes: number) => ({ url: `http://${textOf(bytes)}`, request: {} }),
      },
    ];
  });

const { countOf, stop } = await startCounting(/\/local\/gateway\/[^?]*\.ts$/);
const [, , count = '10000'] = process.argv;
const most = Number(count);
for (const kind of [...sweep<ReadKind>(hostileKinds, most, most), ...sweep(own, most, most)]) {
  for (const bytes of [kind.mostBytes / 2, kind.mostBytes]) {
    const made = kind.make(bytes);
    const counted = await countOf(async () => read(made));
    const row: GatewayWork = { kind: kind.name, bytes, ...counted };
    process.stdout.write(`${JSON.stringify(row)}\n`);
  }
}
stop();
