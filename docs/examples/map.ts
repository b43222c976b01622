// Writes a page with an address and a link to a map for each of its objects: node map.ts POSTCODE
// HUISNUMMER [TOEVOEGING] > address.html Requires BAG_ADRES_URL and BAG_ADRES_KEY in the
// environment, a service with objects, and Node 24 or newer.

type Objecten = {
  objecten: {
    identificatie: string;
    type: string;
    status: string;
    gebruiksdoelen?: string[];
    oppervlakte?: number;
    locatie: { lat: number; lon: number };
  }[];
};
type Place = { straat: string; woonplaats: string } & Objecten;
type Answer = { status: string; address: Place | null; candidates: Place[] };

// A file with the key often ends with a line end.
const baseUrl = process.env.BAG_ADRES_URL?.trim();
const key = process.env.BAG_ADRES_KEY?.trim();
if (!baseUrl || !key) fail('Set BAG_ADRES_URL and BAG_ADRES_KEY.');
if (!/^bagadres_[\w.-]+$/.test(key)) fail('BAG_ADRES_KEY is not an API key.');
const [postcode = '', huisnummer = '', toevoeging = ''] = process.argv.slice(2);
const query = new URLSearchParams({ postcode, huisnummer, toevoeging, include: 'objecten' });
const { isOk, body } = await lookUp().catch(() =>
  fail('no valid response: check BAG_ADRES_URL and the connection'),
);
if (!isOk) {
  const { title, detail, errors = [], message } = body;
  fail(
    [
      message ?? `${title}: ${detail}`,
      ...errors.map((fault: { detail: string }) => fault.detail),
    ].join('\n'),
  );
}
const { address, candidates }: Answer = body;

async function lookUp() {
  const response = await fetch(`${baseUrl?.replace(/\/+$/, '')}/v1/address?${query}`, {
    headers: { 'X-API-Key': key ?? '' },
    redirect: 'error', // It would take the key along.
    signal: AbortSignal.timeout(10_000),
  });
  const body = await response.json();
  if (!body?.status && !body?.message) throw new Error('no valid response');
  return { isOk: response.ok, body };
}

/** Prints fixed texts and those of the service only: an error of `fetch` can contain the key. */
function fail(message: string): never {
  console.error(message);
  process.exit(1);
}

function html(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}

function object({
  identificatie,
  type,
  status,
  gebruiksdoelen = [],
  oppervlakte,
  locatie,
}: Place['objecten'][number]) {
  const { lat, lon } = locatie;
  const map = `https://www.openstreetmap.org/?mlat=${lat}&amp;mlon=${lon}#map=19/${lat}/${lon}`;
  const facts = [...gebruiksdoelen, oppervlakte && `${oppervlakte} m²`, status]
    .filter(Boolean)
    .join(', ');
  return `<li>${html(type)} ${identificatie}: ${html(facts)}. <a href="${map}">Op de kaart</a></li>`;
}

const places = (address ? [address] : candidates).map(
  ({ straat, woonplaats, objecten }) =>
    `<h1>${html(`${straat} ${huisnummer}${toevoeging}, ${woonplaats}`)}</h1>\n<ul>\n${objecten.map(object).join('\n')}\n</ul>`,
);
console.log(`<!doctype html>
<html lang="nl">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Adres op de kaart</title>
<style>body { margin: 0 auto; padding: 0.1rem 1rem; max-width: 40rem; font: 1rem/1.5 system-ui, sans-serif }</style>
${places.join('\n') || '<p>Dit adres bestaat niet.</p>'}
</html>`);
