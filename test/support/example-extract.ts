import type {
  Historie,
  NumStand,
  PlaatsStand,
  RelatieStand,
  VboStand,
  Voorkomens,
} from './stand-xml.ts';
import { writeExtract } from './write-extract.ts';

/** The peildatum of the example extract. */
export const examplePeildatum = '2026-01-08';

type ExampleChange = Partial<Historie> & {
  type?: NumStand['type'];
  woonplaats?: string;
  object?: ExampleObject;
};
/**
 * What differs from a home; or that the address is a nevenadres of the object of the address before
 * it.
 */
type ExampleObject = Partial<Omit<VboStand, keyof Historie>> | 'that before';

/**
 * The addresses by woonplaats and street: postcode, number, letter and addition, `-` for none. They
 * are no source of addresses: the well-known ones are public facts, some come from a real extract,
 * the odd cases resemble real ones on a made-up street, and every identificatie is made up. So are
 * the objects: where they are, in the middle of their woonplaats, and how large.
 */
const places: Record<string, Record<string, (string | [address: string, ExampleChange])[]>> = {
  Amsterdam: {
    'Nieuwezijds Voorburgwal': [
      [
        '1012RJ 147',
        {
          object: { gebruiksdoelen: ['kantoorfunctie', 'bijeenkomstfunctie'], oppervlakte: 22_000 },
        },
      ],
    ],
    Westermarkt: ['1016DK 20'],
    Museumstraat: ['1071XX 1', ['1071XX 3', { begin: '2026-03-01' }]],
    Museumplein: ['1071DJ 6', '1071DJ 10'],
    Concertgebouwplein: ['1071LN 10'],
    Kalfjeslaan: [['1181BN 1', { woonplaats: 'Amstelveen' }]],
    Kerkstraat: ['9999ZZ 1'],
  },
  Amstelveen: {},
  "'s-Gravenhage": {
    Binnenhof: ['2513AA 1 A', '2513AA 19', '2513AA 20'],
    Plein: ['2511CS 29'],
    Noordeinde: ['2514GL 68'],
    Carnegieplein: ['2517KJ 2'],
  },
  Rotterdam: {
    Coolsingel: ['3011AD 40'],
    'Dominee Jan Scharpstraat': ['3011GZ 298'],
    Mathenesserdijk: ['3028BV 527 - 01R', '3028BV 527 - 02L'],
    Parkhaven: ['3016GM 20', '- 22'],
  },
  Utrecht: {
    Domplein: ['3512JE 29'],
    Amsterdamsestraatweg: [
      '3554VZ 24',
      '3554VZ 24 - A',
      ['3554VZ 24 - B', { object: 'that before' }],
    ],
    Dorpsstraat: ['9999ZZ 1'],
  },
  Weesp: {
    Buitenveer: ['1381AA 7', '1381AA 9', '1381AA 9 a'],
    'Hugo de Grootlaan': ['1381DE 30', '1381DE 30 a 100', '1381DE 30 a 102', '1381DE 30 w 1'],
    Aetsveldselaan: ['1381EX 78', '1381EX 82'],
    'J.A.Fijnvandraatlaan': ['1381EX 38', '1381EX 72'],
    Nijverheidslaan: [
      '1382LJ 28',
      ['1382LJ 28', { object: { status: 'Verblijfsobject gevormd' } }],
      '1382LJ 28 a',
    ],
    Blomstraat: [
      '1382AJ 17',
      ['1382AJ 24', { live: false, begin: '2020-01-30' }],
      ['1382AJ 26', { eind: '2024-05-01' }],
    ],
    'Mr.J.C.Bührmannlaan': ['1381GH 3'],
    "'t Nauwe Steegje": [['1381XK 2', { type: 'Standplaats' }]],
    Ossenmarkt: [['1381LX 12', { type: 'Ligplaats' }]],
  },
  Apeldoorn: { Hofstraat: ['7311KZ 110'] },
  Groningen: { Museumeiland: ['9711ME 1'] },
  Otterlo: { Houtkampweg: ['6731AW 6'] },
  Delft: { Mekelweg: ['2628CC 5'] },
};

type Town = { gemeente: string; x: number; y: number };
/**
 * The gemeente of each woonplaats and its middle in kilometres of the national grid, public facts.
 */
const towns: Record<string, Town> = {
  Amsterdam: { gemeente: '0363', x: 121, y: 487 },
  Amstelveen: { gemeente: '0362', x: 119, y: 480 },
  "'s-Gravenhage": { gemeente: '0518', x: 81, y: 455 },
  Rotterdam: { gemeente: '0599', x: 92, y: 437 },
  Utrecht: { gemeente: '0344', x: 136, y: 456 },
  Weesp: { gemeente: '0363', x: 131, y: 480 },
  Apeldoorn: { gemeente: '0200', x: 194, y: 469 },
  Groningen: { gemeente: '0014', x: 233, y: 582 },
  Otterlo: { gemeente: '0228', x: 183, y: 456 },
  Delft: { gemeente: '0503', x: 84, y: 447 },
};

/** The occurrences of the example: a few dozen addresses with the peculiarities of real ones. */
export function exampleVoorkomens(): Voorkomens {
  const begin = '2010-09-29';
  const relaties: RelatieStand[] = [];
  const objects = { VBO: [] as VboStand[], LIG: [] as PlaatsStand[], STA: [] as PlaatsStand[] };
  const voorkomens: Voorkomens = { NUM: [], OPR: [], WPL: [], ...objects, relaties };
  const placeId = (name: string) => String(1000 + Object.keys(places).indexOf(name));
  for (const [place, streets] of Object.entries(places)) {
    voorkomens.WPL.push({ identificatie: placeId(place), naam: place, begin });
    const town = towns[place] as Town;
    relaties.push({ woonplaats: placeId(place), gemeente: town.gemeente, begin });
    for (const [street, addresses] of Object.entries(streets)) {
      const openbareRuimte = `000030${String(voorkomens.OPR.length + 1).padStart(10, '0')}`;
      voorkomens.OPR.push({
        identificatie: openbareRuimte,
        naam: street,
        woonplaats: placeId(place),
        begin,
      });
      for (const one of addresses) {
        const [address, change = {}] = typeof one === 'string' ? [one] : one;
        const [postcode, huisnummer, huisletter, huisnummertoevoeging] = address
          .split(' ')
          .map((part) => (part === '-' ? undefined : part));
        const identificatie = `000020${String(voorkomens.NUM.length + 1).padStart(10, '0')}`;
        const { woonplaats, object = {}, ...rest } = change;
        const num: NumStand = {
          identificatie,
          huisnummer: Number(huisnummer),
          ...(huisletter === undefined ? {} : { huisletter }),
          ...(huisnummertoevoeging === undefined ? {} : { huisnummertoevoeging }),
          ...(postcode === undefined ? {} : { postcode }),
          openbareRuimte,
          begin,
          ...rest,
          ...(woonplaats === undefined ? {} : { woonplaats: placeId(woonplaats) }),
        };
        voorkomens.NUM.push(num);
        if (object === 'that before') objects.VBO.at(-1)?.nevenadressen?.push(identificatie);
        else {
          addObject(objects, num, voorkomens.NUM.length, town, object);
        }
      }
    }
  }
  return voorkomens;
}

/** Adds the object whose hoofdadres an address is. `index` spreads objects over their town. */
function addObject(
  { VBO, LIG, STA }: { VBO: VboStand[]; LIG: PlaatsStand[]; STA: PlaatsStand[] },
  { identificatie, type, begin, eind, live }: NumStand,
  index: number,
  town: Town,
  object: Exclude<ExampleObject, string>,
): void {
  const x = town.x * 1000 + 10 * index;
  const y = town.y * 1000 + 7 * index;
  const history = {
    begin,
    ...(eind !== undefined && { eind }),
    ...(live !== undefined && { live }),
  };
  const idOf = (kind: string) => `0000${kind}${identificatie.slice(6)}`;
  const shared = { ...history, hoofdadres: identificatie };
  const ring = `${x} ${y} ${x + 20} ${y} ${x + 20} ${y + 8} ${x} ${y + 8} ${x} ${y}`;
  if (type === 'Ligplaats') LIG.push({ ...shared, identificatie: idOf('02'), corners: ring });
  else if (type === 'Standplaats') {
    STA.push({ ...shared, identificatie: idOf('03'), corners: ring });
  } else {
    const home = {
      punt: `${x}.5 ${y}.25`,
      oppervlakte: 40 + (index % 9) * 12,
      gebruiksdoelen: ['woonfunctie'],
    };
    VBO.push({ ...shared, identificatie: idOf('01'), nevenadressen: [], ...home, ...object });
  }
}

/** The example extract: a schema-valid zip in Kadaster's layout, with the same bytes every time. */
export function exampleExtract(): Promise<Buffer> {
  return writeExtract(examplePeildatum, exampleVoorkomens());
}
