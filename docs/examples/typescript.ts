// Looks up one address: node typescript.ts POSTCODE HUISNUMMER [TOEVOEGING]
// Requires BAG_ADRES_URL and BAG_ADRES_KEY in the environment, and Node 24 or newer.
import { setTimeout as sleep } from 'node:timers/promises';

type Place = { straat: string; woonplaats: string };
type Answer =
  | { status: 'ok'; address: Place }
  | { status: 'not_found'; address: null; toevoegingen: (string | null)[] }
  | { status: 'ambiguous'; address: null; candidates: Place[] };
/** API Gateway's own refusals have only a `message`. */
type Problem = { title?: string; detail?: string; errors?: { detail: string }[]; message?: string };

// A file with the key often ends with a line end.
const baseUrl = process.env.BAG_ADRES_URL?.trim();
const key = process.env.BAG_ADRES_KEY?.trim();
if (!baseUrl || !key) fail('Set BAG_ADRES_URL and BAG_ADRES_KEY.');
if (!/^bagadres_[\w.-]+$/.test(key)) fail('BAG_ADRES_KEY is not an API key.');
const headers = { 'X-API-Key': key };
const [postcode = '', huisnummer = '', toevoeging = ''] = process.argv.slice(2);
const query = new URLSearchParams({ postcode, huisnummer, toevoeging });
const url = `${baseUrl.replace(/\/+$/, '')}/v1/address?${query}`;

function fail(message: string): never {
  console.error(message);
  process.exit(1);
}

/**
 * Sends the request. Retries twice on 429 and 503 after Retry-After, and on 500 or no response
 * after a growing pause.
 */
async function send(triesLeft = 2, pauseSeconds = 1): Promise<Response> {
  let wait = pauseSeconds;
  try {
    // A redirect would take the key along.
    const response = await fetch(url, {
      headers,
      redirect: 'manual',
      signal: AbortSignal.timeout(10_000),
    });
    wait = Number(response.headers.get('Retry-After') ?? pauseSeconds);
    if (triesLeft === 0 || ![429, 500, 503].includes(response.status) || wait > 30) return response;
  } catch {
    // Its message is not printed: it could contain the key.
    if (triesLeft === 0) fail('no response: check BAG_ADRES_URL and the connection');
  }
  await sleep(wait * 1000);
  return await send(triesLeft - 1, 2 * pauseSeconds);
}

function describe(answer: Answer): string {
  const line = ({ straat, woonplaats }: Place) => `${straat}, ${woonplaats}`;
  if (answer.status === 'ok') return line(answer.address);
  if (answer.status === 'ambiguous') return `several: ${answer.candidates.map(line).join('; ')}`;
  const existing = answer.toevoegingen.map((toevoeging) => toevoeging ?? 'none').join(', ');
  return existing ? `no such address; existing toevoegingen: ${existing}` : 'no such address';
}

const response = await send();
const body = await response.json().catch(() => null);
if (response.ok && body?.status) {
  console.log(describe(body as Answer));
} else if (response.ok || !body) {
  fail(`${response.status}, and no valid response: check BAG_ADRES_URL`);
} else {
  const { title, detail, errors = [], message } = body as Problem;
  const first = title ? `${title}: ${detail}` : message;
  fail([`${response.status} ${first}`, ...errors.map((fault) => fault.detail)].join('\n'));
}
