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

const { BAG_ADRES_URL, BAG_ADRES_KEY } = process.env;
if (!BAG_ADRES_URL || !BAG_ADRES_KEY) {
  console.error('Set BAG_ADRES_URL and BAG_ADRES_KEY.');
  process.exit(1);
}
const headers = { 'X-API-Key': BAG_ADRES_KEY };
const [postcode = '', huisnummer = '', toevoeging = ''] = process.argv.slice(2);
const query = new URLSearchParams({ postcode, huisnummer, toevoeging });
const url = `${BAG_ADRES_URL.replace(/\/+$/, '')}/v1/address?${query}`;

/** Sends the request. Retries twice on 429 and 503 after Retry-After, and on 500 or no response after a growing pause. */
async function send(triesLeft = 2, pauseSeconds = 1): Promise<Response> {
  let wait = pauseSeconds;
  try {
    const response = await fetch(url, { headers, signal: AbortSignal.timeout(10_000) });
    wait = Number(response.headers.get('Retry-After') ?? pauseSeconds);
    if (triesLeft === 0 || ![429, 500, 503].includes(response.status) || wait > 30) return response;
  } catch (error) {
    if (triesLeft === 0) throw new Error(`no response: ${(error as Error).message}`);
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
if (response.ok) {
  console.log(describe((await response.json()) as Answer));
} else {
  const { title, detail, errors = [], message } = (await response.json()) as Problem;
  const first = title ? `${title}: ${detail}` : message;
  console.error([`${response.status} ${first}`, ...errors.map((fault) => fault.detail)].join('\n'));
  process.exitCode = 1;
}
