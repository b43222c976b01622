import { SaxesParser, type SaxesTagNS } from 'saxes';
import { ExtractError } from '../extract-error.ts';
import { type Content, mutationNamespaces, namespaces, unknownSchema } from './schema.ts';

/** Handles the elements of one kind of document; names have the prefixes of `namespaces`. */
export type SchemaHandler = {
  onOpen?(name: string): void;
  onText?(name: string, text: string): void;
  onClose?(name: string): void;
};

const uris: Record<string, string> = { ...namespaces, ...mutationNamespaces };
const prefixOf = new Map(Object.entries(uris).map(([prefix, uri]) => [uri, prefix]));
const blank = /^[ \t\r\n]*$/;

/**
 * Reads a document strictly: it must be well-formed UTF-8 XML without a DOCTYPE, and hold no element that `document`
 * does not allow where it stands. Prefixes, comments, CDATA and entities make no difference. Text may be written in
 * pieces of any size. Throws `ExtractError` with `file`, line and column.
 */
export class SchemaParser {
  readonly #file: string;
  readonly #handler: SchemaHandler;
  readonly #parser = new SaxesParser({ xmlns: true });
  readonly #open: Content[];
  #skipping = 0;
  #text = '';
  #written = 0;
  #closed = { name: '', position: -1 };

  constructor(document: Content, file: string, handler: SchemaHandler) {
    this.#file = file;
    this.#handler = handler;
    this.#open = [document];
    this.#parser.on('xmldecl', ({ encoding }) => {
      if (encoding && encoding.toUpperCase() !== 'UTF-8') throw this.invalid(`encoded in ${encoding}, not UTF-8`);
    });
    this.#parser.on('doctype', () => {
      throw this.invalid('has a DOCTYPE');
    });
    this.#parser.on('opentag', (tag) => this.#onOpen(tag));
    this.#parser.on('text', (text) => this.#onText(text));
    this.#parser.on('cdata', (text) => this.#onText(text));
    this.#parser.on('closetag', (tag) => this.#onClose(tag));
  }

  /** The next piece of the document. */
  write(text: string): void {
    this.#written += text.length;
    this.#guarded(() => this.#parser.write(text));
  }

  /** The end of the document. */
  close(): void {
    this.#guarded(() => this.#parser.close());
  }

  /** The element that ends exactly where the text written so far ends, if any. */
  get justClosed(): string | undefined {
    return this.#closed.position === this.#written ? this.#closed.name : undefined;
  }

  /** Whether these prefixes have, from here on, the same namespaces as in the files of Kadaster. */
  hasUsualPrefixes(prefixes: readonly string[]): boolean {
    return prefixes.every((prefix) => this.#parser.resolve(prefix) === uris[prefix]);
  }

  /** An error at the current position. */
  invalid(problem: string): ExtractError {
    const { line, column } = this.#parser;
    return new ExtractError(
      'invalid_xml',
      this.#file,
      `${line}:${column}: does not follow the BAG 2.0 schema: ${problem}`,
    );
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
    if (typeof content !== 'object' || !Object.hasOwn(content, name)) throw this.invalid(`unexpected element ${name}`);
    this.#open.push(content[name] as Content);
    this.#text = '';
    this.#handler.onOpen?.(name);
  }

  #onText(text: string): void {
    if (this.#open.at(-1) === 'text') this.#text += text;
    else if (typeof this.#open.at(-1) === 'object' && !blank.test(text)) throw this.invalid('text between elements');
  }

  #onClose(tag: SaxesTagNS): void {
    if (this.#skipping > 0) {
      this.#skipping--;
      return;
    }
    const content = this.#open.pop();
    const name = `${prefixOf.get(tag.uri)}:${tag.local}`;
    if (content === 'text') this.#handler.onText?.(name, this.#text);
    this.#handler.onClose?.(name);
    this.#closed = { name, position: this.#parser.position };
  }

  #guarded(parse: () => void): void {
    try {
      parse();
    } catch (cause) {
      if (cause instanceof ExtractError) throw cause;
      throw new ExtractError('invalid_xml', this.#file, `not well-formed XML, ${(cause as Error).message}`, { cause });
    }
  }
}
