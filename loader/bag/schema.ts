/** The schema of BAG 2.0, as far as files in it are read, and the strict parser of such files. */

import { SaxesParser, type SaxesTagNS } from 'saxes';
import { ExtractError } from '../load-error.ts';
import {
  type Content,
  contentOfKind,
  elementOfKind,
  isObjectenKind,
  kindOfElement,
  type StandKind,
} from './elements.ts';

/** The version of the BAG 2.0 schema that this program reads, as in its namespaces. */
export const schemaVersion = 'v20200601';

const imbag = 'www.kadaster.nl/schemas/lvbag/imbag';

/**
 * Kadaster's prefixes, which this program uses for these namespaces whatever prefixes a file has.
 */
export const namespaces = {
  'sl-bag-extract': `http://www.kadaster.nl/schemas/lvbag/extract-deelbestand-lvc/${schemaVersion}`,
  sl: 'http://www.kadaster.nl/schemas/standlevering-generiek/1.0',
  Objecten: `${imbag}/objecten/${schemaVersion}`,
  'Objecten-ref': `${imbag}/objecten-ref/${schemaVersion}`,
  Historie: `${imbag}/historie/${schemaVersion}`,
} as const;

/** The further prefixes of a file of mutations. */
export const mutationNamespaces = {
  mlm: `http://www.kadaster.nl/schemas/lvbag/extract-deelbestand-mutaties-lvc/${schemaVersion}`,
  ml: 'http://www.kadaster.nl/schemas/mutatielevering-generiek/1.0',
  'selecties-extract': `http://www.kadaster.nl/schemas/lvbag/extract-selecties/${schemaVersion}`,
} as const;

/** The further prefixes of a file of relations between gemeenten and woonplaatsen. */
export const relatieNamespaces = {
  'gwr-bestand': `www.kadaster.nl/schemas/lvbag/gem-wpl-rel/gwr-deelbestand-lvc/${schemaVersion}`,
  'gwr-product': `www.kadaster.nl/schemas/lvbag/gem-wpl-rel/gwr-producten-lvc/${schemaVersion}`,
  bagtypes: `www.kadaster.nl/schemas/lvbag/gem-wpl-rel/bag-types/${schemaVersion}`,
} as const;

/** The prefix of geometries; a file without them need not have it. */
const geometryNamespace = { gml: 'http://www.opengis.net/gml/3.2' };

/**
 * The elements of a file of `kind`, as far as they are read:
 * `BagvsExtractDeelbestandExtractLvc-2.1.0.xsd`.
 */
export function documentOf(kind: StandKind): Content {
  return {
    'sl-bag-extract:bagStand': {
      'sl-bag-extract:bagInfo': {
        'selecties-extract:Gebied-Registratief': 'skipped',
        'selecties-extract:LVC-Extract': { 'selecties-extract:StandTechnischeDatum': 'text' },
      },
      'sl:standBestand': {
        'sl:dataset': 'skipped',
        'sl:inhoud': {
          'sl:gebied': 'skipped',
          'sl:leveringsId': 'skipped',
          'sl:objectTypen': { 'sl:objectType': 'text' },
        },
        'sl:stand': {
          'sl-bag-extract:bagObject': { [elementOfKind[kind]]: contentOfKind[kind] },
          'sl-bag-extract:kenmerkInOnderzoek': 'skipped',
        },
      },
    },
  };
}

const toestand = (objecten: boolean): Content => ({
  'mlm:bagObject': {
    ...Object.fromEntries(
      Object.entries(kindOfElement).map(([name, kind]) => [
        name,
        objecten || !isObjectenKind(kind) ? contentOfKind[kind] : 'skipped',
      ]),
    ),
    'Objecten:Pand': 'skipped',
  },
  'mlm:kenmerkInOnderzoek': 'skipped',
});

/**
 * The elements of a file of mutations, as far as they are read:
 * `BagvsExtractDeelbestandMutatieLvc-2.1.0.xsd`.
 */
export const mutationDocument = (objecten: boolean): Content => ({
  'mlm:bagMutaties': {
    'mlm:bagInfo': {
      'selecties-extract:Gebied-Registratief': {
        'selecties-extract:Gebied-NLD': 'skipped',
        'selecties-extract:Gebied-GEM': {
          'selecties-extract:GemeenteCollectie': {
            'selecties-extract:Gemeente': {
              'selecties-extract:GemeenteIdentificatie': 'text',
              'selecties-extract:GemeenteNaam': 'skipped',
            },
          },
        },
      },
      'selecties-extract:MUT-Extract': {
        'selecties-extract:StandTechnischeDatum': 'text',
        'selecties-extract:Mutatieperiode': {
          'selecties-extract:MutatiedatumVanaf': 'text',
          'selecties-extract:MutatiedatumTot': 'text',
        },
      },
    },
    'ml:mutatieBericht': {
      'ml:dataset': 'skipped',
      'ml:inhoud': 'skipped',
      'ml:mutatieGroep': {
        'ml:toevoeging': { 'ml:wordt': toestand(objecten) },
        'ml:wijziging': { 'ml:was': toestand(objecten), 'ml:wordt': toestand(objecten) },
        'ml:verwijdering': { 'ml:was': toestand(objecten) },
      },
    },
  },
});

/** The elements of a file of relations, which are all read: `BagvsGwrDeelbestandLvc-2.1.0.xsd`. */
export const relatieDocument: Content = {
  'gwr-bestand:BAG-GWR-Deelbestand-LVC': {
    'gwr-bestand:SelectieGegevens': {
      'selecties-extract:StandTechnischeDatum': 'text',
      'selecties-extract:StandPeildatum': 'skipped',
    },
    'gwr-bestand:Product': {
      'gwr-product:GemeenteWoonplaatsRelatieProduct': {
        'gwr-product:GemeenteWoonplaatsRelatie': {
          'gwr-product:tijdvakgeldigheid': {
            'bagtypes:begindatumTijdvakGeldigheid': 'text',
            'bagtypes:einddatumTijdvakGeldigheid': 'text',
          },
          'gwr-product:gerelateerdeWoonplaats': { 'gwr-product:identificatie': 'text' },
          'gwr-product:gerelateerdeGemeente': { 'gwr-product:identificatie': 'text' },
          'gwr-product:status': 'text',
        },
      },
    },
  },
};

export function unknownSchema(file: string, schema: string): ExtractError {
  const problem = `in schema '${schema}', not in version ${schemaVersion} of BAG 2.0, the only supported one`;
  return new ExtractError(
    'unknown_schema',
    file,
    `${problem}; get the current extract, or update this program`,
  );
}

/** Handles the elements of one kind of document; names have the prefixes of `namespaces`. */
type SchemaHandler = {
  onOpen?(name: string): void;
  /**
   * Also with XML, which has the usual prefixes, but only with the attributes that define
   * coordinates.
   */
  onText?(name: string, text: string, parent: string): void;
  onClose?(name: string): void;
};

const uris: Record<string, string> = {
  ...namespaces,
  ...mutationNamespaces,
  ...relatieNamespaces,
  ...geometryNamespace,
};
const prefixOf = new Map(Object.entries(uris).map(([prefix, uri]) => [uri, prefix]));
const blank = /^[ \t\r\n]*$/;

function nameOf({ uri, local }: SaxesTagNS): string {
  return `${prefixOf.get(uri)}:${local}`;
}

function attributesOf({ attributes }: SaxesTagNS): string {
  return ['srsName', 'srsDimension']
    .flatMap((name) => (attributes[name] ? ` ${name}="${escapeXml(attributes[name].value)}"` : []))
    .join('');
}

function escapeXml(text: string): string {
  return text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
}

/**
 * Reads a document strictly: it must be well-formed UTF-8 XML without a DOCTYPE, and hold only
 * elements that `document` allows in their place. Prefixes, comments, CDATA and entities make no
 * difference. The document may come in pieces of any size, which may end within a character.
 * @throws ExtractError with `file`, line and column
 */
export class SchemaParser {
  readonly #file: string;
  readonly #handler: SchemaHandler;
  readonly #parser = new SaxesParser({ xmlns: true });
  readonly #decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  readonly #open: Content[];
  readonly #names: string[] = [];
  #skipping = 0;
  #text = '';
  #written = 0;
  #closed = { name: '', position: -1 };

  constructor(document: Content, file: string, handler: SchemaHandler) {
    this.#file = file;
    this.#handler = handler;
    this.#open = [document];
    this.#parser.on('xmldecl', ({ encoding }) => {
      if (encoding && encoding.toUpperCase() !== 'UTF-8') {
        throw this.#unread(`encoded in ${encoding}, and only UTF-8 is read`);
      }
    });
    this.#parser.on('doctype', () => {
      throw this.#unread('has a DOCTYPE, which no file of the BAG has');
    });
    this.#parser.on('opentag', (tag) => this.#onOpen(tag));
    this.#parser.on('text', (text) => this.#onText(text));
    this.#parser.on('cdata', (text) => this.#onText(text));
    this.#parser.on('closetag', (tag) => this.#onClose(tag));
  }

  write(piece: Uint8Array): void {
    this.#write(this.#decoded(piece));
  }

  close(): void {
    this.#write(this.#decoded());
    this.#guarded(() => this.#parser.close());
  }

  /** The element that ends exactly at the end of the text written so far, if any. */
  get justClosed(): string | undefined {
    return this.#closed.position === this.#written ? this.#closed.name : undefined;
  }

  /** Whether these prefixes have, from here on, the same namespaces as in the files of Kadaster. */
  hasUsualPrefixes(prefixes: readonly string[]): boolean {
    return prefixes.every((prefix) => this.#parser.resolve(prefix) === uris[prefix]);
  }

  invalid(problem: string): ExtractError {
    return this.#unread(`does not follow the BAG 2.0 schema: ${problem}`);
  }

  #unread(problem: string): ExtractError {
    const { line, column } = this.#parser;
    return new ExtractError('invalid_xml', this.#file, `${line}:${column}: ${problem}`);
  }

  #unexpected(name: string): ExtractError {
    const parent = this.#names.at(-1);
    return this.invalid(
      parent
        ? `${parent} has no element ${name}`
        : `${name} is not the root element of such a file`,
    );
  }

  #onOpen(tag: SaxesTagNS): void {
    const content = this.#open.at(-1);
    if (content === 'skipped' || content === 'xml') {
      this.#skipping++;
      if (content === 'xml') this.#text += `<${nameOf(tag)}${attributesOf(tag)}>`;
      return;
    }
    const prefix = prefixOf.get(tag.uri);
    const name = nameOf(tag);
    if (prefix === undefined) throw unknownSchema(this.#file, `${tag.uri} (element ${tag.local})`);
    if (typeof content !== 'object' || !Object.hasOwn(content, name)) throw this.#unexpected(name);
    this.#open.push(content[name] as Content);
    this.#names.push(name);
    this.#text = '';
    this.#handler.onOpen?.(name);
  }

  #onText(text: string): void {
    const content = this.#open.at(-1);
    if (content === 'text') this.#text += text;
    else if (content === 'xml') this.#text += escapeXml(text);
    else if (typeof content === 'object' && !blank.test(text)) {
      throw this.invalid('text between elements');
    }
  }

  #onClose(tag: SaxesTagNS): void {
    if (this.#skipping > 0) {
      this.#skipping--;
      if (this.#open.at(-1) === 'xml') this.#text += `</${nameOf(tag)}>`;
      return;
    }
    const content = this.#open.pop();
    const name = this.#names.pop() as string;
    const parent = this.#names.at(-1) ?? '';
    if (content === 'text' || content === 'xml') this.#handler.onText?.(name, this.#text, parent);
    this.#handler.onClose?.(name);
    this.#closed = { name, position: this.#parser.position };
  }

  #write(text: string): void {
    this.#written += text.length;
    this.#guarded(() => this.#parser.write(text));
  }

  /** The text of a piece; without a piece, at the end, the rest. */
  #decoded(piece?: Uint8Array): string {
    try {
      return piece ? this.#decoder.decode(piece, { stream: true }) : this.#decoder.decode();
    } catch (cause) {
      throw new ExtractError('invalid_xml', this.#file, 'not UTF-8; get the extract again', {
        cause,
      });
    }
  }

  #guarded(parse: () => void): void {
    try {
      parse();
    } catch (cause) {
      if (cause instanceof ExtractError) throw cause;
      throw new ExtractError(
        'invalid_xml',
        this.#file,
        `not well-formed XML, ${(cause as Error).message}`,
        { cause },
      );
    }
  }
}
