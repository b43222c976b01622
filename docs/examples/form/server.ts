// A form that completes addresses: node server.ts, then open http://127.0.0.1:8080
// Requires BAG_ADRES_URL and BAG_ADRES_KEY in the environment, and Node 24 or newer; nothing to install.
import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage } from 'node:http';

const { BAG_ADRES_URL, BAG_ADRES_KEY, PORT = '8080' } = process.env;
if (!BAG_ADRES_URL || !BAG_ADRES_KEY) {
  console.error('Set BAG_ADRES_URL and BAG_ADRES_KEY.');
  process.exit(1);
}
const headers = { 'X-API-Key': BAG_ADRES_KEY };
const files: Record<string, [name: string, type: string]> = {
  '/': ['form.html', 'text/html; charset=utf-8'],
  '/form.js': ['form.js', 'text/javascript; charset=utf-8'],
};

/** The one answer that means: let the person type the street and the town. The cause is ours to log, not theirs to read. */
const unavailable = { status: 'unavailable' };

/**
 * What the page needs to know of an address. The key stays here: a browser never sees it. Nothing waits long for it, since a
 * form must work without it.
 */
async function lookUp(query: URLSearchParams): Promise<object> {
  const asked = new URLSearchParams({ include: 'toevoegingen' });
  for (const name of ['postcode', 'huisnummer', 'toevoeging']) asked.set(name, query.get(name) ?? '');
  try {
    const url = `${BAG_ADRES_URL?.replace(/\/+$/, '')}/v1/address?${asked}`;
    const response = await fetch(url, { headers, signal: AbortSignal.timeout(3000) });
    if (response.status === 200) return (await response.json()) as object;
    if (response.status === 422) return { ...((await response.json()) as object), status: 'invalid' };
    console.error(`The lookup failed with status ${response.status}.`);
  } catch (error) {
    console.error(`The lookup failed: ${(error as Error).message}`);
  }
  return unavailable;
}

/**
 * A shop would store the order. It takes what the person typed, also where the register does not know it: new houses are
 * missing for a while.
 */
async function receive(request: IncomingMessage): Promise<string> {
  let body = '';
  for await (const chunk of request) if (body.length < 10_000) body += chunk;
  const sent = new URLSearchParams(body);
  const line = ['straat', 'huisnummer', 'toevoeging', 'postcode', 'woonplaats'].map((name) => sent.get(name)).join(' ');
  return `<!doctype html><html lang="nl"><title>Bedankt</title><h1>Bedankt</h1><p>We leveren op: ${escaped(line)}</p></html>`;
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

const server = createServer(async (request, response) => {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost');
  response.setHeader('Cache-Control', 'no-store');
  response.setHeader('Content-Security-Policy', "default-src 'self'; style-src 'self' 'unsafe-inline'");
  const [name, type] = files[pathname] ?? [];
  if (request.method === 'GET' && pathname === '/adres') {
    response.setHeader('Content-Type', 'application/json');
    response.end(JSON.stringify(await lookUp(searchParams)));
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
