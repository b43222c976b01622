import { SaxesParser, type SaxesTagNS } from 'saxes';
import { ExtractError } from '../extract-error.ts';
import { type Content, documentOf, mutationNamespaces, namespaces, type ObjectKind, unknownSchema } from './schema.ts';

/** The values of one occurrence by the local name of their element: `identificatie`, `beginGeldigheid`, `WoonplaatsRef`. */
export type Fields = Partial<Record<string, string>>;

const required: Record<ObjectKind, string[]> = {
  NUM: ['identificatie', 'huisnummer', 'status', 'beginGeldigheid', 'OpenbareRuimteRef'],
  OPR: ['identificatie', 'naam', 'status', 'beginGeldigheid', 'WoonplaatsRef'],
  WPL: ['identificatie', 'naam', 'status', 'beginGeldigheid'],
};

const repeatable = new Set(['sl:stand', 'sl:objectType']);
const prefixes = Object.keys(namespaces) as (keyof typeof namespaces)[];
const prefixOf = new Map<string, string>([
  ...prefixes.map((prefix): [string, string] => [namespaces[prefix], prefix]),
  [mutationNamespaces['selecties-extract'], 'selecties-extract'],
]);
const blank = /^[ \t\r\n]*$/;

/**
 * The strict parser of a file of `kind` in an extract of `peildatum`, which decides what such a file means: prefixes, order, comments, CDATA and
 * entities make no difference; an element that the schema does not have is refused, and so is a value that occurs twice.
 * A file whose header has another date is refused. Text may be written in any pieces; `onStand` is called with each `sl:stand` when it closes.
 */
export class StandParser {
  readonly #kind: ObjectKind;
  readonly #file: string;
  readonly #peildatum: string;
  readonly #onStand: (fields: Fields) => void;
  readonly #parser = new SaxesParser({ xmlns: true });
  readonly #open: Content[];
  readonly #seen = new Set<string>();
  readonly #seenInStand = new Set<string>();
  readonly #objectTypes: string[] = [];
  #skipping = 0;
  #text = '';
  #fields: Fields = {};
  #inStand = false;
  #written = 0;
  #boundary = -1;

  constructor(kind: ObjectKind, file: string, peildatum: string, onStand: (fields: Fields) => void) {
    this.#kind = kind;
    this.#file = file;
    this.#peildatum = peildatum;
    this.#onStand = onStand;
    this.#open = [documentOf(kind)];
    this.#parser.on('xmldecl', ({ encoding }) => {
      if (encoding && encoding.toUpperCase() !== 'UTF-8') throw this.#invalid(`encoded in ${encoding}, not UTF-8`);
    });
    this.#parser.on('doctype', () => {
      throw this.#invalid('has a DOCTYPE');
    });
    this.#parser.on('opentag', (tag) => this.#onOpen(tag));
    this.#parser.on('text', (text) => this.#onText(text));
    this.#parser.on('cdata', (text) => this.#onText(text));
    this.#parser.on('closetag', (tag) => this.#onClose(tag));
  }

  /** The next piece of the file. */
  write(text: string): void {
    this.#written += text.length;
    this.#guarded(() => this.#parser.write(text));
  }

  /** The end of the file. */
  close(): void {
    this.#guarded(() => this.#parser.close());
    if (!this.#seen.has('sl:standBestand')) throw this.#invalid('has no standBestand');
    if (!this.#seen.has('selecties-extract:StandTechnischeDatum')) throw this.#invalid('has no StandTechnischeDatum');
    this.#checkObjectType();
  }

  /** Whether the text written so far ends exactly where an occurrence may begin: after `inhoud`, or after another one. */
  get betweenStands(): boolean {
    return this.#boundary === this.#written;
  }

  /** Whether Kadaster's own prefixes have their usual namespaces from here on. */
  get hasUsualPrefixes(): boolean {
    return prefixes.every((prefix) => this.#parser.resolve(prefix) === namespaces[prefix]);
  }

  #onOpen(tag: SaxesTagNS): void {
    const content = this.#open.at(-1);
    if (this.#skipping > 0 || content === 'skipped') {
      this.#skipping++;
      return;
    }
    const prefix = prefixOf.get(tag.uri);
    const name = `${prefix}:${tag.local}`;
    if (prefix === undefined) throw unknownSchema(this.#file, `${tag.uri} (element ${tag.local})`);
    if (typeof content !== 'object' || !Object.hasOwn(content, name)) throw this.#invalid(`unexpected element ${name}`);
    if (name === 'sl:stand') this.#openStand();
    const seen = this.#inStand ? this.#seenInStand : this.#seen;
    if (seen.has(name) && !repeatable.has(name)) throw this.#invalid(`a second ${name}`);
    seen.add(name);
    this.#open.push(content[name] as Content);
    this.#text = '';
  }

  #onText(text: string): void {
    if (this.#open.at(-1) === 'text') this.#text += text;
    else if (typeof this.#open.at(-1) === 'object' && !blank.test(text)) throw this.#invalid('text between elements');
  }

  #onClose(tag: SaxesTagNS): void {
    if (this.#skipping > 0) {
      this.#skipping--;
      return;
    }
    const content = this.#open.pop();
    const inStandBestand = this.#open.length === 3;
    if (content === 'text' && this.#inStand) this.#fields[tag.local] = this.#text;
    else if (tag.local === 'StandTechnischeDatum') this.#checkPeildatum(this.#text.trim());
    else if (content === 'text') this.#objectTypes.push(this.#text);
    else if (inStandBestand && tag.local === 'stand') this.#closeStand();
    if (inStandBestand) this.#boundary = this.#parser.position;
  }

  #openStand(): void {
    this.#checkObjectType();
    this.#inStand = true;
    this.#seenInStand.clear();
    this.#fields = {};
  }

  #closeStand(): void {
    this.#inStand = false;
    const missing = required[this.#kind].find((field) => this.#fields[field] === undefined);
    if (missing) throw this.#invalid(`an occurrence without ${missing}`);
    this.#onStand(this.#fields);
  }

  #checkPeildatum(date: string): void {
    if (date === this.#peildatum) return;
    const problem = `is of ${date || 'no date'}, in an extract of ${this.#peildatum}; get the extract again`;
    throw new ExtractError('mixed_peildatums', this.#file, problem);
  }

  #checkObjectType(): void {
    if (this.#objectTypes.length === 1 && this.#objectTypes[0] === this.#kind) return;
    throw this.#invalid(`holds objects of type ${this.#objectTypes.join(', ') || 'unknown'}, not ${this.#kind}`);
  }

  #guarded(parse: () => void): void {
    try {
      parse();
    } catch (cause) {
      if (cause instanceof ExtractError) throw cause;
      throw new ExtractError('invalid_xml', this.#file, `not well-formed XML, ${(cause as Error).message}`, { cause });
    }
  }

  #invalid(problem: string): ExtractError {
    const { line, column } = this.#parser;
    return new ExtractError(
      'invalid_xml',
      this.#file,
      `${line}:${column}: not as the BAG 2.0 schema has it: ${problem}`,
    );
  }
}
