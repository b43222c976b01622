import { startGateway } from './gateway/gateway.ts';

/**
 * Finds out before the work of a start whether its port can be listened on.
 * @throws an error with code `EADDRINUSE`, `EACCES`, `EADDRNOTAVAIL` or `ENOTFOUND`
 */
export async function requireFreePort(host: string, port: number): Promise<void> {
  const probe = await startGateway({ routes: [], host, port });
  await probe.stop();
}
