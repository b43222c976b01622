// Writes a page with an address and a link to a map for each of its objects:
// node map.ts POSTCODE HUISNUMMER [TOEVOEGING] > address.html
// Requires BAG_ADRES_URL and BAG_ADRES_KEY in the environment, a service with objects, and Node 24 or newer.

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

const { BAG_ADRES_URL, BAG_ADRES_KEY } = process.env;
if (!BAG_ADRES_URL || !BAG_ADRES_KEY) {
  console.error('Set BAG_ADRES_URL and BAG_ADRES_KEY.');
  process.exit(1);
}
const [postcode = '', huisnummer = '', toevoeging = ''] = process.argv.slice(2);
const query = new URLSearchParams({ postcode, huisnummer, toevoeging, include: 'objecten' });
const response = await fetch(`${BAG_ADRES_URL.replace(/\/+$/, '')}/v1/address?${query}`, {
  headers: { 'X-API-Key': BAG_ADRES_KEY },
  signal: AbortSignal.timeout(10_000),
});
if (!response.ok) {
  const { title, detail, errors = [], message } = await response.json();
  console.error(
    [message ?? `${title}: ${detail}`, ...errors.map((fault: { detail: string }) => fault.detail)].join('\n'),
  );
  process.exit(1);
}
const { address, candidates }: Answer = await response.json();

function html(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}

function object({ identificatie, type, status, gebruiksdoelen = [], oppervlakte, locatie }: Place['objecten'][number]) {
  const { lat, lon } = locatie;
  const map = `https://www.openstreetmap.org/?mlat=${lat}&amp;mlon=${lon}#map=19/${lat}/${lon}`;
  const facts = [...gebruiksdoelen, oppervlakte && `${oppervlakte} m²`, status].filter(Boolean).join(', ');
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
