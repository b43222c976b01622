/** Occurrences of nummeraanduidingen and files of them, as they are and in many ways damaged. */

import fc from 'fast-check';
import type {
  AdresseerbaarStand,
  NumStand,
  PlaatsStand,
  VboStand,
} from '../../support/stand-xml.ts';

const day = fc.constantFrom(
  '2010-09-29',
  '2026-01-07',
  '2026-01-08',
  '2026-01-09',
  '2104-01-21',
  '20-1-1',
  '',
);
const moment = fc.constantFrom(
  '2020-01-01T10:00:00.000',
  '2026-01-08T10:00:00.000',
  ' 2026-01-08T10:00:00.000',
  '2026',
  '',
);
const often = <T>(usual: T, arbitrary: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 12, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary });
const rarely = <T>(arbitrary: fc.Arbitrary<T>) => often<T | undefined>(undefined, arbitrary);
const text = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 12 }),
  fc.constantFrom(
    '&',
    ']]>',
    '<',
    'é',
    '’',
    '',
    ' ',
    'B&W-1774',
    '</sl:stand>',
    '\u{1F3E0}',
    '\t',
    '\n',
  ),
);

/** What says when an occurrence counts. */
const anyHistorie = {
  volgnummer: often(1, fc.constantFrom(2, 12, 0)),
  begin: often('2010-09-29', day),
  eind: rarely(day),
  live: often(true, fc.boolean()),
  documentnummer: often('Z.9837/D.6498', text),
  geregistreerdLV: rarely(moment),
  tijdstipInactief: rarely(moment),
  tijdstipInactiefLV: rarely(moment),
  tijdstipNietBagLV: rarely(moment),
};

function withoutUndefined<T>(values: object): T {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as T;
}

/** Occurrences, now and then with a value that the register's rules forbid. */
export const anyNum = fc
  .record({
    ...anyHistorie,
    identificatie: often('0457200000199640', fc.constantFrom('0457', '', '045720000019964x')),
    huisnummer: often(9, fc.constantFrom(1, 99_999, 100_000, 0, -1, 1.5)),
    huisletter: fc.option(fc.constantFrom('a', 'Z', '1', 'ab', ''), { nil: undefined }),
    huisnummertoevoeging: fc.option(fc.constantFrom('bis', '1', '01R', 'abcde', ''), {
      nil: undefined,
    }),
    postcode: fc.option(fc.constantFrom('1381AA', '0381AA', '1381aa', '1381AAA', ''), {
      nil: undefined,
    }),
    openbareRuimte: often('0457300000000035', fc.constantFrom('35', '')),
    woonplaats: rarely(fc.constantFrom('1050', '10500')),
    type: often('Verblijfsobject', fc.constantFrom('Ligplaats', 'Standplaats')),
  })
  .map(withoutUndefined<NumStand>);

const anyId = (id: string) => often(id, fc.constantFrom('0457', '', '045720000019964x'));
const anyAdresseerbaar = {
  ...anyHistorie,
  identificatie: anyId('0457010000059460'),
  hoofdadres: anyId('0457200000199640'),
  nevenadressen: rarely(fc.array(anyId('0457200000199641'), { maxLength: 3 })),
};
const anyMetres = (usual: string, most: string) =>
  often(
    usual,
    fc.constantFrom(
      most,
      `${usual}00`,
      `${usual}.5e1`,
      '00.5',
      '-1.25',
      '131203.1234567890',
      '5',
      'NaN',
      '',
    ),
  );
const square = '131000 480000 131010 480000 131010.5 480010.25 131000 480010 131000 480000';
const anyCorners = often(
  square,
  fc.constantFrom('131000 480000 131010 480000', square.replaceAll('.', ','), 'x', ''),
);

/** Verblijfsobjecten, with the same. */
export const anyVbo = fc
  .record({
    ...anyAdresseerbaar,
    punt: fc.oneof(
      {
        weight: 12,
        arbitrary: fc
          .tuple(anyMetres('131203.83', '300000'), anyMetres('480083.5', '629000'))
          .map((at) => at.join(' ')),
      },
      { weight: 1, arbitrary: anyCorners },
    ),
    status: rarely(
      fc.constantFrom(
        'Verblijfsobject gevormd',
        'Niet gerealiseerd verblijfsobject',
        'Plaats aangewezen',
        'x',
      ),
    ),
    oppervlakte: often(103, fc.constantFrom(1, 999_999, 1_000_000, 0, -1)),
    gebruiksdoelen: often(
      ['woonfunctie'],
      fc.array(fc.constantFrom('woonfunctie', 'winkelfunctie', 'overige gebruiksfunctie', 'x'), {
        maxLength: 3,
      }),
    ),
  })
  .map(withoutUndefined<VboStand>);

/** Ligplaatsen and standplaatsen, with the same. */
export const anyPlaats = fc
  .record({ ...anyAdresseerbaar, corners: anyCorners })
  .map(withoutUndefined<PlaatsStand & AdresseerbaarStand>);

/** What happens to the bytes of a file. */
type Damage = (xml: Buffer) => Buffer;
const at = fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true });

/** Puts `piece` behind the tag that ends nearest after a place in the objects of the file. */
function behindATag(place: number, piece: string): Damage {
  return (xml) => {
    const start = xml.indexOf(':inhoud>');
    const end = xml.indexOf('>', start + Math.floor((xml.length - start) * place)) + 1;
    return Buffer.concat([xml.subarray(0, end), Buffer.from(piece), xml.subarray(end)]);
  };
}

/** Replaces `length` bytes at a place by `piece`. */
function splice(place: number, length: number, piece: Uint8Array): Damage {
  return (xml) => {
    const start = Math.floor(xml.length * place);
    return Buffer.concat([xml.subarray(0, start), piece, xml.subarray(start + length)]);
  };
}

/** Rewrites the file as text, which leaves invalid UTF-8 alone. */
function rewrite(change: (xml: string) => string): Damage {
  return (xml) => Buffer.from(change(xml.toString('latin1')), 'latin1');
}

const pieces = [
  '<!-- c -->',
  '<!-- </sl:stand> -->',
  '<!-- <sl:stand>',
  ' -->',
  '<![CDATA[1]]>',
  '<![CDATA[</sl:stand>',
  ']]>',
  '<?pi </sl:stand>?>',
  '&#49;',
  '&amp;',
  '&none;',
  ' ',
  '\r\n\t',
  'text',
  '<sl:stand>',
  '</sl:stand>',
  '<sl:stand/>',
  '<sl:stand id="',
  '</sl:inhoud>',
  '</ml:mutatieGroep>',
  '<ml:mutatieGroep>',
  '<ml:wordt>',
  '<Objecten:postcode>1382AJ</Objecten:postcode>',
  '<x xmlns="y">',
  '\u0000',
  '\uFEFF',
  'é',
];

export const anyDamage: fc.Arbitrary<Damage> = fc.oneof(
  fc.tuple(at, fc.constantFrom(...pieces)).map(([place, piece]) => behindATag(place, piece)),
  fc
    .tuple(at, fc.nat(3), fc.uint8Array({ maxLength: 3 }))
    .map(([place, length, piece]) => splice(place, length, piece)),
  at.map(
    (place): Damage =>
      (xml) =>
        xml.subarray(0, Math.floor(xml.length * place)),
  ),
  fc
    .constantFrom('Objecten', 'Historie', 'sl', 'ml', 'mlm', 'sl-bag-extract', 'Objecten-ref')
    .map((prefix) =>
      rewrite((xml) =>
        xml
          .replaceAll(`<${prefix}:`, '<p:')
          .replaceAll(`</${prefix}:`, '</p:')
          .replace(`:${prefix}=`, ':p='),
      ),
    ),
  fc
    .constantFrom('Objecten', 'Historie', 'sl', 'ml')
    .map((prefix) => rewrite((xml) => xml.replace(`:${prefix}=`, ':gone='))),
  fc.constant(rewrite((xml) => xml.replaceAll('><', '>\n<'))),
  fc.constant(rewrite((xml) => xml.replace(/domein="(.*?)"/g, "domein='$1'"))),
  fc.constant(
    rewrite((xml) =>
      xml.replace(
        /(<Objecten:huisnummer>.*?<\/Objecten:huisnummer>)(.*?)(<Objecten:type)/,
        '$2$1$3',
      ),
    ),
  ),
);
