import { ExtractError } from '../extract-error.ts';
import type { Fields } from './interpret-stand.ts';
import { documentOf, namespaces, type ObjectKind } from './schema.ts';
import { SchemaParser } from './schema-parser.ts';

const required: Record<ObjectKind, string[]> = {
  NUM: ['identificatie', 'huisnummer', 'status', 'beginGeldigheid', 'OpenbareRuimteRef'],
  OPR: ['identificatie', 'naam', 'status', 'beginGeldigheid', 'WoonplaatsRef'],
  WPL: ['identificatie', 'naam', 'status', 'beginGeldigheid'],
};

const stand = 'sl:stand';
const objectType = 'sl:objectType';
const standTechnischeDatum = 'selecties-extract:StandTechnischeDatum';
const repeatable = new Set([stand, objectType]);
const prefixes = Object.keys(namespaces);

/**
 * The strict parser of a file of `kind` in an extract of `peildatum`, which defines what such a file means. Prefixes,
 * order, comments, CDATA and entities make no difference. It refuses an element that the schema does not have, a value
 * that occurs twice, and a file whose header has another date. Text may be written in pieces of any size; `onStand` is
 * called with each `sl:stand` when it closes.
 */
export class StandParser {
  readonly #kind: ObjectKind;
  readonly #file: string;
  readonly #peildatum: string;
  readonly #onStand: (fields: Fields) => void;
  readonly #parser: SchemaParser;
  readonly #seen = new Set<string>();
  readonly #seenInStand = new Set<string>();
  readonly #objectTypes: string[] = [];
  #fields: Fields = {};
  #inStand = false;

  constructor(kind: ObjectKind, file: string, peildatum: string, onStand: (fields: Fields) => void) {
    this.#kind = kind;
    this.#file = file;
    this.#peildatum = peildatum;
    this.#onStand = onStand;
    this.#parser = new SchemaParser(documentOf(kind), file, {
      onOpen: (name) => this.#onOpen(name),
      onText: (name, text) => this.#onText(name, text),
      onClose: (name) => {
        if (name === stand) this.#closeStand();
      },
    });
  }

  /** The next piece of the file. */
  write(text: string): void {
    this.#parser.write(text);
  }

  /** The end of the file. */
  close(): void {
    this.#parser.close();
    if (!this.#seen.has('sl:standBestand')) throw this.#parser.invalid('has no standBestand');
    if (!this.#seen.has(standTechnischeDatum)) throw this.#parser.invalid('has no StandTechnischeDatum');
    this.#checkObjectType();
  }

  /** Whether the text written so far ends exactly where an occurrence may begin: after `inhoud`, or after another one. */
  get betweenStands(): boolean {
    const closed = this.#parser.justClosed;
    return closed === stand || closed === 'sl:inhoud';
  }

  /** Whether Kadaster's own prefixes have their usual namespaces from here on. */
  get hasUsualPrefixes(): boolean {
    return this.#parser.hasUsualPrefixes(prefixes);
  }

  #onOpen(name: string): void {
    if (name === stand) {
      this.#checkObjectType();
      this.#inStand = true;
      this.#seenInStand.clear();
      this.#fields = {};
    }
    const seen = this.#inStand ? this.#seenInStand : this.#seen;
    if (seen.has(name) && !repeatable.has(name)) throw this.#parser.invalid(`a second ${name}`);
    seen.add(name);
  }

  #onText(name: string, text: string): void {
    if (this.#inStand) this.#fields[name.slice(name.indexOf(':') + 1)] = text;
    else if (name === standTechnischeDatum) this.#checkPeildatum(text.trim());
    else this.#objectTypes.push(text);
  }

  #closeStand(): void {
    this.#inStand = false;
    const missing = required[this.#kind].find((field) => this.#fields[field] === undefined);
    if (missing) throw this.#parser.invalid(`an occurrence without ${missing}`);
    this.#onStand(this.#fields);
  }

  #checkPeildatum(date: string): void {
    if (date === this.#peildatum) return;
    const problem = `is of ${date || 'no date'}, in an extract of ${this.#peildatum}; get the extract again`;
    throw new ExtractError('mixed_peildatums', this.#file, problem);
  }

  #checkObjectType(): void {
    if (this.#objectTypes.length === 1 && this.#objectTypes[0] === this.#kind) return;
    throw this.#parser.invalid(`holds objects of type ${this.#objectTypes.join(', ') || 'unknown'}, not ${this.#kind}`);
  }
}
