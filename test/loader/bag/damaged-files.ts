/** Occurrences of nummeraanduidingen and files of them, as they are and in many ways damaged. */

import fc from 'fast-check';
import type { NumStand } from '../../../local/demo/stand-xml.ts';

const day = fc.constantFrom('2010-09-29', '2026-01-07', '2026-01-08', '2026-01-09', '2104-01-21', '20-1-1', '');
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
  fc.constantFrom('&', ']]>', '<', 'é', '’', '', ' ', 'B&W-1774', '</sl:stand>', '\u{1F3E0}', '\t', '\n'),
);

/** Occurrences, now and then with a value that the register's rules forbid. */
export const anyNum = fc
  .record({
    identificatie: often('0457200000199640', fc.constantFrom('0457', '', '045720000019964x')),
    huisnummer: often(9, fc.constantFrom(1, 99_999, 100_000, 0, -1, 1.5)),
    huisletter: fc.option(fc.constantFrom('a', 'Z', '1', 'ab', ''), { nil: undefined }),
    huisnummertoevoeging: fc.option(fc.constantFrom('bis', '1', '01R', 'abcde', ''), { nil: undefined }),
    postcode: fc.option(fc.constantFrom('1381AA', '0381AA', '1381aa', '1381AAA', ''), { nil: undefined }),
    openbareRuimte: often('0457300000000035', fc.constantFrom('35', '')),
    woonplaats: rarely(fc.constantFrom('1050', '10500')),
    begin: often('2010-09-29', day),
    eind: rarely(day),
    live: often(true, fc.boolean()),
    type: often('Verblijfsobject', fc.constantFrom('Ligplaats', 'Standplaats')),
    documentnummer: often('Z.9837/D.6498', text),
    geregistreerdLV: rarely(moment),
    tijdstipInactief: rarely(moment),
    tijdstipInactiefLV: rarely(moment),
    tijdstipNietBagLV: rarely(moment),
  })
  .map((values) => Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as NumStand);

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
        xml.replaceAll(`<${prefix}:`, '<p:').replaceAll(`</${prefix}:`, '</p:').replace(`:${prefix}=`, ':p='),
      ),
    ),
  fc
    .constantFrom('Objecten', 'Historie', 'sl', 'ml')
    .map((prefix) => rewrite((xml) => xml.replace(`:${prefix}=`, ':gone='))),
  fc.constant(rewrite((xml) => xml.replaceAll('><', '>\n<'))),
  fc.constant(rewrite((xml) => xml.replace(/domein="(.*?)"/g, "domein='$1'"))),
  fc.constant(
    rewrite((xml) => xml.replace(/(<Objecten:huisnummer>.*?<\/Objecten:huisnummer>)(.*?)(<Objecten:type)/, '$2$1$3')),
  ),
);
