import { isIP } from 'node:net';
import type { GatewayAnswer } from './gateway-request.ts';

/** The host on which a server listens, and its other names. */
export type OwnNames = {
  readonly host: string;
  /** Absent where no other name can be allowed. */
  readonly allowedHosts?: readonly string[] | undefined;
};

const loopbackNames = ['localhost', '127.0.0.1', '::1'];

/**
 * The answer to a request under a name that is not one of this server's; `undefined` for its own.
 * The owner of a name can have it lead to this machine, and a page under that name could then read
 * our responses (DNS rebinding). No name is involved in a request to an address, so a server that
 * listens for others answers under any address.
 */
export function refuseForeignName(
  host: string,
  { host: listensOn, allowedHosts }: OwnNames,
): GatewayAnswer | undefined {
  const [, inBrackets, plain = ''] = /^(?:\[([^\]]*)\]|([^:]*))(?::\d*)?$/.exec(host) ?? [];
  const name = (inBrackets ?? plain).toLowerCase();
  if ([...loopbackNames, listensOn, ...(allowedHosts ?? [])].includes(name)) return undefined;
  if (isIP(name) !== 0 && !loopbackNames.includes(listensOn)) return undefined;
  const toAllow = /^[a-z0-9.-]+$/.test(name) ? name : 'NAME';
  const detail = allowedHosts
    ? `Send the request to localhost, or start the service with --allow-host ${toAllow}.`
    : 'Send the request to 127.0.0.1, with the same port.';
  const problem = { type: 'about:blank', title: 'Misdirected Request', status: 421, detail };
  return {
    statusCode: problem.status,
    headers: [
      ['Content-Type', 'application/problem+json'],
      ['Cache-Control', 'no-store'],
      ['X-Content-Type-Options', 'nosniff'],
    ],
    body: JSON.stringify(problem),
  };
}
