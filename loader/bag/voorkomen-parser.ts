import { type ByteCursor, date, type Literal, literal, type ValueRange } from './byte-cursor.ts';
import { hasChanged, type ReadOptions, type StandVisit } from './interpret-stand.ts';
import { absent } from './num-bytes.ts';
import type { ReadCounts } from './problem-report.ts';
import { dayOf, type NotCurrentReason, noEind, type Span } from './voorkomen.ts';

/** Reads occurrences whose bytes are exactly as Kadaster writes them. */
export type FastParser = {
  /** Reads the `sl:stand` at the cursor and moves past it, or returns false and leaves it unread. */
  parse(cursor: ByteCursor): boolean;
};

/** Counts occurrences, and visits those that count on the day (`visit`) or from a later day on (`later`). */
export abstract class CountingParser<T> implements FastParser {
  protected readonly day: number;
  protected readonly span: Span = { volgnummer: 0, begin: 0, eind: 0 };
  readonly #counts: ReadCounts;
  readonly #visit: StandVisit<T>;
  readonly #later: StandVisit<T> | undefined;
  readonly #since: number;
  /** The last day on which anything was recorded of the occurrence that is being read; only where it is asked for. */
  #recorded = 0;

  constructor(
    peildatum: string,
    counts: ReadCounts,
    visit: StandVisit<T>,
    { later, since = noEind }: ReadOptions<T> = {},
  ) {
    this.day = dayOf(peildatum);
    this.#counts = counts;
    this.#visit = visit;
    this.#later = later;
    this.#since = since;
  }

  abstract parse(cursor: ByteCursor): boolean;

  /** Counts an occurrence, and returns its visit, if any. `identificatie` is its object's position. */
  protected visitOf(
    isIssued: boolean,
    validity: Exclude<Validity, 'unknown_shape'>,
    cursor: ByteCursor,
    identificatie: number,
  ): StandVisit<T> | undefined {
    const counts = this.#counts;
    counts.voorkomens++;
    if (this.#since < noEind && hasChanged(this.span, this.#recorded, this.#since, this.day)) {
      counts.changed.push(cursor.text(identificatie, 16));
    }
    if (!isIssued) {
      counts.notCurrent.withdrawn++;
      return undefined;
    }
    if (validity === 'current') {
      counts.current++;
      return this.#visit;
    }
    counts.notCurrent[validity === 'later' ? 'future' : validity]++;
    return validity === 'later' ? this.#later : undefined;
  }

  /**
   * Moves past `Objecten:voorkomen`, and returns whether an occurrence with the live status counts on `day` (20211015),
   * by the rules and in the order of `whyNotCurrent`. Sets `span` for one that counts or will.
   */
  protected parseVoorkomen(cursor: ByteCursor): Validity {
    const { span } = this;
    this.#recorded = 0;
    if (!cursor.skip(voorkomenOpen)) return 'unknown_shape';
    span.volgnummer = cursor.readNumber();
    const beginAt = cursor.skipTo(begin);
    if (span.volgnummer === 0 || beginAt === absent) return 'unknown_shape';
    const eindAt = cursor.skipTo(eind);
    span.begin = cursor.dateAt(beginAt);
    span.eind = eindAt === absent ? noEind : cursor.dateAt(eindAt);
    if (!cursor.skip(registratie)) return 'unknown_shape';
    cursor.skip(eindRegistratie);
    const isInactief = cursor.skip(inactief);
    if (!this.#skipTime(cursor, registratieLV)) return 'unknown_shape';
    this.#skipTime(cursor, eindRegistratieLV);
    const isInactiefLV = this.#skipTime(cursor, inactiefLV);
    const isNietBagLV = this.#skipTime(cursor, nietBagLV);
    if (!cursor.skip(voorkomenClose)) return 'unknown_shape'; // as after an element that is not as usual
    return this.#validity(isInactief || isInactiefLV, isNietBagLV);
  }

  /** By the span of an occurrence, and whether it is inactive or outside the BAG. */
  #validity(isInactief: boolean, isNietBag: boolean): Exclude<Validity, 'unknown_shape'> {
    const { day, span } = this;
    if (span.begin > day) return isInactief || isNietBag || span.eind <= span.begin ? 'future' : 'later';
    if (span.eind <= day) return 'ended';
    if (isInactief) return 'inactive';
    return isNietBag ? 'not_bag' : 'current';
  }

  /** As `parseVoorkomen`, for a plain one that is the first in a literal at `start` which was skipped. */
  protected usualValidity(
    cursor: ByteCursor,
    start: number,
    gaps: readonly number[],
  ): Exclude<Validity, 'unknown_shape'> {
    const { span } = this;
    const at = (index: number) => start + (gaps[index] as number);
    span.volgnummer = (cursor.bytes[at(0)] as number) - zero;
    span.begin = cursor.dateAt(at(1));
    span.eind = noEind;
    this.#recorded = this.#since < noEind ? cursor.dateAt(at(3)) : 0;
    return this.#validity(false, false);
  }

  /** Past an element with a time, if any; its day counts where it is asked since when an object has changed. */
  #skipTime(cursor: ByteCursor, element: Literal): boolean {
    const at = cursor.skipTo(element);
    if (at !== absent && this.#since < noEind) this.#recorded = Math.max(this.#recorded, cursor.dateAt(at));
    return at !== absent;
  }
}

const zero = 0x30;
/** A time such as `2021-10-15T13:06:12.318`; what is not a digit of its date may be any of `-./:` and digits. */
const time: ValueRange = ['0000-00-00T------------', '9999-99-99T::::::::::::'];
const element = (name: string, value: ValueRange) => [`<Historie:${name}>`, value, `</Historie:${name}>`];
const open = '<Objecten:voorkomen><Historie:Voorkomen><Historie:voorkomenidentificatie>';
const beginParts = ['</Historie:voorkomenidentificatie>', ...element('beginGeldigheid', date)];
const registratieParts = element('tijdstipRegistratie', time);
const registratieLVParts = ['<Historie:BeschikbaarLV>', ...element('tijdstipRegistratieLV', time)];
const close = '</Historie:BeschikbaarLV></Historie:Voorkomen></Objecten:voorkomen>';
const voorkomenOpen = literal(open);
const begin = literal(...beginParts);
const eind = literal(...element('eindGeldigheid', date));
const registratie = literal(...registratieParts);
const eindRegistratie = literal(...element('eindRegistratie', time));
const inactief = literal(...element('tijdstipInactief', time));
const registratieLV = literal(...registratieLVParts);
const eindRegistratieLV = literal(...element('tijdstipEindRegistratieLV', time));
const inactiefLV = literal(...element('tijdstipInactiefLV', time));
const nietBagLV = literal(...element('tijdstipNietBagLV', time));
const voorkomenClose = literal(close);

/** The parts of the most common one, as of a literal: its number has one digit, and it has no end. */
export const plainVoorkomen = [
  open,
  ['1', '9'] as const,
  ...beginParts,
  ...registratieParts,
  ...registratieLVParts,
  close,
];

/**
 * Whether an occurrence counts, or that its bytes are not in the known form. `later` is a `future` one that will count
 * unless the register changes.
 */
export type Validity = 'current' | 'later' | NotCurrentReason | 'unknown_shape';
