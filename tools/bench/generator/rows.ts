import { addressKey } from '../../../core/addresses/address-key.ts';
import type { AdresObject } from '../../../core/adres-object.ts';
import type { Place } from '../../../core/place-fields.ts';
import type { Historie, NumStand, Voorkomens } from '../../../test/support/stand-xml.ts';
import { relatiesOf } from './country.ts';

/** An address with the values that are served of it, as one nummeraanduiding has them. */
export type Row = {
  id: string;
  postcode: string;
  huisnummer: number;
  /** Huisletter and huisnummertoevoeging together. */
  toevoeging: string;
  straat: string;
  woonplaats: string;
  gemeente?: string | undefined;
  objecten: readonly AdresObject[];
};

export const keyOfRow = ({ postcode, huisnummer, toevoeging }: Row): string =>
  addressKey({ postcode, huisnummer, toevoeging });

/** The addresses of a register on a date, each with its objects, in the order of the register. */
export function rowsOf(state: Voorkomens, peildatum: string): Row[] {
  const holds = (voorkomen: Historie) => isCurrent(voorkomen, peildatum);
  const streets = new Map(state.OPR.filter(holds).map((street) => [street.identificatie, street]));
  const places = new Map(state.WPL.filter(holds).map((place) => [place.identificatie, place.naam]));
  const relaties = state.relaties ?? relatiesOf(state.WPL);
  const gemeenten = new Map(relaties.map(({ woonplaats, gemeente }) => [woonplaats, gemeente]));
  const objects = objectsOf(state, peildatum);
  return state.NUM.filter(holds).flatMap((num): Row[] => {
    const { identificatie: id, postcode, huisnummer, huisletter = '' } = num;
    const street = streets.get(num.openbareRuimte);
    const place = num.woonplaats ?? street?.woonplaats ?? '';
    const woonplaats = places.get(place);
    if (!postcode || !street || woonplaats === undefined) return [];
    return [
      {
        id,
        postcode,
        huisnummer,
        toevoeging: huisletter + (num.huisnummertoevoeging ?? ''),
        straat: street.naam,
        woonplaats,
        gemeente: gemeenten.get(place),
        objecten: objects.get(id) ?? [],
      },
    ];
  });
}

function isCurrent(voorkomen: Historie, peildatum: string): boolean {
  const {
    begin,
    eind,
    live = true,
    tijdstipInactief,
    tijdstipInactiefLV,
    tijdstipNietBagLV,
  } = voorkomen;
  const isGone = tijdstipInactief || tijdstipInactiefLV || tijdstipNietBagLV;
  return live && !isGone && begin <= peildatum && (eind === undefined || eind > peildatum);
}

/** The objects by the ids of their addresses. */
function objectsOf({ VBO = [], LIG = [], STA = [] }: Voorkomens, peildatum: string) {
  const found = new Map<string, AdresObject[]>();
  const all = [
    ...VBO.map((stand) => ({ stand, type: 'verblijfsobject' as const })),
    ...LIG.map((stand) => ({ stand, type: 'ligplaats' as const })),
    ...STA.map((stand) => ({ stand, type: 'standplaats' as const })),
  ];
  for (const { stand, type } of all) {
    if (!isCurrent(stand, peildatum)) continue;
    const [x = 0, y = 0] = ('punt' in stand ? stand.punt : stand.corners).split(' ').map(Number);
    const inUse = type === 'verblijfsobject' ? 'Verblijfsobject in gebruik' : 'Plaats aangewezen';
    const object = {
      identificatie: stand.identificatie,
      type,
      status: stand.status ?? inUse,
      locatie: { x, y },
      ...('punt' in stand && {
        oppervlakte: stand.oppervlakte,
        gebruiksdoelen: stand.gebruiksdoelen,
      }),
    };
    for (const id of [stand.hoofdadres, ...(stand.nevenadressen ?? [])]) {
      const hoofdadres = id === stand.hoofdadres;
      found.set(id, [...(found.get(id) ?? []), { ...object, hoofdadres }]);
    }
  }
  return found;
}

/** The places of one key, each once, as a line of a snapshot has them. */
export function placesOfRows(rows: readonly Row[]): Place[] {
  const placeOf = (same: readonly Row[]): Place => {
    const { straat, woonplaats, gemeente } = same[0] as Row;
    const objecten = same.flatMap((row) => row.objecten);
    return {
      straat,
      woonplaats,
      ...(gemeente !== undefined && { gemeente }),
      ...(objecten.length > 0 && { objecten }),
      nummeraanduidingen: same.map(({ id }) => id).sort(),
    };
  };
  if (rows.length === 1) return [placeOf(rows)];
  const nameOf = ({ straat, woonplaats, gemeente }: Row) => `${straat}\t${woonplaats}\t${gemeente}`;
  return [...Map.groupBy(rows, nameOf).values()].map(placeOf);
}

/** The register of these addresses, to be written as an extract. */
export function stateOfRows(rows: readonly Row[]): Voorkomens {
  const begin = '2010-01-01';
  const numbers = <T>(values: readonly T[]) => new Map([...new Set(values)].map((v, i) => [v, i]));
  const woonplaatsen = numbers(rows.map(({ woonplaats }) => woonplaats));
  const streets = numbers(rows.map(({ straat, woonplaats }) => `${woonplaats}\t${straat}`));
  const placeId = (woonplaats: string) => String(1_000 + (woonplaatsen.get(woonplaats) ?? 0));
  const streetId = (name: string) => `045730${String(streets.get(name)).padStart(10, '0')}`;
  const gemeenten = new Map(rows.map(({ woonplaats, gemeente }) => [woonplaats, gemeente]));
  const neven = new Map<string, string[]>();
  for (const { id, objecten } of rows) {
    for (const { identificatie, hoofdadres } of objecten) {
      if (!hoofdadres) neven.set(identificatie, [...(neven.get(identificatie) ?? []), id]);
    }
  }
  const objects = rows.flatMap(({ id, objecten }) =>
    objecten.filter(({ hoofdadres }) => hoofdadres).map((object) => ({ object, id })),
  );
  const standOf = ({ object, id }: (typeof objects)[number]) => {
    const nevenadressen = neven.get(object.identificatie);
    return {
      identificatie: object.identificatie,
      hoofdadres: id,
      ...(nevenadressen && { nevenadressen }),
      status: object.status,
      begin,
    };
  };
  const point = ({ x, y }: AdresObject['locatie']) => `${x} ${y}`;
  const square = ({ x, y }: AdresObject['locatie']) =>
    [
      [x, y],
      [x + 9, y],
      [x + 9, y + 5],
      [x, y + 5],
      [x, y],
    ]
      .map((corner) => corner.join(' '))
      .join(' ');
  const ofType = (type: AdresObject['type']) =>
    objects.filter(({ object }) => object.type === type);
  const sites = (type: AdresObject['type']) =>
    ofType(type).map((site) => ({ ...standOf(site), corners: square(site.object.locatie) }));
  const hasObjects = objects.length > 0;
  return {
    NUM: rows.map((row): NumStand => {
      const [, huisletter, huisnummertoevoeging] = /^([A-Za-z]?)(.*)$/.exec(row.toevoeging) ?? [];
      return {
        identificatie: row.id,
        huisnummer: row.huisnummer,
        ...(huisletter && { huisletter }),
        ...(huisnummertoevoeging && { huisnummertoevoeging }),
        ...(row.postcode && { postcode: row.postcode }),
        openbareRuimte: streetId(`${row.woonplaats}\t${row.straat}`),
        begin,
      };
    }),
    OPR: [...streets.keys()].map((name) => {
      const [woonplaats = '', naam = ''] = name.split('\t');
      return { identificatie: streetId(name), naam, woonplaats: placeId(woonplaats), begin };
    }),
    WPL: [...woonplaatsen.keys()].map((naam) => ({ identificatie: placeId(naam), naam, begin })),
    relaties: [...gemeenten].flatMap(([woonplaats, gemeente]) =>
      gemeente === undefined ? [] : [{ woonplaats: placeId(woonplaats), gemeente, begin }],
    ),
    ...(hasObjects && {
      VBO: ofType('verblijfsobject').map((site) => ({
        ...standOf(site),
        punt: point(site.object.locatie),
        oppervlakte: site.object.oppervlakte ?? 1,
        gebruiksdoelen: site.object.gebruiksdoelen ?? [],
      })),
      LIG: sites('ligplaats'),
      STA: sites('standplaats'),
    }),
  };
}
