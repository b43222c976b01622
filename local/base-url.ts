import { isIPv6 } from 'node:net';

/** The address to reach a server at that listens on `host`: one that means every interface is reached over loopback. */
export function baseUrl(host: string, port: number): string {
  const reachable = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return `http://${isIPv6(reachable) ? `[${reachable}]` : reachable}:${port}`;
}
