// Looks up one address: node typescript.ts POSTCODE HUISNUMMER [TOEVOEGING]
// Wants BAG_ADRES_URL and BAG_ADRES_KEY in the environment, and Node 24 or newer.
import { setTimeout as sleep } from 'node:timers/promises';

type Place = { straat: string; woonplaats: string };
type Answer =
  | { status: 'ok'; address: Place }
  | { status: 'not_found'; address: null }
  | { status: 'ambiguous'; address: null; candidates: Place[] };
type Problem = { type: string; title: string; status: number; detail: string; errors?: { detail: string }[] };

const { BAG_ADRES_URL, BAG_ADRES_KEY } = process.env;
if (!BAG_ADRES_URL || !BAG_ADRES_KEY) throw new Error('Set BAG_ADRES_URL and BAG_ADRES_KEY.');
const key = BAG_ADRES_KEY;
const [postcode = '', huisnummer = '', toevoeging = ''] = process.argv.slice(2);
const url = `${BAG_ADRES_URL}/v1/address?${new URLSearchParams({ postcode, huisnummer, toevoeging })}`;

/** Asks once, and twice more when the service says that a short wait helps. */
async function ask(triesLeft = 2): Promise<Response> {
  const response = await fetch(url, { headers: { 'X-API-Key': key }, signal: AbortSignal.timeout(10_000) });
  const wait = Number(response.headers.get('Retry-After') ?? Number.POSITIVE_INFINITY);
  if (response.ok || triesLeft === 0 || wait > 30) return response;
  await sleep(wait * 1000);
  return await ask(triesLeft - 1);
}

function line({ straat, woonplaats }: Place): string {
  return `${straat}, ${woonplaats}`;
}

const response = await ask();
if (response.ok) {
  const answer = (await response.json()) as Answer;
  if (answer.status === 'ok') console.log(line(answer.address));
  else if (answer.status === 'ambiguous') console.log(`several: ${answer.candidates.map(line).join('; ')}`);
  else console.log('no such address');
} else {
  const { status, title, detail, errors } = (await response.json()) as Problem;
  console.error([`${status} ${title}: ${detail}`, ...(errors ?? []).map((fault) => fault.detail)].join('\n'));
  process.exitCode = 1;
}
