import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { sweep } from './sweep.ts';

const json = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n';

/** The bytes sent for a base URL that ends in the name. */
const responses: Readonly<Record<string, string>> = {
  redirect:
    'HTTP/1.1 302 Found\r\nLocation: /elsewhere\r\nConnection: close\r\nContent-Length: 0\r\n\r\n',
  nothing: '',
  'bad-status-line': 'HTTP/1.1 banana\r\n\r\n',
  'no-http': 'SSH-2.0-OpenSSH_9.6\r\n',
  'cut-off': `${json}Content-Length: 500\r\n\r\n{"status":"ok","address":{`,
  'cut-off-chunk': `${json}Transfer-Encoding: chunked\r\n\r\nff\r\n{"status":"ok"`,
  'bad-chunk': `${json}Transfer-Encoding: chunked\r\n\r\nzz\r\n{}`,
  html: `${json}\r\n<!doctype html><title>Sign in</title>`,
  empty: `${json}Content-Length: 0\r\n\r\n`,
  null: `${json}\r\nnull`,
  list: `${json}\r\n["status"]`,
  text: `${json}\r\n"status"`,
  'no-outcome': `${json}\r\n{"valid":true}`,
  'no-problem': 'HTTP/1.1 422 Unprocessable\r\nConnection: close\r\n\r\nnull',
  'html-problem': 'HTTP/1.1 422 Unprocessable\r\nConnection: close\r\n\r\n<html>',
  elsewhere: `${json}\r\n{"status":"ok","address":{"straat":"Elders","woonplaats":"Elders"}}`,
};

/**
 * A server with responses that are not the service's, each of `urls` in another way; only a sweep
 * has them all.
 */
export async function startBrokenService() {
  let redirected = 0;
  const server = createServer((socket: Socket) => {
    socket.on('error', () => {});
    socket.once('data', (head) => {
      const [, name = ''] = /^GET \/([a-z-]+)/.exec(String(head)) ?? [];
      if (name === 'elsewhere') redirected++;
      socket.end(responses[name] ?? '');
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    urls: sweep(
      Object.keys(responses).filter((name) => name !== 'elsewhere'),
      5,
    ).map((name) => `http://127.0.0.1:${port}/${name}`),
    /** How many requests have followed the redirect. */
    redirected: () => redirected,
    stop: async () => {
      server.close();
      await once(server, 'close');
    },
  };
}
