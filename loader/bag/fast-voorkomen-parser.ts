import { type ByteCursor, literal } from './byte-cursor.ts';
import type { ReadCounts } from './problem-report.ts';
import { type NotCurrentReason, noEind, type Span } from './voorkomen.ts';

/** The elements that both a nummeraanduiding and an openbare ruimte have. */
export const issued = literal('<Objecten:status>Naamgeving uitgegeven</Objecten:status>');
export const withdrawn = literal('<Objecten:status>Naamgeving ingetrokken</Objecten:status>');
export const geconstateerd = literal('<Objecten:geconstateerd>');
export const documentdatum = literal('</Objecten:geconstateerd><Objecten:documentdatum>');
export const documentnummer = literal('</Objecten:documentdatum><Objecten:documentnummer>');
export const ligtInEnd = literal('</Objecten-ref:WoonplaatsRef></Objecten:ligtIn>');

const open = literal('<Objecten:voorkomen><Historie:Voorkomen><Historie:voorkomenidentificatie>');
const begin = literal('</Historie:voorkomenidentificatie><Historie:beginGeldigheid>');
const beginEnd = literal('</Historie:beginGeldigheid>');
const eind = literal('<Historie:eindGeldigheid>');
const eindEnd = literal('</Historie:eindGeldigheid>');
const registratie = literal('<Historie:tijdstipRegistratie>');
const registratieEnd = literal('</Historie:tijdstipRegistratie>');
const eindRegistratie = literal('<Historie:eindRegistratie>');
const eindRegistratieEnd = literal('</Historie:eindRegistratie>');
const inactief = literal('<Historie:tijdstipInactief>');
const inactiefEnd = literal('</Historie:tijdstipInactief>');
const registratieLV = literal('<Historie:BeschikbaarLV><Historie:tijdstipRegistratieLV>');
const registratieLVEnd = literal('</Historie:tijdstipRegistratieLV>');
const eindRegistratieLV = literal('<Historie:tijdstipEindRegistratieLV>');
const eindRegistratieLVEnd = literal('</Historie:tijdstipEindRegistratieLV>');
const inactiefLV = literal('<Historie:tijdstipInactiefLV>');
const inactiefLVEnd = literal('</Historie:tijdstipInactiefLV>');
const nietBagLV = literal('<Historie:tijdstipNietBagLV>');
const nietBagLVEnd = literal('</Historie:tijdstipNietBagLV>');
const close = literal('</Historie:BeschikbaarLV></Historie:Voorkomen></Objecten:voorkomen>');

const plain = {
  registratie: literal('</Historie:beginGeldigheid><Historie:tijdstipRegistratie>'),
  registratieLV: literal('</Historie:tijdstipRegistratie>', '<Historie:BeschikbaarLV><Historie:tijdstipRegistratieLV>'),
  close: literal(
    '</Historie:tijdstipRegistratieLV>',
    '</Historie:BeschikbaarLV></Historie:Voorkomen></Objecten:voorkomen>',
  ),
};

/**
 * Whether an occurrence counts, or that its bytes are not in the known form. `later` is a `future` one that will count
 * unless the register changes.
 */
export type Validity = 'current' | 'later' | NotCurrentReason | 'unknown_shape';

/**
 * Moves past `Objecten:voorkomen`, and returns whether an occurrence with the live status counts on `day` (20211015),
 * by the rules and in the order of `whyNotCurrent`. Sets `span` for one that counts or will.
 */
export function parseVoorkomen(cursor: ByteCursor, day: number, span: Span): Validity {
  if (!cursor.skip(open)) return 'unknown_shape';
  const volgnummer = cursor.readNumber();
  if (volgnummer === 0 || !cursor.skip(begin)) return 'unknown_shape';
  const beginGeldigheid = cursor.readDate();
  if (beginGeldigheid < 0) return 'unknown_shape';
  span.volgnummer = volgnummer;
  span.begin = beginGeldigheid;
  span.eind = noEind;
  const start = cursor.position;
  if (skipPlainRest(cursor)) return beginGeldigheid > day ? 'later' : 'current';
  cursor.position = start;
  if (!cursor.skip(beginEnd)) return 'unknown_shape';
  const hasEind = cursor.skip(eind);
  const eindGeldigheid = hasEind ? cursor.readDate() : 0;
  if (hasEind && (eindGeldigheid < 0 || !cursor.skip(eindEnd))) return 'unknown_shape';
  if (!cursor.skip(registratie) || !cursor.skipText() || !cursor.skip(registratieEnd)) return 'unknown_shape';
  if (cursor.skip(eindRegistratie) && !(cursor.skipText() && cursor.skip(eindRegistratieEnd))) return 'unknown_shape';
  const isInactief = cursor.skip(inactief);
  if (isInactief && !(cursor.skipText() && cursor.skip(inactiefEnd))) return 'unknown_shape';
  if (!cursor.skip(registratieLV) || !cursor.skipText() || !cursor.skip(registratieLVEnd)) return 'unknown_shape';
  if (cursor.skip(eindRegistratieLV) && !(cursor.skipText() && cursor.skip(eindRegistratieLVEnd))) {
    return 'unknown_shape';
  }
  const isInactiefLV = cursor.skip(inactiefLV);
  if (isInactiefLV && !(cursor.skipText() && cursor.skip(inactiefLVEnd))) return 'unknown_shape';
  const isNietBagLV = cursor.skip(nietBagLV);
  if (isNietBagLV && !(cursor.skipText() && cursor.skip(nietBagLVEnd))) return 'unknown_shape';
  if (!cursor.skip(close)) return 'unknown_shape';

  if (hasEind) span.eind = eindGeldigheid;
  const isOut = isInactief || isInactiefLV || isNietBagLV;
  if (beginGeldigheid > day) return isOut || (hasEind && eindGeldigheid <= beginGeldigheid) ? 'future' : 'later';
  if (hasEind && eindGeldigheid <= day) return 'ended';
  if (isInactief || isInactiefLV) return 'inactive';
  return isNietBagLV ? 'not_bag' : 'current';
}

/** The rest of the most common occurrence, which has begun and has no end: the same tags in four comparisons instead of ten. */
function skipPlainRest(cursor: ByteCursor): boolean {
  return (
    cursor.skip(plain.registratie) &&
    cursor.skipText() &&
    cursor.skip(plain.registratieLV) &&
    cursor.skipText() &&
    cursor.skip(plain.close)
  );
}

/** Adds an occurrence to `counts`, and returns whether it counts on the date, later, or never. */
export function countOccurrence(
  counts: ReadCounts,
  isIssued: boolean,
  validity: Exclude<Validity, 'unknown_shape'>,
): 'current' | 'later' | 'never' {
  counts.voorkomens++;
  if (!isIssued) {
    counts.notCurrent.withdrawn++;
    return 'never';
  }
  if (validity === 'current') {
    counts.current++;
    return 'current';
  }
  counts.notCurrent[validity === 'later' ? 'future' : validity]++;
  return validity === 'later' ? 'later' : 'never';
}
