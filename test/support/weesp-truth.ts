import { buffer } from 'node:stream/consumers';
import { fromBufferPromise, openPromise, type ZipFile } from 'yauzl';

/** A complete municipality, as the Kadaster delivered it. */
export const sample = new URL(
  '../../../shared/bag-samples/weesp-0457/BAGGEM0457L-15102021.zip',
  import.meta.url,
).pathname;

/** The date of its state. */
const peildatum = '2021-10-15';

export type TrueAddress = {
  readonly postcode: string;
  readonly huisnummer: number;
  readonly toevoeging: string;
  readonly straat: string;
  /** The code of the gemeente that the woonplaats of the street belongs to. */
  readonly gemeente: string;
  /** The identificaties of the nummeraanduidingen that are this address, sorted. */
  readonly ids: string[];
};

/**
 * Which addresses the sample holds, worked out by plain text search, apart from all that the loader
 * does: those that are current, and those that only once were, both by key.
 */
export async function weespTruth(): Promise<{
  current: Map<string, TrueAddress>;
  former: Map<string, TrueAddress>;
}> {
  const [relaties = Buffer.alloc(0)] = await members(
    await openPromise(sample),
    /^GEM-WPL-RELATIE-\d+\.zip$/,
  );
  const [relatieFile = Buffer.alloc(0)] = await members(
    await fromBufferPromise(relaties),
    /\.xml$/,
  );
  const gemeenten = gemeentenIn(relatieFile.toString());
  const stands = await standsIn(/^0457(?:NUM|OPR)\d+\.zip$/);
  const streets = new Map<string, Pick<TrueAddress, 'straat' | 'gemeente'>>();
  for (const stand of stands.filter((text) => text.includes('<Objecten:OpenbareRuimte>'))) {
    if (!isCurrent(stand)) continue;
    const gemeente = gemeenten.get(field(stand, 'WoonplaatsRef')) ?? '';
    streets.set(field(stand, 'identificatie'), { straat: decoded(field(stand, 'naam')), gemeente });
  }
  const current = new Map<string, TrueAddress>();
  const former = new Map<string, TrueAddress>();
  for (const stand of stands.filter((text) => text.includes('<Objecten:Nummeraanduiding>'))) {
    const postcode = field(stand, 'postcode');
    if (postcode === '') continue;
    const toevoeging = field(stand, 'huisletter') + field(stand, 'huisnummertoevoeging');
    const huisnummer = Number(field(stand, 'huisnummer'));
    const street = streets.get(field(stand, 'OpenbareRuimteRef')) ?? { straat: '', gemeente: '' };
    const table = isCurrent(stand) ? current : former;
    const key = `${postcode}#${huisnummer}#${toevoeging.toUpperCase()}`;
    const ids = [...(table.get(key)?.ids ?? []), field(stand, 'identificatie')].sort();
    table.set(key, { postcode, huisnummer, toevoeging, ...street, ids });
  }
  for (const key of current.keys()) former.delete(key);
  return { current, former };
}

/** The gemeente of each woonplaats on the date, both by their codes. */
function gemeentenIn(xml: string): Map<string, string> {
  const gemeenten = new Map<string, string>();
  for (const text of xml.split('GemeenteWoonplaatsRelatie>')) {
    const [woonplaats = '', gemeente = ''] = Array.from(
      text.matchAll(/:identificatie>(\d{4})</g),
      ([, code = '']) => code,
    );
    const eind = field(text, 'einddatumTijdvakGeldigheid');
    const holds =
      field(text, 'begindatumTijdvakGeldigheid') <= peildatum && (eind === '' || eind > peildatum);
    if (holds && text.includes(':status>definitief<')) gemeenten.set(woonplaats, gemeente);
  }
  return gemeenten;
}

/**
 * The adresseerbare objecten that name each nummeraanduiding, worked out in the same way: their
 * identificatie, whether it is the hoofdadres, status, oppervlakte and gebruiksdoelen.
 */
export async function weespObjecten(): Promise<Map<string, string[]>> {
  const found = new Map<string, string[]>();
  for (const stand of await standsIn(/^0457(?:VBO|LIG|STA)\d+\.zip$/)) {
    const status = field(stand, 'status');
    if (/ingetrokken|Niet gerealiseerd|ten onrechte/.test(status) || !counts(stand)) continue;
    const doelen = Array.from(
      stand.matchAll(/<Objecten:gebruiksdoel>([^<]*)</g),
      ([, doel]) => doel,
    ).sort();
    const nums = Array.from(
      stand.matchAll(/NummeraanduidingRef [^>]*>(\d+)</g),
      ([, num = '']) => num,
    );
    for (const [index, num] of nums.entries()) {
      const isHoofdadres =
        stand.indexOf(num) < stand.indexOf('</Objecten:heeftAlsHoofdadres>') && index === 0;
      const text = [
        field(stand, 'identificatie'),
        isHoofdadres,
        status,
        field(stand, 'oppervlakte'),
        ...doelen,
      ];
      found.set(num, [...(found.get(num) ?? []), text.join(' ')]);
    }
  }
  return found;
}

/** Every occurrence in the inner zips of these names. */
async function standsIn(names: RegExp): Promise<string[]> {
  return (await weespXml(names)).flatMap((file) => file.toString().split('<sl:stand>').slice(1));
}

/** The XML files in the inner zips of these names. */
export async function weespXml(names: RegExp): Promise<Buffer[]> {
  const [gem = Buffer.alloc(0)] = await members(await openPromise(sample), /^0457GEM\d+\.zip$/);
  const inner = await members(await fromBufferPromise(gem), names);
  return (
    await Promise.all(inner.map(async (zip) => members(await fromBufferPromise(zip), /\.xml$/)))
  ).flat();
}

function isCurrent(stand: string): boolean {
  return field(stand, 'status') === 'Naamgeving uitgegeven' && counts(stand);
}

function counts(stand: string): boolean {
  const eind = field(stand, 'eindGeldigheid');
  return (
    field(stand, 'beginGeldigheid') <= peildatum &&
    (eind === '' || eind > peildatum) &&
    !/tijdstip(?:Inactief|NietBag)/.test(stand)
  );
}

const fields = new Map<string, RegExp>();

/** The text of the first element of this name, whatever its prefix; '' when there is none. */
function field(stand: string, name: string): string {
  // The name first, and its prefix after that: a search for a fixed text is several times as fast.
  const found = fields.get(name) ?? new RegExp(`:${name}(?<=<[\\w-]+:${name})(?: [^>]*)?>([^<]*)<`);
  fields.set(name, found);
  return found.exec(stand)?.[1] ?? '';
}

/** The references that the names of this sample hold. */
function decoded(text: string): string {
  return text.replace(/&#x([0-9a-f]+);/g, (_whole, code: string) =>
    String.fromCodePoint(Number.parseInt(code, 16)),
  );
}

async function members(zip: ZipFile, name: RegExp): Promise<Buffer[]> {
  const found: Buffer[] = [];
  for await (const entry of zip.eachEntry()) {
    if (name.test(entry.fileName)) found.push(await buffer(await zip.openReadStreamPromise(entry)));
  }
  return found;
}
