import type { StandKind } from '../../loader/bag/elements.ts';
import { namespaces, relatieNamespaces, schemaVersion } from '../../loader/bag/schema.ts';

/**
 * The fields of an occurrence of any kind. Dates look like `2021-10-15`, times like
 * `2021-10-15T12:00:00.000`.
 */
export type Historie = {
  /** The number of the occurrence within its object; 1 by default. */
  volgnummer?: number;
  begin: string;
  eind?: string;
  /** `false` for a withdrawn object. */
  live?: boolean;
  tijdstipInactief?: string;
  tijdstipInactiefLV?: string;
  tijdstipNietBagLV?: string;
  documentnummer?: string;
  /**
   * When the municipality registered it, and when the national register did; by default around noon
   * of `begin`.
   */
  geregistreerd?: string;
  geregistreerdLV?: string;
};

export type NumStand = Historie & {
  identificatie: string;
  huisnummer: number;
  huisletter?: string;
  huisnummertoevoeging?: string;
  postcode?: string;
  type?: 'Verblijfsobject' | 'Ligplaats' | 'Standplaats';
  /** The identificatie of its street. */
  openbareRuimte: string;
  /** The identificatie of its own woonplaats, if it has one. */
  woonplaats?: string;
};

export type OprStand = Historie & {
  identificatie: string;
  naam: string;
  woonplaats: string;
  verkorteNaam?: string;
};

/**
 * `corners` is a closed ring of coordinates in the national grid, `121000.5 487000 ...`; by default
 * a small square.
 */
export type WplStand = Historie & { identificatie: string; naam: string; corners?: string };

/** That a woonplaats belongs to a gemeente; `definitief` unless it says otherwise. */
export type RelatieStand = {
  woonplaats: string;
  gemeente: string;
  begin: string;
  eind?: string | undefined;
  status?: string;
};

/**
 * An adresseerbaar object; `live` is whether it exists. Coordinates are metres in the national
 * grid, as text.
 */
export type AdresseerbaarStand = Historie & {
  identificatie: string;
  /** The identificaties of its nummeraanduidingen. */
  hoofdadres: string;
  nevenadressen?: string[];
  /** The default is that of an object in use. */
  status?: string;
};

/** `punt` is a coordinate, or a ring of them for a vlak. */
export type VboStand = AdresseerbaarStand & {
  punt: string;
  oppervlakte: number;
  gebruiksdoelen: string[];
};
/** A ligplaats or standplaats; `corners` is a closed ring. */
export type PlaatsStand = AdresseerbaarStand & { corners: string };

/** The occurrences of a register, and its relations; what is absent has no file. */
export type Voorkomens = {
  NUM: NumStand[];
  OPR: OprStand[];
  WPL: WplStand[];
  VBO?: VboStand[];
  LIG?: PlaatsStand[];
  STA?: PlaatsStand[];
  relaties?: RelatieStand[];
};

export type StandOf<K extends StandKind> = NonNullable<Voorkomens[K]>[number];

/**
 * One XML file of an extract in Kadaster's form: line ends in the header only, all objects on one
 * line.
 */
export function fileXml<K extends StandKind>(
  kind: K,
  voorkomens: readonly StandOf<K>[],
  peildatum: string,
): string {
  const write = objectXml[kind] as (voorkomen: StandOf<K>) => string;
  const stands = voorkomens.map((voorkomen) => {
    return `<sl:stand><sl-bag-extract:bagObject>${write(voorkomen)}</sl-bag-extract:bagObject></sl:stand>`;
  });
  return `${header(kind, peildatum)}${stands.join('')}\n  </sl:standBestand>\n</sl-bag-extract:bagStand>`;
}

/** Writes one occurrence as the element of its object. */
export const objectXml: { [K in StandKind]: (voorkomen: StandOf<K>) => string } = {
  NUM: (num) =>
    `<Objecten:Nummeraanduiding>${identificatie('Nummeraanduiding', num.identificatie)}` +
    tag('huisnummer', String(num.huisnummer)) +
    tag('huisletter', num.huisletter) +
    tag('huisnummertoevoeging', num.huisnummertoevoeging) +
    tag('postcode', num.postcode) +
    tag('typeAdresseerbaarObject', num.type ?? 'Verblijfsobject') +
    document('Naamgeving', 'uitgegeven', num) +
    (num.woonplaats ? ligtIn(num.woonplaats) : '') +
    historie(num) +
    '<Objecten:ligtAan><Objecten-ref:OpenbareRuimteRef domein="NL.IMBAG.Openbareruimte">' +
    `${num.openbareRuimte}</Objecten-ref:OpenbareRuimteRef></Objecten:ligtAan></Objecten:Nummeraanduiding>`,
  OPR: (opr) =>
    `<Objecten:OpenbareRuimte>${identificatie('Openbareruimte', opr.identificatie)}` +
    tag('naam', opr.naam) +
    tag('type', 'Weg') +
    document('Naamgeving', 'uitgegeven', opr) +
    ligtIn(opr.woonplaats) +
    historie(opr) +
    (opr.verkorteNaam
      ? '<Objecten:verkorteNaam><nen5825:VerkorteNaamOpenbareRuimte><nen5825:verkorteNaam>' +
        `${escapeXml(opr.verkorteNaam)}</nen5825:verkorteNaam></nen5825:VerkorteNaamOpenbareRuimte></Objecten:verkorteNaam>`
      : '') +
    '</Objecten:OpenbareRuimte>',
  WPL: (wpl) =>
    `<Objecten:Woonplaats>${identificatie('Woonplaats', wpl.identificatie)}` +
    tag('naam', wpl.naam) +
    geometrie(
      wpl.corners ?? '121000 487000 121100 487000 121100 487100 121000 487100 121000 487000',
    ) +
    document('Woonplaats', 'aangewezen', wpl) +
    historie(wpl) +
    '</Objecten:Woonplaats>',
  VBO: (vbo) =>
    `<Objecten:Verblijfsobject>${occurrence(vbo)}${identificatie('Verblijfsobject', vbo.identificatie)}` +
    `<Objecten:geometrie>${vbo.punt.split(' ').length > 3 ? vlak(vbo.punt) : punt(vbo.punt)}</Objecten:geometrie>` +
    vbo.gebruiksdoelen.map((doel) => tag('gebruiksdoel', doel)).join('') +
    tag('oppervlakte', String(vbo.oppervlakte)) +
    statusTags(vbo.status ?? 'Verblijfsobject in gebruik', 'Verblijfsobject ingetrokken', vbo) +
    '<Objecten:maaktDeelUitVan><Objecten-ref:PandRef domein="NL.IMBAG.Pand">0457100000000001</Objecten-ref:PandRef>' +
    '</Objecten:maaktDeelUitVan></Objecten:Verblijfsobject>',
  LIG: (lig) => plaats('Ligplaats', lig),
  STA: (sta) => plaats('Standplaats', sta),
};

function plaats(element: string, stand: PlaatsStand): string {
  const [status, ...document] = statusTags('Plaats aangewezen', 'Plaats ingetrokken', stand).split(
    /(?<=status>)(?=<)/,
  );
  return (
    `<Objecten:${element}>${occurrence(stand)}${identificatie(element, stand.identificatie)}${status}` +
    `<Objecten:geometrie>${polygon(stand.corners)}</Objecten:geometrie>${document.join('')}</Objecten:${element}>`
  );
}

/** What an adresseerbaar object begins with. */
function occurrence(stand: AdresseerbaarStand): string {
  const { hoofdadres, nevenadressen = [] } = stand;
  const ref = (num: string) =>
    `<Objecten-ref:NummeraanduidingRef domein="NL.IMBAG.Nummeraanduiding">${num}</Objecten-ref:NummeraanduidingRef>`;
  const neven = nevenadressen.map(ref).join('');
  return (
    `<Objecten:heeftAlsHoofdadres>${ref(hoofdadres)}</Objecten:heeftAlsHoofdadres>${historie(stand)}` +
    (neven === '' ? '' : `<Objecten:heeftAlsNevenadres>${neven}</Objecten:heeftAlsNevenadres>`)
  );
}

function punt(coordinates: string): string {
  return (
    '<Objecten:punt><gml:Point srsName="urn:ogc:def:crs:EPSG::28992" srsDimension="3">\n' +
    `  <gml:pos>${coordinates} 0.0</gml:pos>\n</gml:Point></Objecten:punt>`
  );
}

function document(what: string, liveWord: string, historie: Historie): string {
  return statusTags(`${what} ${liveWord}`, `${what} ingetrokken`, historie);
}

function statusTags(
  liveStatus: string,
  goneStatus: string,
  { live = true, documentnummer, begin }: Historie,
): string {
  return (
    tag('status', live ? liveStatus : goneStatus) +
    tag('geconstateerd', 'N') +
    tag('documentdatum', begin) +
    tag('documentnummer', documentnummer ?? 'BAG-2010/1')
  );
}

function historie(voorkomen: Historie): string {
  const { begin, eind } = voorkomen;
  return (
    '<Objecten:voorkomen><Historie:Voorkomen>' +
    moment('voorkomenidentificatie', String(voorkomen.volgnummer ?? 1)) +
    moment('beginGeldigheid', begin) +
    moment('eindGeldigheid', eind) +
    moment('tijdstipRegistratie', voorkomen.geregistreerd ?? `${begin}T12:00:00.000`) +
    moment('eindRegistratie', eind && `${eind}T12:00:00.000`) +
    moment('tijdstipInactief', voorkomen.tijdstipInactief) +
    '<Historie:BeschikbaarLV>' +
    moment('tijdstipRegistratieLV', voorkomen.geregistreerdLV ?? `${begin}T12:31:25.687`) +
    moment('tijdstipEindRegistratieLV', eind && `${eind}T12:31:25.687`) +
    moment('tijdstipInactiefLV', voorkomen.tijdstipInactiefLV) +
    moment('tijdstipNietBagLV', voorkomen.tijdstipNietBagLV) +
    '</Historie:BeschikbaarLV></Historie:Voorkomen></Objecten:voorkomen>'
  );
}

function identificatie(domein: string, value: string): string {
  return `<Objecten:identificatie domein="NL.IMBAG.${domein}">${value}</Objecten:identificatie>`;
}

function ligtIn(woonplaats: string): string {
  return (
    '<Objecten:ligtIn><Objecten-ref:WoonplaatsRef domein="NL.IMBAG.Woonplaats">' +
    `${woonplaats}</Objecten-ref:WoonplaatsRef></Objecten:ligtIn>`
  );
}

function geometrie(corners: string): string {
  return `<Objecten:geometrie>${vlak(corners)}</Objecten:geometrie>`;
}

const vlak = (corners: string) => `<Objecten:vlak>${polygon(corners)}</Objecten:vlak>`;

function polygon(corners: string): string {
  return (
    '<gml:Polygon srsName="urn:ogc:def:crs:EPSG::28992" srsDimension="2">\n' +
    `  <gml:exterior>\n    <gml:LinearRing>\n      <gml:posList count="${corners.split(' ').length / 2}">${corners}` +
    '</gml:posList>\n    </gml:LinearRing>\n  </gml:exterior>\n</gml:Polygon>'
  );
}

function tag(name: string, value: string | undefined): string {
  return value === undefined ? '' : `<Objecten:${name}>${escapeXml(value)}</Objecten:${name}>`;
}

function moment(name: string, value: string | undefined): string {
  return value === undefined ? '' : `<Historie:${name}>${value}</Historie:${name}>`;
}

function escapeXml(text: string): string {
  if (!/[&<>]/.test(text)) return text; // the fast path for nearly all of the country's hundred million values
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** What the names of the schemas begin with. */
export const imbag = 'www.kadaster.nl/schemas/lvbag/imbag';
export const lvbag = 'http://www.kadaster.nl/schemas/lvbag';

/** The attributes of an element, with a space before each. */
export const attributes = (values: Record<string, string>): string =>
  Object.entries(values)
    .map(([name, value]) => ` ${name}="${value}"`)
    .join('');

const rootAttributes = attributes({
  'xmlns:DatatypenNEN3610': `${imbag}/datatypennen3610/${schemaVersion}`,
  'xmlns:Objecten': namespaces.Objecten,
  'xmlns:gml': 'http://www.opengis.net/gml/3.2',
  'xmlns:Historie': namespaces.Historie,
  'xmlns:Objecten-ref': namespaces['Objecten-ref'],
  'xmlns:nen5825': `${imbag}/nen5825/${schemaVersion}`,
  'xmlns:KenmerkInOnderzoek': `${imbag}/kenmerkinonderzoek/${schemaVersion}`,
  'xmlns:selecties-extract': `${lvbag}/extract-selecties/${schemaVersion}`,
  'xmlns:sl-bag-extract': namespaces['sl-bag-extract'],
  'xmlns:sl': namespaces.sl,
  'xmlns:xsi': 'http://www.w3.org/2001/XMLSchema-instance',
  'xmlns:xs': 'http://www.w3.org/2001/XMLSchema',
});

function header(kind: StandKind, peildatum: string): string {
  return `<?xml version="1.0" encoding="UTF-8"?>
<sl-bag-extract:bagStand${rootAttributes}>
  <sl-bag-extract:bagInfo>
    <selecties-extract:Gebied-Registratief>
      <selecties-extract:Gebied-NLD/>
    </selecties-extract:Gebied-Registratief>
    <selecties-extract:LVC-Extract>
      <selecties-extract:StandTechnischeDatum>${peildatum}</selecties-extract:StandTechnischeDatum>
    </selecties-extract:LVC-Extract>
  </sl-bag-extract:bagInfo>
  <sl:standBestand>
    <sl:dataset>LVBAG</sl:dataset>
    <sl:inhoud>
      <sl:gebied>Nederland</sl:gebied>
      <sl:leveringsId>0000000001</sl:leveringsId>
      <sl:objectTypen>
        <sl:objectType>${kind}</sl:objectType>
      </sl:objectTypen>
    </sl:inhoud>`;
}

/** The XML file of relations in Kadaster's form. */
export function relatiesXml(relaties: readonly RelatieStand[], peildatum: string): string {
  const product = (name: string, text: string) =>
    `<gwr-product:${name}>${text}</gwr-product:${name}>`;
  const date = (name: string, text: string | undefined) =>
    text === undefined
      ? ''
      : `<bagtypes:${name}TijdvakGeldigheid>${text}</bagtypes:${name}TijdvakGeldigheid>`;
  const all = relaties.map(({ woonplaats, gemeente, begin, eind, status = 'definitief' }) =>
    product(
      'GemeenteWoonplaatsRelatie',
      product('tijdvakgeldigheid', date('begindatum', begin) + date('einddatum', eind)) +
        product('gerelateerdeWoonplaats', product('identificatie', woonplaats)) +
        product('gerelateerdeGemeente', product('identificatie', gemeente)) +
        product('status', status),
    ),
  );
  const attributes = Object.entries({
    ...relatieNamespaces,
    'selecties-extract': `${lvbag}/extract-selecties/${schemaVersion}`,
  }).map(([prefix, uri]) => ` xmlns:${prefix}="${uri}"`);
  return `<?xml version="1.0" encoding="UTF-8"?>
<gwr-bestand:BAG-GWR-Deelbestand-LVC${attributes.join('')}>
  <gwr-bestand:SelectieGegevens>
    <selecties-extract:StandTechnischeDatum>${peildatum}</selecties-extract:StandTechnischeDatum>
  </gwr-bestand:SelectieGegevens>
  <gwr-bestand:Product>
    ${product('GemeenteWoonplaatsRelatieProduct', all.join(''))}
  </gwr-bestand:Product>
</gwr-bestand:BAG-GWR-Deelbestand-LVC>`;
}

/** The area of a delivery: the whole country, or one gemeente by its code. */
export function areaXml(gemeente: string | null): string {
  if (gemeente === null) return '<selecties-extract:Gebied-NLD/>';
  const code = `<selecties-extract:GemeenteIdentificatie>${gemeente}</selecties-extract:GemeenteIdentificatie>`;
  const collection = `<selecties-extract:Gemeente>${code}</selecties-extract:Gemeente>`;
  return `<selecties-extract:Gebied-GEM><selecties-extract:GemeenteCollectie>${collection}</selecties-extract:GemeenteCollectie></selecties-extract:Gebied-GEM>`;
}

/** The Leveringsdocument of an extract of the whole country. */
export function deliveryXml(peildatum: string, gemeente: string | null = null): string {
  return `<?xml version="1.0" encoding="UTF-8"?>
<xb:BAG-Extract-Levering xmlns:xb="${lvbag}/extract-levering/${schemaVersion}" xmlns:selecties-extract="${lvbag}/extract-selecties/${schemaVersion}">
    <xb:SelectieGegevens>
        <selecties-extract:LVC-Extract>
            <selecties-extract:StandTechnischeDatum>${peildatum}</selecties-extract:StandTechnischeDatum>
        </selecties-extract:LVC-Extract>
        <selecties-extract:Gebied-Registratief>
            ${areaXml(gemeente)}
        </selecties-extract:Gebied-Registratief>
    </xb:SelectieGegevens>
    <xb:SchemaInfo>
        <xb:naam>BagvsExtractDeelbestandExtractLvc-2.1.0.xsd</xb:naam>
        <xb:versie>${schemaVersion.slice(1)}</xb:versie>
    </xb:SchemaInfo>
</xb:BAG-Extract-Levering>`;
}
