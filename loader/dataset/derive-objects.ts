import { betweenObjects } from '../../core/adres-object.ts';
import type { Problem } from '../bag/problem-report.ts';
import { dayOf, dayText, noEind } from '../bag/voorkomen.ts';
import {
  adresObjectLayout as fieldsAt,
  groupOf,
  isMissingKey,
  isOfHoofdadres,
  lastToBegin,
  numOf,
  roleInText,
} from './adres-objects.ts';
import { dayIn } from './fields.ts';
import type { GrowingBytes } from './stored-form.ts';

const tab = 0x09;
const lineEnd = 0x0a;
const asterisk = 0x2a;
const separator = 0x23;
const dash = 0x2d;
const one = 0x31;
const idLength = 16;

/**
 * What the addresses of a part have of its adresseerbare objecten on a date, from the lines of these in order, as
 * bytes. Of several occurrences of an object that are current at once the same one counts as of a nummeraanduiding; the
 * others are problems, and so are objects whose nummeraanduiding is not there. Is asked for addresses in the order of
 * their keys.
 */
export class ObjectsOfAddresses {
  readonly #lines: Buffer;
  /** Where each line that counts begins, and where its tab is. */
  readonly #starts: number[] = [];
  readonly #tabs: number[] = [];
  /** The first of these whose key has not been passed. */
  #next = 0;
  /** The first later date on which an occurrence begins or ceases to be valid, or `null` where none does. */
  readonly next: string | null;
  /** How many objects have a hoofdadres among the addresses that were asked for. */
  count = 0;

  constructor(
    lines: Buffer,
    { peildatum, file }: { peildatum: string; file: string },
    onProblem: (problem: Problem) => void,
  ) {
    this.#lines = lines;
    const day = dayOf(peildatum);
    let next = noEind;
    const several: string[] = [];
    for (let start = 0, end = 0; start < lines.length; start = end + 1) {
      let at = start;
      while (lines[at] !== tab) at++;
      end = at + fieldsAt.least;
      while (end < lines.length && lines[end] !== lineEnd) end++;
      const begin = dayIn(lines, at + fieldsAt.begin);
      const eind = dayIn(lines, at + fieldsAt.eind);
      if (begin > day && begin < next) next = begin;
      if (eind > day && eind < next) next = eind;
      if (begin > day || eind <= day) continue;
      const isSeveral = lines[at + fieldsAt.several] === asterisk;
      if (isSeveral) several.push(lines.toString('latin1', start, end));
      if (lines[start] === separator) {
        const line = isSeveral ? '' : lines.toString('latin1', start, end);
        if (isMissingKey(line)) onProblem(missing(line, file));
      } else {
        this.#starts.push(start);
        this.#tabs.push(at);
      }
    }
    this.next = next === noEind ? null : dayText(next);
    if (several.length > 0) this.#choose(several, file, onProblem);
  }

  /** Keeps, of each object with several occurrences that are current, the one that counts. */
  #choose(several: readonly string[], file: string, onProblem: (problem: Problem) => void): void {
    const chosen = new Set<string>();
    for (const lines of Map.groupBy(several, groupOf).values()) {
      const [first = '', ...others] = lines.sort(lastToBegin);
      if (isMissingKey(first) && roleOf(first) !== '-') onProblem(missing(first, file));
      chosen.add(first);
      for (const other of others) {
        // Counted once, with its hoofdadres.
        if (roleOf(other) === '1') {
          onProblem({ kind: 'several_current', file, identificatie: identificatieOf(other) });
        }
      }
    }
    const [starts, tabs] = [this.#starts.splice(0), this.#tabs.splice(0)];
    for (const [index, start] of starts.entries()) {
      const at = tabs[index] as number;
      if (this.#lines[at + fieldsAt.several] === asterisk) {
        if (this.#lines[at + fieldsAt.role] === dash) continue;
        if (!chosen.has(this.#lines.toString('latin1', start, this.#endOf(at)))) continue;
      }
      this.#starts.push(start);
      this.#tabs.push(at);
    }
  }

  /** Writes what the address in `rows` has: its key is at `start`, its nummeraanduiding after the tab before `id`. */
  write(target: GrowingBytes, rows: DataView, start: number, id: number): void {
    const idEnd = id + idLength;
    const count = this.#starts.length;
    while (this.#next < count && this.#order(this.#next, rows, start, idEnd) < 0) this.#next++;
    const index = this.#next;
    let next = index;
    while (next < count && this.#order(next, rows, start, idEnd) === 0) next++;
    if (next === index) return;
    if (next > index + 1) {
      const texts = Array.from({ length: next - index }, (_, i) => this.#textAt(index + i));
      target.write(this.#joined(texts), 'latin1');
      return;
    }
    const at = (this.#tabs[index] as number) + fieldsAt.text;
    const end = this.#endOfText(at);
    target.reserve(end - at + 1);
    this.#lines.copy(target.memory, target.length, at, end);
    target.length += end - at;
    if (this.#lines[at + roleInText] === one) this.count++;
  }

  /** What an address has that several nummeraanduidingen are: their ids are at these places of `rows`. */
  textOf(rows: DataView, start: number, ids: readonly number[]): string {
    const [from, to] = this.#withKey(rows, start, ids[0] as number);
    if (from === to) return '';
    return this.#joined(ids.flatMap((id) => this.#matching(rows, id, from, to).map((index) => this.#textAt(index))));
  }

  /** The lines with the key of a row. */
  #withKey(rows: DataView, start: number, id: number): [from: number, to: number] {
    while (this.#next < this.#starts.length && this.#order(this.#next, rows, start, id) < 0) this.#next++;
    let to = this.#next;
    while (to < this.#starts.length && this.#order(to, rows, start, id) === 0) to++;
    return [this.#next, to];
  }

  /** Whether a line comes before a row (less than 0), after it, or begins with the bytes of the row until `end`. */
  #order(index: number, rows: DataView, start: number, end: number): number {
    const lines = this.#lines;
    const at = this.#starts[index] as number;
    for (let i = 0; start + i < end; i++) {
      const difference = (lines[at + i] as number) - rows.getUint8(start + i);
      if (difference !== 0) return difference;
    }
    return 0;
  }

  #matching(rows: DataView, id: number, from: number, to: number): number[] {
    const found: number[] = [];
    for (let index = from; index < to; index++) {
      const at = (this.#tabs[index] as number) + fieldsAt.reference;
      let i = idLength - 1;
      while (i >= 0 && this.#lines[at + i] === rows.getUint8(id + i)) i--;
      if (i < 0) found.push(index);
    }
    return found;
  }

  /** Each object once, as the hoofdadres if one of its texts says so; in order of identificatie. */
  #joined(texts: readonly string[]): string {
    const byObject = new Map<string, string>();
    for (const text of texts) {
      const id = text.slice(0, idLength);
      if (!byObject.has(id) || isOfHoofdadres(text)) byObject.set(id, text);
    }
    const all = [...byObject.values()].sort();
    this.count += all.filter(isOfHoofdadres).length;
    return all.join(betweenObjects);
  }

  #textAt(index: number): string {
    const at = (this.#tabs[index] as number) + fieldsAt.text;
    return this.#lines.toString('latin1', at, this.#endOfText(at));
  }

  #endOfText(at: number): number {
    let end = at;
    while (end < this.#lines.length && this.#lines[end] !== tab && this.#lines[end] !== lineEnd) end++;
    return end;
  }

  #endOf(at: number): number {
    const end = this.#lines.indexOf(lineEnd, at);
    return end < 0 ? this.#lines.length : end;
  }
}

const roleOf = (line: string) => line.charAt(line.indexOf('\t') + fieldsAt.role);

function identificatieOf(line: string): string {
  const at = line.indexOf('\t') + fieldsAt.identificatie;
  return line.slice(at, at + idLength);
}

function missing(line: string, file: string): Problem {
  const detail = numOf(line.slice(line.indexOf('\t') + 1));
  return { kind: 'address_missing', file, identificatie: identificatieOf(line), detail };
}
