// A form that completes addresses: node server.ts, then open http://127.0.0.1:8080 Requires
// BAG_ADRES_URL and BAG_ADRES_KEY in the environment, and Node 24 or newer; nothing to install.
import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage } from 'node:http';
// In a shop: from 'bag-adres-form/routes/node'.
import { lookUp } from '../../../packages/form/routes/node.js';

const { BAG_ADRES_URL, BAG_ADRES_KEY, PORT = '8080' } = process.env;
if (!BAG_ADRES_URL || !BAG_ADRES_KEY) {
  console.error('Set BAG_ADRES_URL and BAG_ADRES_KEY.');
  process.exit(1);
}
const files: Record<string, [path: string, type: string]> = {
  '/': ['form.html', 'text/html; charset=utf-8'],
  '/bag-adres-form.js': [
    '../../../packages/form/bag-adres-form.js',
    'text/javascript; charset=utf-8',
  ],
};

/**
 * A shop would store the order. It takes what the person typed, also where the register does not
 * know it: new houses are missing for a while.
 */
async function receive(request: IncomingMessage): Promise<string> {
  let body = '';
  for await (const chunk of request) if (body.length < 10_000) body += chunk;
  const sent = new URLSearchParams(body);
  const line = ['straat', 'huisnummer', 'toevoeging', 'postcode', 'woonplaats']
    .map((name) => sent.get(name))
    .join(' ');
  return `<!doctype html><html lang="nl"><title>Bedankt</title><h1>Bedankt</h1><p>We leveren op: ${escaped(line)}</p></html>`;
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

const server = createServer(async (request, response) => {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost');
  response.setHeader('Cache-Control', 'no-store');
  response.setHeader(
    'Content-Security-Policy',
    "default-src 'self'; style-src 'self' 'unsafe-inline'",
  );
  const [name, type] = files[pathname] ?? [];
  if (request.method === 'GET' && pathname === '/adres') {
    response.setHeader('Content-Type', 'application/json');
    response.end(JSON.stringify(await lookUp(searchParams, console.error)));
  } else if (request.method === 'GET' && name !== undefined && type !== undefined) {
    response.setHeader('Content-Type', type);
    response.end(await readFile(new URL(name, import.meta.url)));
  } else if (request.method === 'POST' && pathname === '/') {
    response.setHeader('Content-Type', 'text/html; charset=utf-8');
    response.end(await receive(request));
  } else {
    response.writeHead(404).end();
  }
});
server.listen(Number(PORT), '127.0.0.1', () => {
  const address = server.address();
  console.log(`http://127.0.0.1:${typeof address === 'object' ? address?.port : PORT}`);
});
